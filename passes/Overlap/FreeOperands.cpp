// Moves kernels of the backward pass that are the last readers of large tensors of the forward pass
// to where these tensors could be freed.

#include "passes/Forward/ForwardPass.h"
#include "passes/Overlap/Passes.h"

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FREEOPERANDS
#include "passes/Overlap/Passes.h.inc"
} // namespace dpc

using namespace dpc;

/// The later of two ops of a block; null comes before every op.
static Operation *later(Operation *a, Operation *b) {
  return !a || (b && a->isBeforeInBlock(b)) ? b : a;
}

namespace {

/// The position to which a kernel can move.
class EarlyPlace {
public:
  /// `forward` has the ops of the forward pass.
  EarlyPlace(nn::KernelOp kernel, const DenseSet<Operation *> &forward)
      : kernel(kernel), block(*kernel->getBlock()), forward(forward) {
    llvm::SetVector<Value> roots;
    for (Value operand : kernel->getOperands())
      roots.insert(rootOf(operand));
    for (Value root : roots) {
      Operation *maker = makerOf(root);
      if (!maker)
        continue;
      waitFor(maker);
      Operation *last = maker;
      if (readsForwardOnly && getFusionKind(maker) != FusionKind::repeated &&
          findLastReader(root, last)) {
        freedBytes += tensorBytes(root.getType());
        lastReader = later(lastReader, last);
      }
    }
    for (Type type : kernel->getResultTypes())
      freedBytes -= tensorBytes(type);
  }

  /// Moves the kernel, and the views that it reads, if the kernel reads results of the forward pass
  /// alone, and if fewer bytes are live then.
  void move() {
    place = later(place, lastReader);
    if (!readsForwardOnly || freedBytes <= 0 || !place || place->getNextNode() == kernel)
      return;
    SmallVector<Operation *> moved;
    for (Operation *view : views)
      if (place->isBeforeInBlock(view))
        moved.push_back(view);
    llvm::sort(moved, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    kernel->moveAfter(place);
    for (Operation *view : moved)
      view->moveBefore(kernel);
  }

private:
  /// The op of this block that computes `value`; null if there is none.
  Operation *makerOf(Value value) const {
    Operation *maker = value.getDefiningOp();
    return maker && maker->getBlock() == &block ? maker : nullptr;
  }

  void waitFor(Operation *maker) {
    place = later(place, maker);
    readsForwardOnly &=
        !maker || forward.contains(maker) || getFusionKind(maker) == FusionKind::repeated;
  }

  /// The value whose memory `value` has, and which is no view of another one.
  Value rootOf(Value value) {
    for (Operation *view = makerOf(value); view && isView(view); view = makerOf(value)) {
      views.insert(view);
      value = view->getOperand(0);
      for (Value other : llvm::drop_begin(view->getOperands())) // for which nn.after waits
        waitFor(makerOf(other));
    }
    return value;
  }

  /// Lets `last` be the last other op that reads the memory of `value`. Returns false if such an op
  /// comes after the kernel.
  bool findLastReader(Value value, Operation *&last) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isView(user))
        return llvm::all_of(user->getResults(),
                            [&](Value view) { return findLastReader(view, last); });
      Operation *reader = block.findAncestorOpInBlock(*user);
      if (reader == kernel)
        return true;
      last = later(last, reader);
      return reader->isBeforeInBlock(kernel);
    });
  }

  nn::KernelOp kernel;
  Block &block;
  const DenseSet<Operation *> &forward;
  bool readsForwardOnly = true;
  llvm::SetVector<Operation *> views;
  /// The last of the ops that compute operands, or values for which these wait.
  Operation *place = nullptr;
  /// The last of the other ops that read operands whose last reader is the kernel.
  Operation *lastReader = nullptr;
  /// The bytes of these operands minus those of the results.
  int64_t freedBytes = 0;
};

struct FreeOperandsPass : dpc::impl::FreeOperandsBase<FreeOperandsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    const Ancestors forward = findForwardPass(function);
    freeOperands(function.front(), forward);
    for (auto loop : function.front().getOps<dist::MicroOp>())
      freeOperands(loop.getBodyBlock(), Ancestors(loop, forward));
  }

private:
  static void freeOperands(Block &block, const Ancestors &forward) {
    for (auto kernel : llvm::make_early_inc_range(block.getOps<nn::KernelOp>()))
      if (!forward.ops.contains(kernel))
        EarlyPlace(kernel, forward.ops).move();
  }
};

} // namespace
