// Finds by dataflow the ops of an iteration that are its forward piece, its backward piece and the
// piece of its gradients of weights.

#include "passes/Stages/PieceSets.h"

#include "dialects/Interfaces/FusableOpInterface.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace dpc;

static constexpr unsigned kForward = unsigned(PieceKind::forward),
                          kBackward = unsigned(PieceKind::backward),
                          kWeight = unsigned(PieceKind::weight);

PieceSets::PieceSets(dist::MicroOp loop, int64_t stage, bool splitsWeights)
    : body(loop.getBodyBlock()), stage(stage) {
  for (Operation &op : body)
    isPipelined |= dist::isMessage(&op) && isBackward(&op);
  if (!isPipelined)
    return;
  findFree();
  findKinds(splitsWeights);
  moveToReaders();
}

bool PieceSets::isBackward(Operation *message) const {
  if (auto send = dyn_cast<dist::SendOp>(message))
    return int64_t(send.getStage()) < stage;
  auto recv = dyn_cast<dist::RecvOp>(message);
  return recv && int64_t(recv.getStage()) > stage;
}

void PieceSets::findFree() {
  for (Operation &op : body.without_terminator()) {
    const FusionKind kind = getFusionKind(&op);
    const bool isCheap =
        kind == FusionKind::repeated || kind == FusionKind::view || isa<dist::AxisIndexOp>(op);
    // A piece computes what is sent or yielded, because messages and loops cannot repeat it.
    const bool leaves = llvm::any_of(op.getUsers(), [](Operation *user) {
      return dist::isMessage(user) || isa<dist::YieldOp>(user);
    });
    if (isCheap && !leaves && isMemoryEffectFree(&op) && op.getNumRegions() == 0)
      free.insert(&op);
  }
}

void PieceSets::addReaders(Value value, SmallVectorImpl<Operation *> &readers) const {
  for (Operation *user : value.getUsers()) {
    Operation *op = body.findAncestorOpInBlock(*user);
    if (!free.contains(op)) {
      readers.push_back(op);
      continue;
    }
    for (Value result : op->getResults())
      addReaders(result, readers);
  }
}

void PieceSets::findKinds(bool splitsWeights) {
  // Forward over the ops: what depends on a message from a later stage. Free ops take part, so that
  // their readers know.
  for (Operation &op : body.without_terminator()) {
    unsigned kind = kForward;
    if (isa<dist::RecvOp>(op) && isBackward(&op))
      kind = kBackward;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *maker = operand.getDefiningOp(); maker && maker->getBlock() == &body)
          kind = std::max(kind, kinds.lookup(maker));
    });
    kinds[&op] = kind;
  }
  if (!splitsWeights)
    return;
  // Backward over the ops: what a message to an earlier stage needs stays, and the rest of the
  // backward pass is `weight`. A stage without messages from later stages computes its backward
  // pass with the forward one, and only what no message needs can be `weight` there.
  llvm::DenseSet<Operation *> needed;
  const bool isLast =
      llvm::none_of(body, [&](Operation &op) { return isa<dist::RecvOp>(op) && isBackward(&op); });
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (isa<dist::SendOp>(op))
      needed.insert(&op);
    if (needed.contains(&op)) {
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *maker = operand.getDefiningOp(); maker && maker->getBlock() == &body)
            needed.insert(maker);
      });
      continue;
    }
    if (kinds.lookup(&op) == kBackward || (isLast && !isa<dist::RecvOp>(op)))
      kinds[&op] = kWeight;
  }
}

void PieceSets::moveToReaders() {
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (free.contains(&op) || dist::isMessage(&op) || kinds.lookup(&op) == kWeight)
      continue;
    SmallVector<Operation *> readers;
    for (Value result : op.getResults())
      addReaders(result, readers);
    unsigned first = kWeight;
    for (Operation *reader : readers)
      first = std::min(first, reader->hasTrait<OpTrait::IsTerminator>() || dist::isMessage(reader)
                                  ? kinds.lookup(&op)
                                  : kinds.lookup(reader));
    if (readers.empty() || first <= kinds.lookup(&op))
      continue;
    // The bytes that the later piece would keep in place of the results of the op.
    int64_t more = 0;
    for (Value operand : op.getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (!maker || maker->getBlock() != &body)
        continue;
      SmallVector<Operation *> others;
      addReaders(operand, others);
      if (llvm::none_of(others, [&](Operation *other) {
            return other != &op && !other->hasTrait<OpTrait::IsTerminator>() &&
                   kinds.lookup(other) >= first;
          }))
        more += tensorBytes(operand.getType());
    }
    int64_t less = 0;
    for (Value result : op.getResults())
      less += tensorBytes(result.getType());
    if (more < less)
      kinds[&op] = first;
  }
}
