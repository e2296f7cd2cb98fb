#ifndef DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H
#define DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H

#include "passes/Normalize/ConstantValues.h"
#include "passes/Normalize/Narrowing.h"

#include "dialects/NN/IR/Contraction.h"
#include "dialects/NN/IR/Normalization.h"

namespace dpc {

/// What of the ops around a softmax is attention. Dimensions of the scores are
/// [batch, queries, keys] here, in whatever order the program has the last two.
struct AttentionMatch {
  /// The product that makes the scores, and the one with the values.
  nn::DotOp scores, result;
  double scale = 1;
  bool causal = false, guarded = false;
  /// An additive mask; its value is null when there is none.
  Narrow mask;

  /// Dimensions of the scores as the program has them.
  int64_t queryDim, keyDim;
  /// Whether q (p) is the first operand of its product.
  bool queryFirst, probabilityFirst;
};

/// Matches one softmax. A mask that needs a gradient (`isTrained`, which
/// outlives the matcher) is not matched.
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
  /// Whether `causal` stands for a finite number in the program, and the mask
  /// that adds it; null where it takes the place of scores, and of several.
  bool isFinitelyCausal = false;
  Narrow causalMask;
};

/// select(is_nan(p), 0, p), if that is all that p is used for; else null.
mlir::Value guardedForm(mlir::Value p, ConstantValues &constants);

/// An operand of a product, seen through multiplications by a number,
/// transpositions and reshapes. In row-major order `value` runs over the
/// dimensions `order` of the operand.
struct OperandTrace {
  mlir::Value value;
  llvm::SmallVector<int64_t> order;
  double scale = 1;
};
OperandTrace traceOperand(mlir::Value operand, ConstantValues &constants, bool throughScale);

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_ATTENTIONMATCH_H
