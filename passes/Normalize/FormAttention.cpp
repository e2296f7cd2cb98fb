// Replaces the ops that AttentionMatcher finds by nn.attention.

#include "passes/Normalize/AttentionMatch.h"
#include "passes/Normalize/Passes.h"

#include "dialects/NN/IR/Attention.h"
#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <limits>

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FORMATTENTION
#include "passes/Normalize/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

/// Replaces the matched ops by an nn.attention. Each dimension of an operand has a role, which is a
/// number. The role of a batch dimension is its index in the scores. After the batch dimensions
/// come two more roles: `row` (queries or keys) and `element` (the features of one head).
class AttentionBuilder {
public:
  AttentionBuilder(const AttentionMatch &match, ConstantValues &constants)
      : match(match), constants(constants), builder(match.result),
        e{builder,
          builder.getFusedLoc({DotOp(match.scores).getLoc(), DotOp(match.result).getLoc()})},
        row(typeOf(DotOp(match.scores)).getRank() - 2), element(row + 1) {}

  void run() {
    DotOp scores = match.scores, result = match.result;
    bool first = match.queryFirst;
    Operand q = operandOf(first ? scores.getLhs() : scores.getRhs(),
                          first ? scores.getLhsBatch() : scores.getRhsBatch(),
                          first ? scores.getLhsContract()[0] : scores.getRhsContract()[0]),
            k = operandOf(first ? scores.getRhs() : scores.getLhs(),
                          first ? scores.getRhsBatch() : scores.getLhsBatch(),
                          first ? scores.getRhsContract()[0] : scores.getLhsContract()[0]);
    Operand v = valueOperand();
    chooseRows({&q, &k, &v});
    double scale = match.scale * q.trace.scale * k.trace.scale;
    auto op =
        e.make<AttentionOp>(laidOut(q), laidOut(k), laidOut(v), mask(), maskDims(), rows,
                            builder.getF64FloatAttr(scale).getValue(), match.causal, match.guarded);
    result.replaceAllUsesWith(asProduct(op.getResult()));
  }

private:
  struct Operand {
    OperandTrace trace;
    /// `order` lists the roles of the dimensions of the traced value, in their order. `extents` has
    /// the extent of each role.
    SmallVector<int64_t> order, extents;
  };

  Operand makeOperand(Value value, ArrayRef<int64_t> roles, bool isScaled) {
    Operand operand;
    operand.trace = traceOperand(value, constants, isScaled);
    operand.extents.resize(roles.size());
    for (auto [d, role] : llvm::enumerate(roles))
      operand.extents[role] = typeOf(value).getDimSize(d);
    for (int64_t d : operand.trace.order)
      operand.order.push_back(roles[d]);
    return operand;
  }

  Operand operandOf(Value value, ArrayRef<int64_t> batch, int64_t contract) {
    SmallVector<int64_t> roles(typeOf(value).getRank(), row);
    for (auto [role, d] : llvm::enumerate(batch))
      roles[d] = role;
    roles[contract] = element;
    return makeOperand(value, roles, /*isScaled=*/true);
  }

  Operand valueOperand() {
    DotOp dot = match.result;
    bool first = match.probabilityFirst;
    Value value = first ? dot.getRhs() : dot.getLhs();
    SmallVector<int64_t> roles(typeOf(value).getRank(), element);
    for (auto [ofP, d] : llvm::zip_equal(first ? dot.getLhsBatch() : dot.getRhsBatch(),
                                         first ? dot.getRhsBatch() : dot.getLhsBatch()))
      roles[d] = ofP;
    roles[first ? dot.getRhsContract()[0] : dot.getLhsContract()[0]] = row;
    return makeOperand(value, roles, /*isScaled=*/false);
  }

  /// Returns the role of each dimension of an nn.attention operand that has its rows in dimension
  /// `at`.
  SmallVector<int64_t> layout(int64_t at) const {
    auto roles = llvm::to_vector(llvm::seq<int64_t>(0, row));
    roles.insert(roles.begin() + at, row);
    roles.push_back(element);
    return roles;
  }

  static SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> roles, ArrayRef<int64_t> extents) {
    SmallVector<int64_t> kept;
    for (int64_t role : roles)
      if (extents[role] != 1)
        kept.push_back(role);
    return kept;
  }
  bool hasLayout(const Operand &operand, int64_t at) const {
    return withoutOnes(operand.order, operand.extents) == withoutOnes(layout(at), operand.extents);
  }

  /// Sets `rows` to the dimension in which most operands have their rows. On a tie, the last
  /// dimension wins, so that the rows of one head are contiguous.
  void chooseRows(ArrayRef<const Operand *> operands) {
    int64_t most = -1;
    for (int64_t at = row; at >= 0; --at) {
      int64_t count =
          llvm::count_if(operands, [&](const Operand *operand) { return hasLayout(*operand, at); });
      if (count > most) {
        most = count;
        rows = at;
      }
    }
  }

  /// Returns the operand in the layout that nn.attention reads: as a view if possible, otherwise
  /// transposed.
  Value laidOut(const Operand &operand) {
    auto shapeOf = [&](ArrayRef<int64_t> roles) {
      return llvm::map_to_vector(roles, [&](int64_t role) { return operand.extents[role]; });
    };
    SmallVector<int64_t> wanted = layout(rows);
    if (hasLayout(operand, rows))
      return e.reshape(operand.trace.value, shapeOf(wanted));
    Value value = e.reshape(operand.trace.value, shapeOf(operand.order));
    SmallVector<int64_t> permutation;
    for (int64_t role : wanted)
      permutation.push_back(llvm::find(operand.order, role) - operand.order.begin());
    return e.transpose(value, permutation);
  }

  Value mask() {
    Value value = match.mask.value;
    if (!value || match.queryFirst)
      return value;
    // In the program's scores, keys come before queries, so the mask must be transposed.
    ArrayRef<int64_t> dims = match.mask.dimensions;
    if (dims.size() < 2 || dims[dims.size() - 2] != row)
      return value;
    auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
    std::swap(permutation[dims.size() - 2], permutation[dims.size() - 1]);
    return e.transpose(value, permutation);
  }

  SmallVector<int64_t> maskDims() {
    SmallVector<int64_t> dims;
    for (int64_t d : match.mask.dimensions)
      dims.push_back(d < row ? d : d == match.keyDim ? element : row);
    llvm::sort(dims);
    return match.mask.value ? dims : SmallVector<int64_t>();
  }

  /// Returns the result of nn.attention with the dimensions of the product that it replaces.
  Value asProduct(Value value) {
    DotOp dot = match.result;
    SmallVector<int64_t> roles(match.probabilityFirst ? dot.getLhsBatch() : dot.getRhsBatch());
    roles.append({match.probabilityFirst ? row : element, match.probabilityFirst ? element : row});
    SmallVector<int64_t> own = layout(rows), permutation;
    for (int64_t role : roles)
      permutation.push_back(llvm::find(own, role) - own.begin());
    return e.transpose(value, permutation);
  }

  const AttentionMatch &match;
  ConstantValues &constants;
  OpBuilder builder;
  Expressions e;
  int64_t row, element; // the numbers of these two roles
  int64_t rows = 0;     // the dimension of operands that has the role `row`
};

struct FormAttentionPass : dpc::impl::FormAttentionBase<FormAttentionPass> {
  void runOnOperation() override {
    ConstantValues constants(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      collectTrained(function);
      auto isTrained = [&](Value value) { return trained.contains(value); };
      AttentionMatcher matcher(constants, isTrained);
      SmallVector<SoftmaxOp> found(function.getOps<SoftmaxOp>());
      for (SoftmaxOp softmax : found)
        if (std::optional<AttentionMatch> match = matcher.match(softmax))
          AttentionBuilder(*match, constants).run();
        else if (Value guarded = guardedForm(softmax, constants))
          hideEmptyRows(softmax, guarded);
    }
  }

private:
  /// Collects the floats that may need a gradient: those in @step that depend on a parameter.
  void collectTrained(func::FuncOp function) {
    trained.clear();
    if (function.getName() != "step")
      return;
    for (BlockArgument argument : function.getArguments()) {
      ArgAttr arg = getArg(function, argument.getArgNumber());
      if (arg && arg.getKind() == ArgKind::parameter)
        trained.insert(argument);
    }
    for (Operation &op : function.front())
      if (llvm::any_of(op.getOperands(), [&](Value v) { return trained.contains(v); }))
        for (Value result : op.getResults())
          if (isa<FloatType>(getElementTypeOrSelf(result.getType())))
            trained.insert(result);
  }

  /// Replaces the scores of empty rows, in a softmax that does not become attention. A row is empty
  /// if all its scores are -infinity. The softmax of an empty row is NaN. `guarded`, a select that
  /// replaces NaN by 0, is 0 in this row, but the gradient would still pass through the NaN.
  /// Therefore the softmax gets scores 0 in empty rows.
  void hideEmptyRows(SoftmaxOp softmax, Value guarded) {
    Value scores = softmax.getInput();
    if (!trained.contains(scores))
      return;
    OpBuilder builder(softmax);
    Expressions e{builder, softmax.getLoc()};
    auto dimension = int64_t(softmax.getDimension());
    ArrayRef<int64_t> shape = typeOf(scores).getShape();
    Value isEmpty = e.compare(Comparison::eq, e.reduce(ReduceKind::max, scores, {dimension}),
                              -std::numeric_limits<double>::infinity());
    isEmpty = e.broadcastAlong(isEmpty, shape, {dimension});
    softmax.getInputMutable().assign(e.select(isEmpty, e.splatLike(scores, 0), scores));
    builder.setInsertionPointAfterValue(guarded);
    auto result =
        cast<SelectOp>(Value(e.select(isEmpty, e.splatLike(guarded, 0), guarded)).getDefiningOp());
    guarded.replaceAllUsesExcept(result, result);
  }

  llvm::DenseSet<Value> trained;
};

} // namespace
