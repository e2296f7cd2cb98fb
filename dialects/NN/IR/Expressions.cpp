// Builds nn ops. Does not build reshapes, transposes and broadcasts that would
// change nothing.

#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace dpc::nn;

Value Expressions::convert(Value x, Type elementType) {
  RankedTensorType type = typeOf(x);
  if (type.getElementType() == elementType)
    return x;
  return make<ConvertOp>(RankedTensorType::get(type.getShape(), elementType), x);
}

Value Expressions::reshape(Value x, ArrayRef<int64_t> shape) {
  return typeOf(x).getShape() == shape ? x : make<ReshapeOp>(x, shape);
}

Value Expressions::transpose(Value x, ArrayRef<int64_t> permutation) {
  // If only dimensions of extent 1 move, the elements keep their order, and a
  // reshape is enough.
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  SmallVector<int64_t> permuted, moved;
  for (int64_t dimension : permutation) {
    permuted.push_back(shape[dimension]);
    if (shape[dimension] != 1)
      moved.push_back(dimension);
  }
  if (llvm::is_sorted(moved))
    return reshape(x, permuted);
  return make<TransposeOp>(x, permutation);
}

Value Expressions::broadcast(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions) {
  if (typeOf(x).getShape() == shape)
    return x;
  return make<BroadcastOp>(withShape(typeOf(x), shape), x, dimensions);
}

Value Expressions::broadcastAlong(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> missing) {
  SmallVector<int64_t> kept;
  for (int64_t dimension : llvm::seq<int64_t>(0, shape.size()))
    if (!llvm::is_contained(missing, dimension))
      kept.push_back(dimension);
  return broadcast(x, shape, kept);
}

Value Expressions::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> dimensions, bool first) {
  return dimensions.empty() ? x : make<ReduceOp>(kind, x, dimensions, first);
}

Value Expressions::dot(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                       ArrayRef<int64_t> lhsContract, ArrayRef<int64_t> rhsContract,
                       Type elementType) {
  auto product = make<DotOp>(lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract);
  if (elementType)
    product.getResult().setType(RankedTensorType::get(typeOf(product).getShape(), elementType));
  return product;
}
