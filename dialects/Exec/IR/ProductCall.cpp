// Products of matrices, a kind of library call: the fields of `#exec.call<product ..>`,
// and their verification.

#include "dialects/Exec/IR/CallSyntax.h"
#include "dialects/Interfaces/ElementTypes.h"
#include "dialects/NN/IR/Contraction.h"
#include "dpc/calls.h"
#include "dpc/product.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

namespace {
class ProductSyntax : public CallSyntax {
public:
  uint32_t getNumber() const override { return DPC_CALL_PRODUCT; }
  StringRef getName() const override { return "product"; }
  size_t getBytes() const override { return sizeof(dpc_product_t); }

  void visit(CallFields &fields, std::string &description) const override {
    auto product = readCall<dpc_product_t>(description);
    auto matrix = [&](StringRef name, dpc_matrix_t &matrix) {
      fields.group(name, [&] {
        fields.number("stride", matrix.stride);
        fields.number("batchStride", matrix.batch_stride);
        fields.flag("transposed", matrix.transposed);
      });
    };
    fields.type("type", product.dtype);
    fields.type("result", product.result_dtype);
    fields.flag("tf32", product.tf32);
    fields.word("epilogue", product.epilogue, {"none", "add", "bias"});
    fields.number("batches", product.batches);
    fields.number("rows", product.rows);
    fields.number("columns", product.columns);
    fields.number("depth", product.depth);
    matrix("a", product.a);
    matrix("b", product.b);
    matrix("d", product.d);
    description = bytesOfCall(product);
  }

  unsigned countBuffers(StringRef description) const override {
    const auto product = readCall<dpc_product_t>(description);
    return dpc_product_buffer_count(&product);
  }

  LogicalResult verify(function_ref<InFlightDiagnostic()> emitError,
                       StringRef description) const override {
    const auto product = readCall<dpc_product_t>(description);
    if (!dpc_product_has_type(&product)) {
      InFlightDiagnostic error = emitError();
      MLIRContext *context = error.getUnderlyingDiagnostic()->getLocation().getContext();
      error << "a product of ";
      if (Type type = elementTypeOf(product.dtype, context))
        error << type;
      return error << (product.tf32 ? " in tf32" : "") << " is none of a library";
    }
    if (!dpc_product_has_result_type(&product)) {
      InFlightDiagnostic error = emitError();
      MLIRContext *context = error.getUnderlyingDiagnostic()->getLocation().getContext();
      error << "a product of " << elementTypeOf(product.dtype, context);
      if (Type type = elementTypeOf(product.result_dtype, context))
        return error << " has no result of " << type;
      return error << " has no result of this type";
    }
    if (!dpc_product_is_valid(&product))
      return emitError() << "a product has " << product.batches << " batches of " << product.rows
                         << " x " << product.columns << " sums of " << product.depth;
    for (uint32_t buffer = 0; buffer < dpc_product_buffer_count(&product); ++buffer)
      if (dpc_product_buffer_bytes(&product, buffer) == UINT64_MAX) {
        const dpc_product_part_t part = dpc_product_part(&product, buffer);
        return emitError() << "a matrix of " << part.rows << " x " << part.columns
                           << " has a stride of " << part.matrix.stride;
      }
    return success();
  }

  StringRef getTitle() const override { return "products of matrices"; }
  StringRef getLibrary() const override { return "cuBLASLt"; }
  bool computes(Operation *op) const override { return isa<nn::DotOp>(op); }
};
} // namespace

const CallSyntax &dpc::exec::productSyntax() {
  static const ProductSyntax syntax;
  return syntax;
}
