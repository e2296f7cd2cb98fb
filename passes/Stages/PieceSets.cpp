// Finds by dataflow the ops of an iteration that are its forward piece, its backward piece and the
// piece of its gradients of weights.

#include "passes/Stages/PieceSets.h"

#include "dialects/Interfaces/FusableOpInterface.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace dpc;

PieceSets::PieceSets(dist::MicroOp loop, int64_t stage, bool splitsWeights)
    : body(loop.getBodyBlock()) {
  findChunks(stage);
  findFree();
  findRanks();
  if (splitsWeights)
    splitWeights();
  moveToReaders();
}

void PieceSets::findChunks(int64_t stage) {
  chunks.push_back(stage);
  for (auto recv : body.getOps<dist::RecvOp>())
    chunks.push_back(recv.getChunk().value_or(stage));
  llvm::sort(chunks);
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
}

PieceRank PieceSets::rankOfMessage(dist::RecvOp recv) const {
  const PieceRank place =
      recv.getChunk() ? llvm::find(chunks, int64_t(*recv.getChunk())) - chunks.begin() : 0;
  return recv.getBackward() ? chunks.size() + 2 * (chunks.size() - 1 - place) : place;
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

/// Calls visit(maker) for each op of `body` whose result `op` reads.
static void forEachMaker(Block &body, Operation *op, llvm::function_ref<void(Operation *)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && maker->getBlock() == &body)
        visit(maker);
  });
}

void PieceSets::findRanks() {
  // Free ops take part, so that their readers know.
  for (Operation &op : body.without_terminator()) {
    auto recv = dyn_cast<dist::RecvOp>(op);
    PieceRank rank = recv ? rankOfMessage(recv) : 0;
    forEachMaker(body, &op, [&](Operation *maker) { rank = std::max(rank, ranks.lookup(maker)); });
    ranks[&op] = rank;
  }
}

/// Backward over the ops: what a message needs stays, and the rest of a backward piece becomes the
/// piece of gradients of the same chunk. The last chunk of the pipeline receives nothing in its
/// backward pass and computes it with the forward one, and only what no message needs can be
/// gradients there.
void PieceSets::splitWeights() {
  const PieceRank lastForward = chunks.size() - 1;
  const bool isLast = llvm::none_of(body.getOps<dist::RecvOp>(), [&](dist::RecvOp recv) {
    return rankOfMessage(recv) == lastForward + 1;
  });
  llvm::DenseSet<Operation *> needed;
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (isa<dist::SendOp>(op))
      needed.insert(&op);
    if (needed.contains(&op)) {
      forEachMaker(body, &op, [&](Operation *maker) { needed.insert(maker); });
      continue;
    }
    PieceRank &rank = ranks[&op];
    if (kindOf(rank) == PieceKind::backward)
      ++rank;
    else if (isLast && rank == lastForward && !isa<dist::RecvOp>(op))
      rank += 2;
  }
}

void PieceSets::moveToReaders() {
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    const PieceRank own = ranks.lookup(&op);
    if (free.contains(&op) || dist::isMessage(&op) || kindOf(own) == PieceKind::weight)
      continue;
    SmallVector<Operation *> readers;
    for (Value result : op.getResults())
      addReaders(result, readers);
    PieceRank first = getRanks(), last = 0;
    for (Operation *reader : readers) {
      const bool isFixed = reader->hasTrait<OpTrait::IsTerminator>() || dist::isMessage(reader);
      const PieceRank rank = isFixed ? own : ranks.lookup(reader);
      first = std::min(first, rank);
      last = std::max(last, rank);
    }
    // A stage may run a piece of gradients after later pieces, so those do not read its results.
    if (readers.empty() || first <= own ||
        (kindOf(first) == PieceKind::weight && kindOf(last) != PieceKind::weight))
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
                   ranks.lookup(other) >= first;
          }))
        more += tensorBytes(operand.getType());
    }
    int64_t less = 0;
    for (Value result : op.getResults())
      less += tensorBytes(result.getType());
    if (more < less)
      ranks[&op] = first;
  }
}
