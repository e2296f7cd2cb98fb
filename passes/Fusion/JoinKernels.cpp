// Joins independent kernels of few elements, so that one launch computes all of them.

#include "passes/Fusion/Passes.h"
#include "passes/Machine/MachineTarget.h"
#include "targets/Target.h"

#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/JoinedKernels.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_JOINKERNELS
#include "passes/Fusion/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

/// An update of more elements is worth a launch of its own: it takes as long as a launch.
static const int64_t kFewElements = 1 << 18;
/// The most operands and results of a joined kernel. A launch passes an address for each, in 4 KiB.
static const size_t kMostBuffers = 500;

static int64_t elementsOf(Value value) { return typeOf(value).getNumElements(); }

/// Whether every element that `kernel` computes is one of the elements of its operands with the
/// same number, or a scalar, and all results have as many elements.
static bool isElementwise(KernelOp kernel) {
  const int64_t elements = elementsOf(kernel.getResult(0));
  return llvm::all_of(kernel.getResults(),
                      [&](Value result) { return elementsOf(result) == elements; }) &&
         llvm::all_of(kernel.getBodyBlock().without_terminator(), [&](Operation &op) {
           auto broadcast = dyn_cast<BroadcastOp>(op);
           return (broadcast && elementsOf(broadcast.getInput()) == 1) ||
                  isa<ElementwiseOpInterface, ConstantOp>(op);
         });
}

namespace {
/// Kernels of one block, in order, that become one.
class Batch {
public:
  bool isEmpty() const { return members.empty(); }
  size_t getSize() const { return members.size(); }
  Operation *getFirst() const { return members.front(); }

  /// Whether the batch stays small enough with `op`, and `op` reads no result of it.
  bool fits(Operation *op) const {
    return buffers + op->getNumOperands() + op->getNumResults() <= kMostBuffers &&
           llvm::none_of(op->getOperands(), [&](Value operand) {
             return llvm::is_contained(members, operand.getDefiningOp());
           });
  }

  /// Whether `op` comes before all readers of the members.
  bool isBeforeReaders(Operation *op) const {
    return llvm::all_of(members, [&](Operation *member) {
      return llvm::all_of(member->getUsers(), [&](Operation *user) {
        Operation *reader = op->getBlock()->findAncestorOpInBlock(*user);
        return reader && op->isBeforeInBlock(reader);
      });
    });
  }

  void add(Operation *op) {
    members.push_back(op);
    buffers += op->getNumOperands() + op->getNumResults();
  }

  /// Replaces the members by one kernel at the place of the last one, if there are several.
  void join() {
    if (members.size() > 1)
      build();
    members.clear();
    buffers = 0;
  }

private:
  void build() {
    llvm::SetVector<Value> inputs;
    SmallVector<Value> results;
    SmallVector<Location> locations;
    SmallVector<int64_t> joined;
    for (Operation *op : members) {
      inputs.insert(op->operand_begin(), op->operand_end());
      llvm::append_range(results, op->getResults());
      locations.push_back(op->getLoc());
      joined.push_back(op->getNumResults());
    }
    OpBuilder builder(members.back());
    auto kernel = builder.create<KernelOp>(builder.getFusedLoc(locations),
                                           TypeRange(ValueRange(results)), inputs.getArrayRef());
    kernel->setAttr(kJoinedAttrName, builder.getDenseI64ArrayAttr(joined));
    if (llvm::all_of(members, holdsUpdates))
      kernel->setAttr(kUpdatesAttrName, builder.getUnitAttr());
    Block &body = kernel.getBody().emplaceBlock();
    IRMapping arguments;
    for (Value input : inputs)
      arguments.map(input, body.addArgument(input.getType(), input.getLoc()));
    builder.setInsertionPointToEnd(&body);
    SmallVector<Value> yielded;
    for (Operation *op : members) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(arguments.lookup(operand));
      llvm::append_range(yielded, cloneBody(op, operands, builder));
    }
    builder.create<YieldOp>(kernel.getLoc(), yielded);
    for (auto [result, made] : llvm::zip_equal(results, kernel.getResults()))
      result.replaceAllUsesWith(made);
    for (Operation *op : members)
      op->erase();
  }

  static SmallVector<Value> cloneBody(Operation *op, ValueRange operands, OpBuilder &builder) {
    if (auto update = dyn_cast<UpdateOp>(op))
      return cloneUpdate(update, operands, builder);
    Block &body = cast<KernelOp>(op).getBodyBlock();
    IRMapping mapping;
    mapping.map(body.getArguments(), operands);
    for (Operation &inner : body.without_terminator())
      builder.clone(inner, mapping);
    SmallVector<Value> results;
    for (Value result : body.getTerminator()->getOperands())
      results.push_back(mapping.lookup(result));
    return results;
  }

  SmallVector<Operation *> members;
  size_t buffers = 0;
};

struct JoinKernelsPass : dpc::impl::JoinKernelsBase<JoinKernelsPass> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    most = static_cast<size_t>(target->getJoinedKernels());
    if (most < 2)
      return;
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<KernelOp, UpdateOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      joinUpdates(*block);
      joinNeighbours(*block);
    }
  }

private:
  /// Joins updates of few elements, although other ops are between them: gradients of few elements
  /// may wait for the last of them.
  void joinUpdates(Block &block) {
    llvm::MapVector<int64_t, Batch> batches; // by the number of scalars
    for (auto update : llvm::to_vector(block.getOps<UpdateOp>())) {
      if (update.getNumResults() == 0 || elementsOf(update.getResult(0)) > kFewElements ||
          elementsOf(update.getResult(0)) == 0)
        continue;
      Batch &batch = batches[static_cast<int64_t>(update.getScalars().size())];
      if (!batch.fits(update) || batch.getSize() == most || !batch.isBeforeReaders(update))
        batch.join();
      batch.add(update);
    }
    for (auto &[scalars, batch] : batches)
      batch.join();
  }

  /// Whether `value` is an argument of the function, or a view of one.
  static bool isArgument(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (getFusionKind(op) != FusionKind::view)
        return false;
      value = op->getOperand(0);
    }
    return true;
  }

  /// Whether a kernel that computes nothing but elements may run beside its neighbours. All its
  /// large operands are arguments of the function, so that their memory becomes free at no earlier
  /// time without the others.
  static bool mayJoinNeighbours(KernelOp kernel) {
    return kernel.getNumResults() > 0 && elementsOf(kernel.getResult(0)) > 1 &&
           isElementwise(kernel) && llvm::all_of(kernel.getInputs(), [](Value input) {
             return isArgument(input) || elementsOf(input) <= kFewElements;
           });
  }

  /// Whether kernels before `op` may run after it: it needs only arguments of the function, so it
  /// does not have to run early.
  static bool mayRunFirst(Operation *op) {
    return isa<ConstantOp>(op) || getFusionKind(op) == FusionKind::view ||
           (isa<KernelOp>(op) && llvm::all_of(op->getOperands(), isArgument));
  }

  /// Joins elementwise kernels with nothing between them but views and kernels that change the
  /// layout of arguments.
  void joinNeighbours(Block &block) {
    Batch batch;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto kernel = dyn_cast<KernelOp>(op);
      if (kernel && getJoined(kernel).empty() && mayJoinNeighbours(kernel)) {
        if (!batch.isEmpty() &&
            (batch.getSize() == most || !batch.fits(kernel) || !batch.isBeforeReaders(kernel)))
          batch.join();
        batch.add(kernel);
      } else if (!mayRunFirst(&op)) {
        batch.join();
      }
    }
    batch.join();
  }

  size_t most = 1;
};
} // namespace
