// The constraints of nn.batch_norm, its training form over groups of samples, its
// evaluation form, and its interpreter rule.

#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Normalization.h"
#include "planning/KernelClass.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

LogicalResult BatchNormOp::verify() {
  RankedTensorType type = typeOf(getInput());
  if (type.getRank() < 2 || type.getNumElements() == 0) // batch_norm_c1
    return emitOpError("has an input of type ") << type << ", which lacks samples or channels";
  auto expected = RankedTensorType::get({type.getDimSize(1)}, type.getElementType());
  if (typeOf(getScale()) != expected) // batch_norm_c2
    return emitOpError("has channel values of type ")
           << getScale().getType() << " where " << expected << " is needed";
  double epsilon = getEpsilon().convertToDouble(), momentum = getMomentum().convertToDouble();
  if (!(epsilon >= 0)) // batch_norm_c3
    return emitOpError("has epsilon ") << epsilon << ", which is not a number >= 0";
  if (!(momentum >= 0 && momentum <= 1)) // batch_norm_c3
    return emitOpError("has momentum ") << momentum << ", which is not in [0, 1]";
  return success();
}

KernelClass BatchNormOp::getKernelClass() { return KernelClass::normalization; }
int64_t BatchNormOp::getFlops() { return 9 * typeOf(getInput()).getNumElements(); }

/// The factor that turns a population variance over `count` values into the variance
/// with which the running variance is updated: count / (count - 1) if `unbiased`, else 1.
static double runningVarianceFactor(bool unbiased, int64_t count) {
  return unbiased ? double(count) / std::max<int64_t>(count - 1, 1) : 1.0;
}

/// The dimensions of a tensor of rank `rank`, without those in `kept`.
static SmallVector<int64_t> allBut(int64_t rank, ArrayRef<int64_t> kept) {
  SmallVector<int64_t> dimensions;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(kept, d))
      dimensions.push_back(d);
  return dimensions;
}

//===-- Uses of one module ------------------------------------------------===//

/// If a model uses one PyTorch module several times, each use is an op that reads the
/// running statistics which the previous use returns. Returns the previous use of the
/// module of `op`; null for the first use. `statistic` is the number of the result
/// with the statistic, 1 or 2.
static BatchNormOp previousUse(BatchNormOp op, unsigned statistic) {
  Value old = getSource(op->getOperand(statistic + 2));
  auto maker = old.getDefiningOp<BatchNormOp>();
  return maker && old == maker->getResult(statistic) ? maker : BatchNormOp();
}

/// The next uses of the module, which read result `statistic` of `op` directly or through
/// conversions. Sets `outOthers` if any other op reads this result. Conversions and the
/// terminator of the function do not count as other ops.
static SmallVector<BatchNormOp> nextUses(BatchNormOp op, unsigned statistic, bool &outOthers) {
  SmallVector<BatchNormOp> next;
  SmallVector<Value> values = {op->getResult(statistic)};
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      auto user = dyn_cast<BatchNormOp>(use.getOwner());
      if (isa<ConvertOp>(use.getOwner()))
        values.push_back(use.getOwner()->getResult(0));
      else if (user && use.getOperandNumber() == statistic + 2)
        next.push_back(user);
      else
        outOthers |= !use.getOwner()->hasTrait<OpTrait::IsTerminator>();
    }
  return next;
}

namespace {
/// How one use of a module updates a running statistic r. For each of the groups 0 to
/// G - 1, all n uses update r in order. For group g, use u sets r to
/// m_u r + (1 - m_u) stat_(g,u). The result is the same if each use updates r only once
/// for all groups. With the product M of all momenta m_1 to m_n, this one update of use
/// u is:
///   r' = keep r + sum over g of (1 - m_u) M^(G-1-g) stat_(g,u),
///   keep = m_u, times M^(G-1) for the first use.
struct StatisticMove {
  double momentum; ///< m_u
  double cycle;    ///< M
  bool isFirst;
};
} // namespace

static FailureOr<StatisticMove> findMove(BatchNormOp op, unsigned statistic, int64_t groups) {
  auto momentumOf = [](BatchNormOp each) { return each.getMomentum().convertToDouble(); };
  StatisticMove move{momentumOf(op), momentumOf(op), true};
  for (BatchNormOp use = op; (use = previousUse(use, statistic)); move.isFirst = false)
    move.cycle *= momentumOf(use);
  for (BatchNormOp use = op; use;) {
    bool others = false;
    SmallVector<BatchNormOp> next = nextUses(use, statistic, others);
    if (groups > 1 && (next.size() > 1 || others)) {
      use.emitOpError("moves a running statistic that the step reads, which is another one for "
                      "each of the ")
          << groups << " groups of samples (microbatches)";
      return failure();
    }
    use = next.empty() ? BatchNormOp() : next.front();
    if (use)
      move.cycle *= momentumOf(use);
  }
  return move;
}

/// Updates `old` by the statistics `stat` of the groups. If `stat` has rank 2, its
/// dimension 0 counts groups; otherwise there is one group. The weights of the groups
/// are computed from an iota, so that an axis may cut this dimension.
static Value moveStatistic(Expressions e, Value old, Value stat, const StatisticMove &move,
                           double factor) {
  RankedTensorType type = typeOf(stat);
  if (type.getRank() == 1)
    return e.add(e.mul(old, move.momentum), e.mul(stat, (1 - move.momentum) * factor));
  int64_t groups = type.getDimSize(0);
  Value group = e.make<IotaOp>(type, 0);
  Value exponent = e.sub(e.splat(type, groups - 1), group);
  Value power = e.make<PowOp>(e.splat(type, move.cycle), exponent);
  Value weight = e.mul(power, (1 - move.momentum) * factor);
  double keep = move.momentum * (move.isFirst ? std::pow(move.cycle, groups - 1) : 1);
  return e.add(e.mul(old, keep), e.sum(e.mul(weight, stat), {0}));
}

//===-- Forms -------------------------------------------------------------===//

SmallVector<Value> BatchNormOp::buildTraining(OpBuilder &builder, const TrainingContext &context) {
  Expressions e{builder, getLoc()};
  Value x = getInput();
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  int64_t groups = context.batchGroups;
  if (groups < 1 || shape[0] % groups != 0) {
    emitOpError("cannot split ") << shape[0] << " samples into " << groups << " equal groups";
    return {};
  }
  Value grouped = x;
  SmallVector<int64_t> kept = {1};
  if (groups > 1) {
    SmallVector<int64_t> split = {groups, shape[0] / groups};
    llvm::append_range(split, shape.drop_front());
    grouped = e.reshape(x, split);
    kept = {0, 2};
  }
  auto normalized =
      e.make<NormalizeOp>(grouped, allBut(typeOf(grouped).getRank(), kept), getEpsilon(),
                          /*uncentered=*/false);
  Value y = e.reshape(normalized.getResult(), shape);
  y = e.add(e.mul(y, e.broadcast(getScale(), shape, {1})), e.broadcast(getBias(), shape, {1}));

  SmallVector<Value> values = {y, Value(), Value()};
  for (auto [statistic, batch, factor] :
       {std::tuple(1u, normalized.getMean(), 1.0),
        std::tuple(2u, normalized.getVariance(),
                   runningVarianceFactor(getUnbiased(), normalized.getReducedCount()))}) {
    if (getOperation()->getResult(statistic).use_empty())
      continue;
    FailureOr<StatisticMove> move = findMove(*this, statistic, groups);
    if (failed(move))
      return {};
    values[statistic] =
        moveStatistic(e, getOperation()->getOperand(statistic + 2), batch, *move, factor);
  }
  return values;
}

SmallVector<Value> BatchNormOp::buildInference(OpBuilder &builder) {
  Expressions e{builder, getLoc()};
  ArrayRef<int64_t> shape = typeOf(getInput()).getShape();
  auto spread = [&](Value x) { return e.broadcast(x, shape, {1}); };
  Value scale = e.mul(getScale(), e.rsqrt(e.add(getVariance(), getEpsilon().convertToDouble())));
  Value centred = e.sub(getInput(), spread(getMean()));
  return {e.add(e.mul(centred, spread(scale)), spread(getBias())), getMean(), getVariance()};
}

LogicalResult BatchNormOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                     MutableArrayRef<HostTensor> out) {
  ArrayRef<int64_t> shape = in[0]->getShape();
  int64_t channels = shape[1], count = in[0]->size() / channels;
  int64_t positions = rowMajorStrides(shape)[1];
  std::vector<double> mean(channels), variance(channels);
  const std::vector<double> &x = in[0]->floats;
  auto channelOf = [&](size_t at) { return at / positions % channels; };
  for (size_t at = 0; at < x.size(); ++at)
    mean[channelOf(at)] += x[at];
  for (double &value : mean)
    value /= count;
  for (size_t at = 0; at < x.size(); ++at) {
    double centred = x[at] - mean[channelOf(at)];
    variance[channelOf(at)] += centred * centred;
  }
  for (double &value : variance)
    value /= count;
  double epsilon = getEpsilon().convertToDouble();
  for (size_t at = 0; at < x.size(); ++at) {
    int64_t c = channelOf(at);
    out[0].floats[at] =
        (x[at] - mean[c]) / std::sqrt(variance[c] + epsilon) * in[1]->floats[c] + in[2]->floats[c];
  }
  double keep = getMomentum().convertToDouble();
  double factor = runningVarianceFactor(getUnbiased(), count);
  for (int64_t c = 0; c < channels; ++c) {
    out[1].floats[c] = keep * in[3]->floats[c] + (1 - keep) * mean[c];
    out[2].floats[c] = keep * in[4]->floats[c] + (1 - keep) * factor * variance[c];
  }
  return success();
}
