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
    llvm::DenseMap<Value, ElementBounds> bounds;
    auto need = [&](Value value, const ElementBounds &asked) {
      if (asked.allowsAll())
        return;
      auto [entry, isNew] = bounds.try_emplace(value, asked);
      if (!isNew)
        entry->second = entry->second.intersect(asked);
    };
    // Visit users before their operands, so that all requirements on the results of an op are known
    // when the op is visited.
    for (Operation &op : llvm::reverse(function.front())) {
      auto model = dyn_cast<BoundsOpInterface>(op);
      if (!model)
        continue;
      SmallVector<ElementBounds> results;
      for (Value result : op.getResults())
        results.push_back(bounds.lookup(result));
      model.requireBounds(results, need);
    }
    for (BlockArgument argument : function.getArguments()) {
      ArgAttr arg = getArg(function, argument.getArgNumber());
      if (!arg || (arg.getKind() != ArgKind::input && arg.getKind() != ArgKind::label))
        continue;
      SmallVector<BoundsRun> runs =
          bounds.lookup(argument).runs(typeOf(argument).getShape(), arg.getBatch());
      if (!runs.empty())
        setBounds(function, argument.getArgNumber(), runs);
    }
  }
};

} // namespace
