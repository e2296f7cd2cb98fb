// Moves the ops of each iteration of a pipelined loop into pieces.

#include "passes/Stages/Passes.h"

#include "passes/Stages/PieceSets.h"

#include "dialects/Dist/IR/Pieces.h"
#include "dialects/Dist/IR/PlanAttr.h"
#include "dialects/Dist/IR/Stages.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FORMPIECES
#include "passes/Stages/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

/// Forms the pieces of one loop.
class PieceForming {
public:
  PieceForming(dist::MicroOp loop, const PieceSets &sets)
      : body(loop.getBodyBlock()), sets(sets), ops(sets.getRanks()), yieldedAsIs(sets.getRanks()) {}

  void run() {
    for (Operation &op : body.without_terminator())
      if (dist::isMessage(&op))
        messages.push_back(&op);
      else if (!sets.isFree(&op))
        ops[sets.rankOf(&op)].push_back(&op);
    // What the loop yields is a result of a piece, also if no piece computes it.
    for (OpOperand &yielded : body.getTerminator()->getOpOperands())
      if (Operation *maker = yielded.get().getDefiningOp(); !maker || dist::isMessage(maker))
        yieldedAsIs[maker ? sets.rankOf(maker) : 0].push_back(&yielded);
    for (PieceRank rank = 0; rank < sets.getRanks(); ++rank) {
      moveReceives(rank);
      form(rank);
      moveSends();
    }
    SmallVector<Operation *> left;
    for (Operation &op : body.without_terminator())
      if (sets.isFree(&op))
        left.push_back(&op);
    for (Operation *op : llvm::reverse(left))
      if (op->use_empty())
        op->erase();
  }

private:
  /// Moves the receives that belong to the piece `rank` to the end of the block.
  void moveReceives(PieceRank rank) {
    for (Operation *message : messages)
      if (isa_and_nonnull<dist::RecvOp>(message) && sets.rankOf(message) == rank)
        message->moveBefore(body.getTerminator());
  }

  /// Moves the sends whose operands are now available to the end of the block, so that they follow
  /// the piece that computes these operands.
  void moveSends() {
    for (Operation *&message : messages) {
      auto send = dyn_cast_or_null<dist::SendOp>(message);
      if (!send)
        continue;
      Operation *maker = send.getInput().getDefiningOp();
      if (maker && maker->getBlock() == &body && !isa<dist::PieceOp>(maker))
        continue;
      send->moveBefore(body.getTerminator());
      message = nullptr;
    }
  }

  /// Moves the ops of the piece `rank` into a piece. Its results are the values that other ops of
  /// the iteration read.
  void form(PieceRank rank) {
    SmallVector<Operation *> &own = ops[rank];
    ArrayRef<OpOperand *> passed = yieldedAsIs[rank];
    if (own.empty() && passed.empty())
      return;
    const llvm::DenseSet<Operation *> members(own.begin(), own.end());
    llvm::SetVector<Value> results;
    for (Operation *op : own)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(),
                         [&](Operation *user) { return isReadLater(user, members); }))
          results.insert(result);
    Location loc = own.empty() ? body.getTerminator()->getLoc() : own.front()->getLoc();
    OpBuilder builder(body.getTerminator());
    SmallVector<Type> types;
    for (Value result : results)
      types.push_back(result.getType());
    for (OpOperand *yielded : passed)
      types.push_back(yielded->get().getType());
    auto piece = builder.create<dist::PieceOp>(
        loc, types, builder.getStringAttr(StringRef("FBW").substr(unsigned(sets.kindOf(rank)), 1)),
        builder.getI64IntegerAttr(sets.chunkOf(rank)));
    Block *inside = builder.createBlock(&piece.getBody());
    builder.setInsertionPointToEnd(inside);
    IRMapping copies;
    for (Operation *op : own) {
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          copyFree(operand, builder, copies);
      });
      op->moveBefore(inside, inside->end());
      op->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (Value copy = copies.lookupOrNull(operand.get()))
            operand.set(copy);
      });
      builder.setInsertionPointToEnd(inside);
    }
    SmallVector<Value> yielded(results.getArrayRef());
    for (OpOperand *operand : passed)
      yielded.push_back(operand->get());
    builder.setInsertionPointToEnd(inside);
    builder.create<dist::YieldOp>(loc, yielded);
    for (auto [index, made] : llvm::enumerate(results.getArrayRef())) {
      Value value = made;
      value.replaceUsesWithIf(piece.getResult(index), [&](OpOperand &use) {
        return !piece.getBody().isAncestor(use.getOwner()->getParentRegion());
      });
    }
    for (auto [operand, result] :
         llvm::zip_equal(passed, piece.getResults().drop_front(results.size())))
      operand->set(result);
  }

  /// Whether `user` is outside of the piece with the ops `members`. A free op is outside if an op
  /// outside reads its result.
  bool isReadLater(Operation *user, const llvm::DenseSet<Operation *> &members) const {
    Operation *op = body.findAncestorOpInBlock(*user);
    if (members.contains(op))
      return false;
    return !sets.isFree(op) || llvm::any_of(op->getUsers(), [&](Operation *reader) {
      return isReadLater(reader, members);
    });
  }

  /// Copies the free op that computes `value`, and the free ops that it reads, to the end of a
  /// piece.
  void copyFree(Value value, OpBuilder &builder, IRMapping &copies) {
    Operation *op = value.getDefiningOp();
    if (!op || !sets.isFree(op) || copies.contains(value))
      return;
    for (Value operand : op->getOperands())
      copyFree(operand, builder, copies);
    builder.clone(*op, copies);
  }

  Block &body;
  const PieceSets &sets;
  SmallVector<Operation *> messages;
  /// By rank: the ops of the piece.
  std::vector<SmallVector<Operation *>> ops;
  /// By rank: the operands of the terminator that are block arguments or received values.
  std::vector<SmallVector<OpOperand *>> yieldedAsIs;
};

struct FormPiecesPass : dpc::impl::FormPiecesBase<FormPiecesPass> {
  using FormPiecesBase::FormPiecesBase;

  void runOnOperation() override {
    const std::optional<int64_t> stage = dist::stageOf(getOperation());
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!stage || !step)
      return;
    if (dist::MicroOp loop = findPipelined(step))
      PieceForming(loop, PieceSets(loop, *stage, splitsWeights)).run();
  }

private:
  /// The loop whose microbatches the stages compute one after the other: the loop with messages. If
  /// several have messages, it is the one with messages to earlier chunks or from later ones. Null
  /// if there is no such loop.
  static dist::MicroOp findPipelined(func::FuncOp step) {
    SmallVector<dist::MicroOp> loops, backward;
    for (auto loop : step.front().getOps<dist::MicroOp>()) {
      const auto messages = llvm::make_filter_range(
          loop.getBodyBlock(), [](Operation &op) { return dist::isMessage(&op); });
      if (messages.empty())
        continue;
      loops.push_back(loop);
      if (llvm::any_of(messages, [](Operation &op) { return dist::isBackwardMessage(&op); }))
        backward.push_back(loop);
    }
    ArrayRef<dist::MicroOp> found = loops.size() == 1 ? loops : backward;
    return found.size() == 1 ? found.front() : dist::MicroOp();
  }
};

} // namespace
