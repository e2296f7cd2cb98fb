#include "dialects/NN/IR/SumTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

Type dpc::nn::accumulatorType(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  if (floatType && floatType.getWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

bool dpc::nn::holdsSums(Type sum, Type factor) {
  auto wide = dyn_cast<FloatType>(sum), narrow = dyn_cast<FloatType>(factor);
  return sum == factor || (wide && narrow && wide.getWidth() > narrow.getWidth());
}

bool dpc::nn::areCompatibleSums(TypeRange inferred, TypeRange results) {
  return llvm::equal(inferred, results, [](Type expected, Type result) {
    auto from = cast<RankedTensorType>(expected), to = dyn_cast<RankedTensorType>(result);
    return to && to.getShape() == from.getShape() &&
           holdsSums(to.getElementType(), from.getElementType());
  });
}
