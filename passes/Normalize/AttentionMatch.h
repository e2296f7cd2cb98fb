#ifndef DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H
#define DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H

#include "passes/Normalize/ConstantValues.h"
#include "passes/Normalize/Narrowing.h"

#include "dialects/NN/IR/Contraction.h"
#include "dialects/NN/IR/Normalization.h"

namespace dpc {

/// The ops around a softmax that together compute attention. In nn.attention, the scores have the
/// dimensions [batch, queries, keys]. In the program, the last two may be in either order.
struct AttentionMatch {
  /// `scores` is the product of queries and keys. `result` is the product of the probabilities and
  /// the values.
  nn::DotOp scores, result;
  double scale = 1;
  bool causal = false, guarded = false;
  /// The mask that is added to the scores. `mask.value` is null if there is no mask.
  Narrow mask;

  /// The dimension of the queries and the dimension of the keys in the program's scores.
  int64_t queryDim, keyDim;
  /// Whether the queries are the first operand of `scores` (`queryFirst`), and whether the
  /// probabilities are the first operand of `result` (`probabilityFirst`).
  bool queryFirst, probabilityFirst;
};

/// Matches the ops around one softmax. Does not match if a mask needs a gradient. `isTrained`
/// returns whether a value needs one, and must outlive the matcher.
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
  /// Whether `causal` stands for a causal mask that hides keys by a finite number. `causalMask` is
  /// then the mask that is added to the scores. It is null if there are several such masks, or if
  /// the mask is a select that replaces scores by the number.
  bool isFinitelyCausal = false;
  Narrow causalMask;
};

/// If the program computes select(is_nan(p), 0, p) and `p` has no other use, returns the result of
/// the select. Otherwise returns null.
mlir::Value guardedForm(mlir::Value p, ConstantValues &constants);

/// The value from which an operand of a product is computed by transpositions and reshapes. With
/// `throughScale`, multiplications and divisions by a number may be among the ops. The operand is
/// `scale` times the elements of `value`, in another order. In row-major order, `value` runs
/// through the dimensions of the operand in the order `order`. For example, `order` is 1, 0 if the
/// operand is the transposed `value`.
struct OperandTrace {
  mlir::Value value;
  llvm::SmallVector<int64_t> order;
  double scale = 1;
};
OperandTrace traceOperand(mlir::Value operand, ConstantValues &constants, bool throughScale);

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H
