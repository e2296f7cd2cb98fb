// If products read a parameter in fewer bits, rounds the rows that lookups take from the parameter.

#include "passes/Normalize/Passes.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ROUNDLOOKUPS
#include "passes/Normalize/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

/// Returns the narrower float type to which ops convert `parameter`. Null if no op converts it to a
/// narrower type, or if ops convert it to several such types.
static Type findNarrowType(Value parameter) {
  auto own = dyn_cast<FloatType>(getElementTypeOrSelf(parameter));
  Type found;
  for (Operation *user : parameter.getUsers()) {
    auto type = isa<ConvertOp>(user) ? dyn_cast<FloatType>(getElementTypeOrSelf(user->getResult(0)))
                                     : FloatType();
    if (!own || !type || type.getWidth() >= own.getWidth())
      continue;
    if (found && found != type)
      return {};
    found = type;
  }
  return found;
}

/// Rounds the rows that `lookup` returns to numbers of `type`, but keeps their element type.
static void roundRows(Operation *lookup, Type type) {
  OpBuilder builder(lookup->getContext());
  builder.setInsertionPointAfter(lookup);
  Value rows = lookup->getResult(0);
  Expressions e{builder, lookup->getLoc()};
  Value narrow = e.convert(rows, type);
  Value rounded = e.convert(narrow, getElementTypeOrSelf(rows));
  rows.replaceAllUsesExcept(rounded, narrow.getDefiningOp());
}

namespace {
struct RoundLookupsPass : dpc::impl::RoundLookupsBase<RoundLookupsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (BlockArgument argument : function.getArguments()) {
      const ArgAttr arg = nn::getArg(function, argument.getArgNumber());
      const Type type =
          arg && arg.getKind() == ArgKind::parameter ? findNarrowType(argument) : Type();
      if (!type)
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
        auto op = dyn_cast<PrecisionOpInterface>(use.getOwner());
        if (op && op.getPrecision() == Precision::lookup && use.getOperandNumber() == 0)
          roundRows(op, type);
      }
    }
  }
};
} // namespace
