// Copies a short elementwise chain into each kernel that reads the result of the chain, if its
// inputs are in memory and the kernel then reads fewer bytes.

#include "passes/Fusion/Recomputation.h"

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Normalization.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dpc;

namespace {
/// The kernel of each op. It is looked up by op alone, so its order has no effect. Ops that each
/// kernel copies (`repeated`) have none.
class KernelNumbers {
public:
  explicit KernelNumbers(std::vector<KernelOps> &kernels) : kernels(kernels) {
    for (auto [number, ops] : llvm::enumerate(kernels))
      for (Operation *op : ops)
        numbers[op] = number;
  }

  /// Notes that the kernel of `member` also has `op`.
  void add(Operation *op, Operation *member) { numbers[op] = numbers.at(member); }

  /// Adds `op` to the kernel of `member`, after all its ops.
  void append(Operation *op, Operation *member) {
    add(op, member);
    kernels[numbers.at(member)].push_back(op);
  }

  /// Whether the same kernel computes the results of `a` and `b`.
  bool areTogether(Operation *a, Operation *b) const {
    auto here = numbers.find(a), there = numbers.find(b);
    return here != numbers.end() && there != numbers.end() && here->second == there->second;
  }

  /// Whether `value`, which `reader` reads, is in memory: one kernel computes it and another one
  /// reads it, or the function returns it.
  bool isStored(Value value, Operation *reader) const {
    Operation *maker = value.getDefiningOp();
    if (!maker || maker->getBlock() != reader->getBlock())
      return true;
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return numbers.contains(maker) && (user->hasTrait<OpTrait::IsTerminator>() ||
                                         (numbers.contains(user) && !areTogether(maker, user)));
    });
  }

  /// Whether `value` takes the place of the wider `widened` in memory, although its maker's kernel
  /// has not written it so far: all other values are made from `widened`. If each kernel that
  /// reads them makes them from `value`, the kernel of `widened` writes `value` alone. The results
  /// of 16-bit convolutions are an example, which norms read in f32 several times.
  bool replaces(Value value, Operation *widened) const {
    Operation *maker = value.getDefiningOp();
    return maker && isa<nn::ConvertOp>(widened) && value.hasOneUse() &&
           areTogether(maker, widened) &&
           tensorBytes(value.getType()) < tensorBytes(widened->getResult(0).getType());
  }

private:
  std::vector<KernelOps> &kernels;
  DenseMap<Operation *, size_t> numbers;
};

/// A chain of ops, and the values in memory that it needs and its kernel does not read yet.
struct Chain {
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> inputs;

  /// Removes what was added after the chain had so many ops and inputs.
  void truncate(size_t opCount, size_t inputCount) {
    while (ops.size() > opCount)
      ops.pop_back();
    while (inputs.size() > inputCount)
      inputs.pop_back();
  }
};

/// One kernel, and the values that it reads but does not compute.
class Reader {
public:
  Reader(KernelOps &ops, KernelNumbers &numbers)
      : ops(ops), numbers(numbers), members(ops.begin(), ops.end()) {
    for (Operation *op : ops)
      for (Value operand : op->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (maker && (members.contains(maker) || getFusionKind(maker) == FusionKind::repeated))
          continue;
        if (reads.insert(operand) && maker && maker->getBlock() == op->getBlock() &&
            (getFusionKind(maker) == FusionKind::elementwise || isNormalized(operand)))
          values.push_back(operand);
      }
    // Values that are computed earlier are handled earlier, because the chain of a later value may
    // start from the copy of an earlier value.
    llvm::sort(values, [](Value a, Value b) {
      return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
    });
  }

  void run(unsigned maxOps) {
    for (Value value : values) {
      if (isNormalized(value)) {
        normalizeAgain(value, maxOps);
        continue;
      }
      Chain chain;
      if (isUsedElementwise(value) && collect(value, chain, maxOps) && savesBytes(chain, value))
        replace(value, copy(value, chain));
    }
  }

private:
  /// Whether `value` is the normalized result of an nn.normalize.
  static bool isNormalized(Value value) {
    auto op = value.getDefiningOp<nn::NormalizeOp>();
    return op && value == op.getResult();
  }

  /// Whether all users of `value` are elementwise ops, reductions or norms, which kernels compute
  /// by such ops. Then no user needs the value in memory.
  bool isUsedElementwise(Value value) const {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      FusionKind kind = getFusionKind(user);
      return kind == FusionKind::elementwise || kind == FusionKind::reduction ||
             isa<nn::NormalizeOp>(user);
    });
  }

  static int64_t bytesOf(ArrayRef<Value> values) {
    int64_t bytes = 0;
    for (Value value : values)
      bytes += tensorBytes(value.getType());
    return bytes;
  }

  /// Whether computing `chain` saves bytes: the inputs that the kernel does not read yet have fewer
  /// than `value`. If the chain costs little, they may have as many: it is enough that `value` is
  /// not written.
  static bool savesBytes(const Chain &chain, Value value) {
    const int64_t bytes = bytesOf(chain.inputs.getArrayRef()), most = tensorBytes(value.getType());
    const bool costsLittle = llvm::all_of(chain.ops, [](Operation *op) {
      return isa<nn::AddOp, nn::ConvertOp, nn::MulOp, nn::NegOp, nn::SelectOp, nn::SubOp>(op);
    });
    return chain.inputs.empty() || bytes < most || (costsLittle && bytes == most);
  }

  /// Collects in `chain` the ops that compute `value` from values that the kernel reads or that are
  /// in memory. An op comes after the ops that compute its operands. collect() calls itself for
  /// operands. `open` is the number of outer calls: their ops are not in `chain` yet, but will be.
  /// Returns false if `value` has no chain of at most `maxOps` ops.
  bool collect(Value value, Chain &chain, unsigned maxOps, unsigned open = 0) const {
    Operation *op = value.getDefiningOp();
    if (chain.ops.size() + open >= maxOps || getFusionKind(op) != FusionKind::elementwise)
      return false;
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (reads.contains(operand) || copies.contains(operand) || chain.inputs.contains(operand) ||
          (maker && (chain.ops.contains(maker) || getFusionKind(maker) == FusionKind::repeated)))
        continue;
      const size_t opCount = chain.ops.size(), inputCount = chain.inputs.size();
      const bool mayBeRead = numbers.isStored(operand, op) || numbers.replaces(operand, op);
      if (maker && maker->getBlock() == op->getBlock() &&
          collect(operand, chain, maxOps, open + 1) &&
          (!mayBeRead || bytesOf(chain.inputs.getArrayRef().drop_front(inputCount)) <
                             tensorBytes(operand.getType())))
        continue;
      chain.truncate(opCount, inputCount);
      if (!mayBeRead)
        return false;
      chain.inputs.insert(operand);
    }
    chain.ops.insert(op);
    return true;
  }

  /// Adds an op of the block to the kernel, after the ops that this class has added earlier.
  void add(Operation *op) {
    numbers.add(op, first());
    members.insert(op);
    ops.insert(ops.begin() + added++, op);
  }

  /// Copies `chain` into the kernel, and returns the copy of `value`.
  Value copy(Value value, const Chain &chain) {
    OpBuilder builder(first());
    for (Operation *op : chain.ops)
      if (!copies.contains(op->getResult(0)))
        add(builder.clone(*op, copies));
    for (Value input : chain.inputs)
      reads.insert(input);
    return copies.lookup(value);
  }

  /// The first op that the kernel had before ops were added.
  Operation *first() const { return ops[added]; }

  void replace(Value value, Value copy) {
    reads.remove(value);
    value.replaceUsesWithIf(copy, [&](OpOperand &use) { return members.contains(use.getOwner()); });
  }

  /// Returns rsqrt(variance + epsilon) of `op` from the kernel of `op`, which computes the value in
  /// any case. Another kernel may have to compute it in loops of its own.
  Value scaleOf(nn::NormalizeOp op) {
    for (Operation *user : op.getVariance().getUsers()) {
      auto sum = dyn_cast<nn::AddOp>(user);
      auto constant = sum ? sum.getRhs().getDefiningOp<nn::ConstantOp>() : nn::ConstantOp();
      auto epsilon = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
      if (!epsilon || epsilon.getSplatValue<APFloat>().convertToDouble() !=
                          roundToFloatType(op.getEpsilon().convertToDouble(),
                                           cast<FloatType>(getElementTypeOrSelf(sum))))
        continue;
      for (Operation *reader : sum->getUsers())
        if (isa<nn::RsqrtOp>(reader) && numbers.areTogether(reader, op))
          return reader->getResult(0);
    }
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    nn::Expressions e{builder, op.getLoc()};
    Value sum = e.add(op.getVariance(), op.getEpsilon().convertToDouble()), scale = e.rsqrt(sum);
    numbers.append(sum.getDefiningOp(), op);
    numbers.append(scale.getDefiningOp(), op);
    return scale;
  }

  /// Computes the result `value` of an nn.normalize again, as its decomposition does:
  /// (x - mean) * rsqrt(variance + epsilon).
  void normalizeAgain(Value value, unsigned maxOps) {
    auto op = value.getDefiningOp<nn::NormalizeOp>();
    Value x = op.getInput();
    Chain chain;
    if (!isUsedElementwise(value))
      return;
    if (copies.contains(x)) {
      x = copies.lookup(x);
    } else if (!reads.contains(x) && !numbers.isStored(x, op)) {
      if (!collect(x, chain, maxOps) || !savesBytes(chain, x))
        return;
      x = copy(x, chain);
    }
    OpBuilder builder(first());
    nn::Expressions e{builder, op.getLoc()};
    const ArrayRef<int64_t> shape = nn::typeOf(value).getShape(), dimensions = op.getDimensions();
    Value scale = scaleOf(op);
    Value centred = x;
    if (!op.getUncentered())
      centred = e.sub(x, e.broadcastAlong(op.getMean(), shape, dimensions));
    Value again = e.mul(centred, e.broadcastAlong(scale, shape, dimensions));
    if (centred != x)
      add(centred.getDefiningOp());
    add(again.getDefiningOp());
    reads.insert(x);
    replace(value, again);
  }

  KernelOps &ops;
  KernelNumbers &numbers;
  DenseSet<Operation *> members;
  llvm::SetVector<Value> reads;
  SmallVector<Value> values;
  IRMapping copies;
  unsigned added = 0;
};
} // namespace

void dpc::recomputeShortChains(std::vector<KernelOps> &kernels, unsigned maxOps) {
  KernelNumbers numbers(kernels);
  for (KernelOps &ops : kernels) {
    FusionKind kind = getFusionKind(ops.front());
    if (kind != FusionKind::view && kind != FusionKind::outside)
      Reader(ops, numbers).run(maxOps);
  }
}
