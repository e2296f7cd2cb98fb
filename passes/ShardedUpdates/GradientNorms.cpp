// Finds the sums of squares from which a norm, e.g. the norm of all gradients, is computed.

#include "passes/ShardedUpdates/GradientNorms.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/Expressions.h"

using namespace mlir;
using namespace dpc;

/// Returns the result of the op that owns `use`, if this op is an addition or a sum over ranks.
/// Null for other ops. Appends the axes of a sum over ranks to `axes`.
static Value followSum(OpOperand &use, SmallVectorImpl<Attribute> &axes) {
  Operation *user = use.getOwner();
  if (dist::CollectiveOpInterface sum = dist::asSumOverRanks(user)) {
    axes.push_back(sum.getAxes());
    return sum->getResult(0);
  }
  return isa<nn::AddOp>(user) ? user->getResult(0) : Value();
}

void SquareSum::erase() const {
  sum->erase();
  square->erase();
  if (reader != square)
    reader->erase();
}

SquareSum dpc::matchSquareSum(Operation *user, Value tensor) {
  Operation *const reader = user;
  if (nn::isConversion(user)) {
    tensor = user->getResult(0);
    if (tensor.use_empty())
      return {};
    user = *tensor.user_begin();
    if (llvm::any_of(tensor.getUsers(), [&](Operation *other) { return other != user; }))
      return {};
  }
  auto square = dyn_cast<nn::MulOp>(user);
  if (!square || square.getLhs() != tensor || square.getRhs() != tensor || !square->hasOneUse())
    return {};
  auto reduce = dyn_cast<nn::ReduceOp>(*square->user_begin());
  if (!reduce || reduce.getKind() != nn::ReduceKind::sum ||
      nn::typeOf(reduce.getResult()).getRank() != 0 || !reduce->hasOneUse())
    return {};
  SquareSum sum;
  sum.square = square;
  sum.reader = reader;
  sum.sum = reduce;
  sum.total = reduce.getResult();
  while (sum.total.hasOneUse()) {
    Value next = followSum(*sum.total.use_begin(), sum.axes);
    if (!next)
      break;
    sum.total = next;
  }
  return sum;
}

Value dpc::buildSquareSum(OpBuilder &builder, Location loc, Value tensor, Type element) {
  nn::Expressions e{builder, loc};
  tensor = e.convert(tensor, element);
  return e.sum(e.mul(tensor, tensor),
               llvm::to_vector(llvm::seq<int64_t>(0, nn::typeOf(tensor).getRank())));
}
