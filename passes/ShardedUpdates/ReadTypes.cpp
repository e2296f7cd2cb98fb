// Finds the type in which all functions of a program read a given state.

#include "passes/ShardedUpdates/ReadTypes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

/// Whether all of `ops` are conversions to `type`. If `type` is null, the first conversion sets it.
template <typename Ops> static bool areConversions(const Ops &ops, Type &type) {
  return llvm::all_of(ops, [&](Operation *op) {
    if (!isa<nn::ConvertOp>(op))
      return false;
    const Type own = getElementTypeOrSelf(op->getResult(0));
    if (!type)
      type = own;
    return own == type;
  });
}

/// Whether all readers of `value` convert `value`, or the rows that they look up in it, to `type`.
/// Readers in the bodies of loops over microbatches count too. If `type` is null, the first
/// conversion sets it.
static bool readsOnlyAs(Value value, llvm::function_ref<bool(Operation *)> isPassed, Type &type) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isPassed(user))
      continue;
    if (auto loop = dyn_cast<dist::MicroOp>(user)) {
      const unsigned number = use.getOperandNumber();
      if (loop.getOperandKind(number) != dist::MicroKind::whole ||
          !readsOnlyAs(loop.getBodyBlock().getArgument(number), isPassed, type))
        return false;
      continue;
    }
    // A rematerialized op reads the state through an `nn.after`, so the readers of its result
    // count.
    if (isa<nn::AfterOp>(user)) {
      if (!readsOnlyAs(user->getResult(0), isPassed, type))
        return false;
      continue;
    }
    // A lookup whose result is converted can read a converted table instead, because a lookup
    // followed by a conversion equals a conversion followed by a lookup.
    auto lookup = dyn_cast<PrecisionOpInterface>(user);
    if (lookup && lookup.getPrecision() == Precision::lookup && use.getOperandNumber() == 0) {
      if (user->use_empty() || !areConversions(user->getUsers(), type))
        return false;
      continue;
    }
    if (!areConversions(ArrayRef(user), type))
      return false;
  }
  return true;
}

BoundArguments::BoundArguments(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments())
      if (nn::ArgAttr binding = nn::getArg(function, argument.getArgNumber()))
        arguments[binding].push_back(argument);
}

ArrayRef<BlockArgument> BoundArguments::get(nn::ArgAttr binding) const {
  auto found = arguments.find(binding);
  return found == arguments.end() ? ArrayRef<BlockArgument>() : found->second;
}

Type dpc::findReadType(const BoundArguments &arguments, nn::ArgAttr binding, Type own,
                       llvm::function_ref<bool(Operation *)> isPassed) {
  Type type;
  for (BlockArgument argument : arguments.get(binding))
    if (!readsOnlyAs(argument, isPassed, type))
      return {};
  auto narrow = dyn_cast_if_present<FloatType>(type);
  return narrow && narrow.getWidth() < own.getIntOrFloatBitWidth() ? type : Type();
}
