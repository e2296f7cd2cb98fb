// Checks the contract of level `ordered`.

#include "passes/Verify/Contract.h"
#include "passes/Verify/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Pieces.h"
#include "dialects/Dist/IR/Stages.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYORDERED
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

struct VerifyOrderedPass : dpc::impl::VerifyOrderedBase<VerifyOrderedPass> {
  void runOnOperation() override {
    for (dist::RankProgram program : dist::programsOf(getOperation()))
      for (auto function : program.module.getOps<func::FuncOp>())
        if (failed(verifySignature(function)) || failed(verifyBlock(function.front())))
          return signalPassFailure();
  }

private:
  InFlightDiagnostic violation(Operation *op) {
    return Contract(getOperation(), "ordered").violation(op);
  }

  LogicalResult verifySignature(func::FuncOp function) {
    const StringRef name = function.getSymName();
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (!nn::getArg(function, i) && !function.getArgAttr(i, dist::DistDialect::kStorageAttrName))
        return violation(function)
               << "argument " << i << " of @" << name << " has neither nn.arg nor dist.storage";
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (!nn::getResult(function, i) &&
          !function.getResultAttr(i, dist::DistDialect::kStorageAttrName))
        return violation(function)
               << "result " << i << " of @" << name << " has neither nn.result nor dist.storage";
    return success();
  }

  LogicalResult verifyBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (auto micro = dyn_cast<dist::MicroOp>(op)) {
        if (failed(verifyBlock(micro.getBodyBlock())))
          return failure();
      } else if (auto piece = dyn_cast<dist::PieceOp>(op)) {
        if (failed(verifyBlock(piece.getBodyBlock())))
          return failure();
      } else if (isa<KernelOpInterface>(op)) {
        if (failed(verifyKernel(&op)))
          return failure();
      } else if (!isView(&op) && !dist::isCollective(&op) && !dist::isMessage(&op) &&
                 !isa<dist::PackOp, dist::AxisIndexOp>(op)) {
        return violation(&op) << "'" << op.getName() << "' is in no kernel";
      }
    }
    return success();
  }

  LogicalResult verifyKernel(Operation *kernel) {
    for (Operation &op : kernel->getRegion(0).front()) {
      if (!isa<nn::NNDialect>(op.getDialect()))
        return violation(&op) << "a kernel contains '" << op.getName() << "'";
      if (isa<KernelOpInterface>(op))
        return violation(&op) << "a kernel contains another one";
    }
    return success();
  }
};

} // namespace
