// What the values in the body of a loop are in all of its iterations.

#ifndef DPC_FRONTENDS_ONNX_OPS_LOOPLANES_H
#define DPC_FRONTENDS_ONNX_OPS_LOOPLANES_H

#include "frontends/onnx/Ops/Segments.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace dpc::onnx {

/// What a value is in all iterations.
struct Lanes {
  enum class Kind {
    /// `tensor` in each of them.
    same,
    /// Element i of `tensor` in iteration i.
    each,
    /// Segment i in iteration i.
    rows,
    /// The reduction of segment i, divided by element i of `divisor` if it is given.
    reduced,
    /// A sequence or list that had nothing before the first iteration, to which each
    /// one appends its element of `tensor` (null: nothing yet) where `kept` holds.
    appended,
    /// Not known.
    other,
  };
  Kind kind = Kind::other;
  mlir::Value tensor;
  Segments segments;
  nn::ReduceKind reduction = nn::ReduceKind::sum;
  bool keepsDimension = false;
  mlir::Value divisor;
  /// i1, one element an iteration; null for all.
  mlir::Value kept;
  /// Of a number that counts the rows of segment i, or a flag that says that there
  /// are none.
  bool countsRows = false, isEmpty = false;

  static Lanes sameOf(mlir::Value tensor) { return {Kind::same, tensor}; }
  static Lanes eachOf(mlir::Value tensor) { return {Kind::each, tensor}; }
};

/// The one integer that a value is in each iteration.
std::optional<int64_t> knownScalar(const Lanes &value);
/// The integers that a value with one element an iteration is.
std::optional<std::vector<int64_t>> knownEach(const Lanes &value, int64_t count);

/// Evaluates the body of one loop.
class LoopLanes {
public:
  LoopLanes(Conversion &c, int64_t count, LoopLanes *outer = nullptr)
      : c(c), count(count), outer(outer) {}

  mlir::LogicalResult bind(ValueId id, Lanes value) {
    values[id] = std::move(value);
    return mlir::success();
  }
  Lanes lookup(ValueId id);
  mlir::LogicalResult evaluate(llvm::ArrayRef<Node> nodes);
  /// 0, 1, .. from `first`, of shape [count] and then as many 1s as `rank` says.
  mlir::Value countFrom(int64_t first, int64_t rank = 0);
  /// The node that made `id` in the body; nullptr for none.
  const Node *makerOf(ValueId id) const { return makers.lookup(id); }
  /// Element i of `tensor` for iteration i, for values that have a tensor; null for
  /// others.
  mlir::Value materialize(const Lanes &value);

private:
  mlir::LogicalResult evaluateNode(const Node &node);
  mlir::LogicalResult evaluateIf(const Node &node);
  mlir::LogicalResult evaluateInnerLoop(const Node &node);
  mlir::LogicalResult evaluateSame(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateElementwise(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateRows(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateCastLike(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateReshape(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateGather(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateSlice(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateReduce(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateDiv(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateSize(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult evaluateAppend(const Node &node, llvm::ArrayRef<Lanes> operands);
  mlir::LogicalResult convert(const Node &node, llvm::ArrayRef<mlir::Value> operands, Lanes result);
  std::optional<Lanes> merge(const Lanes &condition, const Lanes &holds, const Lanes &fails);
  std::optional<Lanes> mergeRows(mlir::Value mask, const Lanes &holds, const Lanes &fails);
  mlir::Value selectDivisor(mlir::Value mask, const Lanes &holds, const Lanes &fails);
  /// One element an iteration of a value that has one; null for others.
  mlir::Value flat(const Lanes &value);
  void noteEmpty(const Node &node, llvm::ArrayRef<Lanes> operands);

  Conversion &c;
  const int64_t count;
  LoopLanes *outer;
  std::map<ValueId, Lanes> values;
  llvm::DenseMap<ValueId, const Node *> makers;
};

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_LOOPLANES_H
