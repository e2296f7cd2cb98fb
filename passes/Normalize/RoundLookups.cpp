// Rounds the rows that are taken of a parameter which products read in fewer bits.

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

/// The float type of fewer bits to which something converts `parameter`; null if nothing does,
/// or to several.
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

/// Rounds what `lookup` takes to numbers of `type`.
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
