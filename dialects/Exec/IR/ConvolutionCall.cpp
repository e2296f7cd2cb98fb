// Convolutions, a kind of library call: the fields of `#exec.call<convolution ..>`, and their
// verification.

#include "dialects/Exec/IR/CallSyntax.h"
#include "dialects/Interfaces/ElementTypes.h"
#include "dialects/NN/IR/Convolution.h"
#include "dpc/calls.h"
#include "dpc/convolution.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

static const StringRef kTensorNames[] = {"x", "w", "y"};

/// The extents of a tensor as in MLIR's types: 8x3x32x32.
static std::string shapeOf(const dpc_convolution_t &convolution, uint32_t buffer) {
  ArrayRef<uint64_t> extents(dpc_convolution_tensor(&convolution, buffer)->extents,
                             convolution.spatial + 2);
  return llvm::join(llvm::map_range(extents, [](uint64_t extent) { return llvm::utostr(extent); }),
                    "x");
}

namespace {
class ConvolutionSyntax : public CallSyntax {
public:
  uint32_t getNumber() const override { return DPC_CALL_CONVOLUTION; }
  StringRef getName() const override { return "convolution"; }
  size_t getBytes() const override { return sizeof(dpc_convolution_t); }

  void visit(CallFields &fields, std::string &description) const override {
    auto convolution = readCall<dpc_convolution_t>(description);
    fields.word("result", convolution.result, kTensorNames);
    fields.type("type", convolution.dtype);
    fields.flag("tf32", convolution.tf32);
    // The other fields have as many numbers, so they cannot have more than their arrays hold.
    uint64_t spatial = convolution.spatial;
    fields.number("spatial", spatial);
    convolution.spatial =
        static_cast<uint32_t>(std::min<uint64_t>(spatial, DPC_CONVOLUTION_MOST_SPATIAL + 1));
    const size_t dimensions = std::min<size_t>(spatial, DPC_CONVOLUTION_MOST_SPATIAL);
    auto numbers = [&](StringRef name, uint64_t *values, size_t count) {
      fields.numbers(name, MutableArrayRef<uint64_t>(values, count));
    };
    fields.number("groups", convolution.groups);
    numbers("strides", convolution.strides, dimensions);
    numbers("dilations", convolution.dilations, dimensions);
    numbers("padLow", convolution.pad_low, dimensions);
    numbers("padHigh", convolution.pad_high, dimensions);
    auto tensor = [&](StringRef name, dpc_convolution_tensor_t &tensor) {
      fields.group(name, [&] {
        numbers("extents", tensor.extents, dimensions + 2);
        numbers("strides", tensor.strides, dimensions + 2);
      });
    };
    tensor("x", convolution.x);
    tensor("w", convolution.w);
    tensor("y", convolution.y);
    description = bytesOfCall(convolution);
  }

  unsigned countBuffers(StringRef) const override { return DPC_CONVOLUTION_BUFFERS; }

  LogicalResult verify(function_ref<InFlightDiagnostic()> emitError,
                       StringRef description) const override {
    const auto convolution = readCall<dpc_convolution_t>(description);
    if (!dpc_convolution_has_type(&convolution)) {
      InFlightDiagnostic error = emitError();
      MLIRContext *context = error.getUnderlyingDiagnostic()->getLocation().getContext();
      error << "a convolution of ";
      if (Type type = elementTypeOf(convolution.dtype, context))
        error << type;
      return error << (convolution.tf32 ? " in tf32" : "") << " is none of a library";
    }
    if (convolution.spatial < 2 || convolution.spatial > DPC_CONVOLUTION_MOST_SPATIAL)
      return emitError() << "a convolution has " << convolution.spatial
                         << " spatial dimensions, not 2 or 3";
    if (!dpc_convolution_is_valid(&convolution))
      return emitError() << "a convolution of " << shapeOf(convolution, DPC_CONVOLUTION_X) << " by "
                         << shapeOf(convolution, DPC_CONVOLUTION_W) << " with "
                         << convolution.groups << " groups does not give "
                         << shapeOf(convolution, DPC_CONVOLUTION_Y);
    for (uint32_t buffer = 0; buffer < DPC_CONVOLUTION_WORKSPACE; ++buffer)
      if (dpc_convolution_buffer_bytes(&convolution, buffer) == UINT64_MAX)
        return emitError() << "elements of the convolution's tensor " << kTensorNames[buffer]
                           << " of " << shapeOf(convolution, buffer)
                           << " have one place, or are too far apart";
    return success();
  }

  StringRef getTitle() const override { return "convolutions"; }
  StringRef getLibrary() const override { return "cuDNN"; }
  bool computes(Operation *op) const override {
    return isa<nn::ConvOp, nn::ConvInputGradOp, nn::ConvWeightGradOp>(op);
  }
};
} // namespace

const CallSyntax &dpc::exec::convolutionSyntax() {
  static const ConvolutionSyntax syntax;
  return syntax;
}
