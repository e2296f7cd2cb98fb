#include "passes/Bucketing/GradientNorms.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Expressions.h"

using namespace mlir;
using namespace dpc;
using nn::KernelOp;

/// Where `use` takes its value by an addition or a sum over ranks, or just into
/// or out of a kernel; null if it does something else.
static Value followSum(OpOperand &use, SmallVectorImpl<Attribute> &axes) {
  Operation *user = use.getOwner();
  if (auto kernel = dyn_cast<KernelOp>(user))
    return kernel.getBodyBlock().getArgument(use.getOperandNumber());
  if (isa<nn::YieldOp>(user) && isa<KernelOp>(user->getParentOp()))
    return user->getParentOp()->getResult(use.getOperandNumber());
  if (auto sum = dyn_cast<dist::AllReduceOp>(user)) {
    if (sum.getReduction() != dist::ReductionKind::sum)
      return nullptr;
    axes.push_back(sum.getAxes());
    return sum.getResult();
  }
  return isa<nn::AddOp>(user) ? user->getResult(0) : Value();
}

SquareSum dpc::matchSquareSum(Operation *user, Value tensor) {
  auto kernel = dyn_cast<KernelOp>(user);
  if (!kernel || kernel->getNumOperands() != 1 || kernel->getNumResults() != 1)
    return {};
  BlockArgument input = kernel.getBodyBlock().getArgument(0);
  Value result = kernel.getBodyBlock().getTerminator()->getOperand(0);
  auto reduce = result.getDefiningOp<nn::ReduceOp>();
  if (!reduce || reduce.getKind() != nn::ReduceKind::sum ||
      nn::typeOf(result).getRank() != 0 || !kernel.getResult(0).hasOneUse())
    return {};
  auto square = reduce.getInput().getDefiningOp<nn::MulOp>();
  if (!square || square.getLhs() != input || square.getRhs() != input)
    return {};
  SquareSum sum;
  sum.kernel = kernel;
  sum.total = kernel.getResult(0);
  while (sum.total.hasOneUse()) {
    Value next = followSum(*sum.total.use_begin(), sum.axes);
    if (!next)
      break;
    sum.total = next;
  }
  return sum;
}

/// A kernel of one rank-0 result.
static Value
buildKernel(OpBuilder &builder, Location loc, ValueRange inputs, Type result,
            llvm::function_ref<Value(nn::Expressions, ValueRange)> body) {
  auto kernel = builder.create<KernelOp>(loc, TypeRange{result}, inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&kernel.getBody(), {}, inputs.getTypes(),
                                     SmallVector<Location>(inputs.size(), loc));
  Value value = body(nn::Expressions{builder, loc}, block->getArguments());
  builder.create<nn::YieldOp>(loc, value);
  return kernel.getResult(0);
}

static Type scalarOf(Value tensor) {
  return RankedTensorType::get({}, getElementTypeOrSelf(tensor.getType()));
}

Value dpc::buildSquareSum(OpBuilder &builder, Location loc, Value tensor) {
  return buildKernel(builder, loc, tensor, scalarOf(tensor),
                     [&](nn::Expressions e, ValueRange arguments) {
                       Value x = arguments.front();
                       return e.sum(e.mul(x, x),
                                    llvm::to_vector(llvm::seq<int64_t>(
                                        0, nn::typeOf(x).getRank())));
                     });
}

Value dpc::buildScalarSum(OpBuilder &builder, Location loc, ValueRange terms) {
  if (terms.size() == 1)
    return terms.front();
  return buildKernel(builder, loc, terms, terms.front().getType(),
                     [](nn::Expressions e, ValueRange arguments) {
                       Value sum = arguments.front();
                       for (Value term : arguments.drop_front())
                         sum = e.add(sum, term);
                       return sum;
                     });
}

Value dpc::buildZero(OpBuilder &builder, Location loc, Type type) {
  return buildKernel(
      builder, loc, {}, type,
      [&](nn::Expressions e, ValueRange) { return e.splat(type, 0); });
}
