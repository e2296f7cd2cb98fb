// Refuses names of ONNX nodes that recomputation cannot find.

#include "passes/Remat/Passes.h"

#include "passes/Forward/ForwardPass.h"

#include "dialects/Interfaces/NodeNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_CHECKREMATNODES
#include "passes/Remat/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {
struct CheckRematNodesPass : dpc::impl::CheckRematNodesBase<CheckRematNodesPass> {
  using CheckRematNodesBase::CheckRematNodesBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!step || step.isExternal())
      return;
    llvm::StringSet<> names;
    const Ancestors forward = findForwardPass(step);
    addNames(forward, names);
    for (auto loop : step.front().getOps<dist::MicroOp>())
      if (forward.ops.contains(loop))
        addNames(Ancestors(loop, forward), names);
    for (const std::string &text : nodes) {
      llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
      if (!glob) {
        getOperation().emitError("--remat=") << text << ": " << llvm::toString(glob.takeError());
        return signalPassFailure();
      }
      if (llvm::none_of(names.keys(), [&](StringRef name) { return glob->match(name); })) {
        getOperation().emitError("--remat=")
            << text << ": no node of the forward pass has such a name";
        return signalPassFailure();
      }
    }
  }

private:
  static void addNames(const Ancestors &forward, llvm::StringSet<> &names) {
    for (Operation *op : forward.ops)
      if (!isOfLoss(op->getLoc()))
        for (StringRef node : nodesOf(op->getLoc()))
          names.insert(node);
  }
};
} // namespace
