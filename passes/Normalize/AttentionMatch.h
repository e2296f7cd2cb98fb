#ifndef DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H
#define DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H

#include "passes/Normalize/ConstantValues.h"
#include "passes/Normalize/Narrowing.h"

#include "dialects/NN/IR/Contraction.h"
#include "dialects/NN/IR/Normalization.h"

namespace dpc {

/// The ops around a softmax that together are attention. The scores have dimensions
/// [batch, queries, keys]; the program may have the last two in either order.
struct AttentionMatch {
  /// `scores` is the product of queries and keys, `result` the product with the values.
  nn::DotOp scores, result;
  double scale = 1;
  bool causal = false, guarded = false;
  /// The mask that is added to the scores. Its value is null if there is none.
  Narrow mask;

  /// The dimensions of queries and of keys in the program's scores.
  int64_t queryDim, keyDim;
  /// Whether the queries (or the probabilities) are the first operand of their product.
  bool queryFirst, probabilityFirst;
};

/// Matches the ops around one softmax. Does not match a mask that needs a gradient, for which
/// `isTrained` returns true. `isTrained` must outlive the matcher.
class AttentionMatcher {
public:
  AttentionMatcher(ConstantValues &constants, llvm::function_ref<bool(mlir::Value)> isTrained)
      : constants(constants), isTrained(isTrained) {}

  std::optional<AttentionMatch> match(nn::SoftmaxOp softmax);

private:
  bool matchResult(nn::SoftmaxOp softmax);
  bool matchScores(mlir::Value value);
  bool matchMask(mlir::Value mask);
  bool matchSelect(mlir::Value condition, mlir::Value fill, bool isInverted);
  bool addMask(Narrow mask);
  bool settleCausal();
  bool mayHideKeys(const Narrow &mask);
  bool isCausal(const Narrow &mask, llvm::function_ref<bool(double, bool isSeen)> agrees);

  ConstantValues &constants;
  Narrowing narrowing;
  llvm::function_ref<bool(mlir::Value)> isTrained;
  AttentionMatch found;
  /// Whether `causal` stands for a causal mask whose number is finite. `causalMask` is then the
  /// mask, if it is added; it is null if there are several, or if a select replaces scores by the
  /// number.
  bool isFinitelyCausal = false;
  Narrow causalMask;
};

/// Returns the value select(is_nan(p), 0, p) if p has no other use, otherwise null.
mlir::Value guardedForm(mlir::Value p, ConstantValues &constants);

/// The value from which an operand of a product is computed by multiplications with a number,
/// transpositions and reshapes. In row-major order, `value` has the dimensions of the operand in
/// the order `order`. The operand is `scale` times these elements.
struct OperandTrace {
  mlir::Value value;
  llvm::SmallVector<int64_t> order;
  double scale = 1;
};
OperandTrace traceOperand(mlir::Value operand, ConstantValues &constants, bool throughScale);

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H
