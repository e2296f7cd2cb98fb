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
    const llvm::DenseMap<Value, ElementBounds> bounds = findRequiredBounds(function.front());
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
