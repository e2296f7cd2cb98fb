// Registers the `nn` dialect and its attributes, and verifies the attributes of
// arguments and results.

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dpc::nn;

#include "dialects/NN/IR/NNEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/NN/IR/NNAttrs.cpp.inc"

#include "dialects/NN/IR/NNDialect.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/NN/IR/NNAttrs.cpp.inc"
      >();
  registerAttentionOps();
  registerContractionOps();
  registerConvolutionOps();
  registerElementwiseOps();
  registerIndexingOps();
  registerLossOps();
  registerNormalizationOps();
  registerPoolingOps();
  registerProgramOps();
  registerRandomOps();
  registerReductionOps();
  registerSegmentsOps();
  registerShapeOps();
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                          Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, type, elements);
}

LogicalResult NNDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                  NamedAttribute attr) {
  if (attr.getName() == kBoundsAttrName) {
    if (succeeded(boundsFrom(attr.getValue())))
      return success();
    return op->emitError("argument ")
           << index << " has " << attr.getName() << " " << attr.getValue()
           << ", which is not [low, high], [low, high, ignored] or a list of "
              "runs [count, low, high, ..]";
  }
  if (attr.getName() != kArgAttrName)
    return op->emitError("argument ") << index << " has the unknown attribute " << attr.getName();
  if (!isa<ArgAttr>(attr.getValue()))
    return op->emitError("argument ")
           << index << " has " << attr.getName() << " that is not #nn.arg";
  return success();
}

LogicalResult NNDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attr) {
  if (attr.getName() == kBatchDimAttrName) {
    auto dim = dyn_cast<IntegerAttr>(attr.getValue());
    auto type = dyn_cast<RankedTensorType>(cast<FunctionOpInterface>(op).getResultTypes()[index]);
    if (dim && type && dim.getInt() >= 0 && dim.getInt() < type.getRank())
      return success();
    return op->emitError("result ") << index << " has " << attr.getName() << " " << attr.getValue()
                                    << ", which is no dimension of it";
  }
  if (attr.getName() == kMeanAttrName) {
    if (succeeded(meanFrom(attr.getValue())))
      return success();
    return op->emitError("result ") << index << " has " << attr.getName() << " " << attr.getValue()
                                    << ", which is not geometric, samples or batches";
  }
  if (attr.getName() != kResultAttrName)
    return op->emitError("result ") << index << " has the unknown attribute " << attr.getName();
  if (!isa<ResultAttr>(attr.getValue()))
    return op->emitError("result ")
           << index << " has " << attr.getName() << " that is not #nn.result";
  return success();
}

bool dpc::nn::isState(ArgKind kind) {
  switch (kind) {
  case ArgKind::parameter:
  case ArgKind::buffer:
  case ArgKind::constant:
  case ArgKind::optimizer:
    return true;
  case ArgKind::input:
  case ArgKind::label:
  case ArgKind::control:
    return false;
  }
  return false;
}

ArgAttr dpc::nn::getArg(FunctionOpInterface function, unsigned index) {
  return function.getArgAttrOfType<ArgAttr>(index, NNDialect::kArgAttrName);
}

ResultAttr dpc::nn::getResult(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<ResultAttr>(index, NNDialect::kResultAttrName);
}

LogicalResult dpc::nn::verifyIncreasing(Operation *op, ArrayRef<int64_t> dimensions, int64_t rank,
                                        StringRef what) {
  int64_t previous = -1;
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank)
      return op->emitOpError("has dimension ")
             << dimension << " in its " << what << ", but rank " << rank;
    if (dimension <= previous)
      return op->emitOpError("has ")
             << what << " that are not increasing: " << dimension << " after " << previous;
    previous = dimension;
  }
  return success();
}
