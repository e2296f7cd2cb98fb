// Represents the values in the body of a loop for all iterations at once.

#ifndef DPC_FRONTENDS_ONNX_OPS_LOOPLANES_H
#define DPC_FRONTENDS_ONNX_OPS_LOOPLANES_H

#include "frontends/onnx/Ops/Segments.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace dpc::onnx {

/// The representation of a value in all iterations.
struct Lanes {
  enum class Kind {
    /// The value is `tensor` in every iteration.
    same,
    /// In iteration i the value is element i of `tensor`.
    each,
    /// In iteration i the value consists of the rows of segment i of `segments`.
    rows,
    /// In iteration i the value is the reduction of segment i of `segments`, divided by
    /// element i of `divisor` unless `divisor` is null.
    reduced,
    /// A sequence or list that is empty before the first iteration. Iteration i
    /// appends element i of `tensor` (null: nothing appended yet) if element i of
    /// `kept` is true.
    appended,
    /// The value in each iteration is not known.
    other,
  };
  Kind kind = Kind::other;
  mlir::Value tensor;
  Segments segments;
  nn::ReduceKind reduction = nn::ReduceKind::sum;
  bool keepsDimension = false;
  mlir::Value divisor;
  /// i1, one element per iteration; null if all iterations append.
  mlir::Value kept;
  /// `countsRows`: the value is the number of rows of segment i. `isEmpty`: the
  /// value is a flag that segment i has no rows.
  bool countsRows = false, isEmpty = false;

  static Lanes sameOf(mlir::Value tensor) { return {Kind::same, tensor}; }
  static Lanes eachOf(mlir::Value tensor) { return {Kind::each, tensor}; }
};

/// The integer that a value equals in every iteration; nullopt if the integer is not
/// known or if iterations may have different integers.
std::optional<int64_t> knownScalar(const Lanes &value);
/// The integers of a value that has one known element in each of `count`
/// iterations.
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
  /// The numbers `first`, `first` + 1, .., of shape [count] followed by `rank`
  /// dimensions of extent 1.
  mlir::Value countFrom(int64_t first, int64_t rank = 0);
  /// The node of the body that made `id`; nullptr if there is none.
  const Node *makerOf(ValueId id) const { return makers.lookup(id); }
  /// A tensor whose element i is the value in iteration i; null if the
  /// representation has no such tensor.
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
  /// A tensor of shape [count] for a value with one element per iteration; null for
  /// others.
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
