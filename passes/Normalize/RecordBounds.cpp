#include "passes/Normalize/Passes.h"

#include "dialects/NN/Bounds/Bounds.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_RECORDBOUNDS
#include "passes/Normalize/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

struct RecordBoundsPass : dpc::impl::RecordBoundsBase<RecordBoundsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    llvm::DenseMap<Value, IntegerBounds> bounds;
    auto need = [&](Value value, const IntegerBounds &asked) {
      auto [entry, isNew] = bounds.try_emplace(value, asked);
      if (!isNew)
        entry->second = entry->second.intersect(asked);
    };
    // Users come before what they use: each op knows all that is asked of it.
    for (Operation &op : llvm::reverse(function.front())) {
      auto model = dyn_cast<BoundsOpInterface>(op);
      if (!model)
        continue;
      SmallVector<std::optional<IntegerBounds>> results;
      for (Value result : op.getResults()) {
        auto entry = bounds.find(result);
        results.push_back(entry == bounds.end() ? std::nullopt
                                                : std::optional(entry->second));
      }
      model.requireBounds(results, need);
    }
    for (BlockArgument argument : function.getArguments()) {
      ArgAttr arg = getArg(function, argument.getArgNumber());
      auto entry = bounds.find(argument);
      if (entry != bounds.end() && arg &&
          (arg.getKind() == ArgKind::input || arg.getKind() == ArgKind::label))
        setBounds(function, argument.getArgNumber(), entry->second);
    }
  }
};

} // namespace
