// Schedules the pieces of all stages, and orders all messages.

#include "passes/Stages/Passes.h"

#include "passes/Prices/OpPrices.h"
#include "planning/StageOrder.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Pieces.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"
#include "planning/EventSimulator.h"
#include "planning/PipelineSchedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_SCHEDULEPIPELINE
#include "passes/Stages/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

/// The pipelined loop of a stage.
struct StageLoop {
  int64_t stage = 0;
  dist::MicroOp loop;
  SmallVector<dist::PieceOp> pieces;
  /// The position of the stage among the stages that have pieces.
  unsigned position = 0;
};

/// A message between two pipelined loops. Pieces are positions in StageLoop::pieces; nullopt if no
/// piece computes or reads the value.
struct LoopMessage {
  dist::SendOp send;
  dist::RecvOp recv;
  const StageLoop *from = nullptr, *to = nullptr;
  std::optional<unsigned> maker, reader;
};

PieceKind kindOf(dist::PieceOp piece) {
  return piece.getKind() == "F"   ? PieceKind::forward
         : piece.getKind() == "B" ? PieceKind::backward
                                  : PieceKind::weight;
}

/// Builds the schedule problem of a program, and gives each loop its order.
class PipelineScheduling {
public:
  /// `heldBytes` is the pass's option `held-bytes`.
  PipelineScheduling(ArrayRef<StageLoop> loops, const MeshPrices &prices, ScheduleKind kind,
                     bool overlap, ArrayRef<int64_t> heldBytes)
      : loops(loops), prices(prices), overlap(overlap) {
    problem.kind = kind;
    problem.stages = loops.size();
    for (const StageLoop &each : loops)
      problem.capacity.push_back(each.stage < int64_t(heldBytes.size()) ? heldBytes[each.stage]
                                                                        : 0);
    dist::MicroOp first = loops.front().loop;
    problem.microbatches = first.getCount();
  }

  LogicalResult run(ModuleOp root) {
    for (const StageLoop &each : loops)
      for (dist::PieceOp piece : each.pieces)
        chunkNumbers[piece.getChunk()];
    problem.chunks.resize(chunkNumbers.size());
    for (auto [index, number] : llvm::enumerate(llvm::make_second_range(chunkNumbers)))
      number = index;
    for (const StageLoop &each : loops)
      addPieces(each);
    findMessages();
    addEdges();
    llvm::Expected<PipelineSchedule> schedule = schedulePipeline(problem);
    llvm::Error error = schedule ? schedule->verify(problem) : schedule.takeError();
    if (error)
      return loops.front().loop->emitError("schedule: ") << llvm::toString(std::move(error));
    const std::vector<std::vector<int64_t>> ends = schedule->findEnds(problem);
    describe(root, *schedule, ends);
    giveOrders(*schedule, ends);
    return success();
  }

private:
  int64_t nanoseconds(dist::MicroOp loop, dist::PieceOp piece) const {
    double seconds = 0;
    for (OpOperand &yielded : loop.getBodyBlock().getTerminator()->getOpOperands())
      if (yielded.get().getDefiningOp() == piece &&
          loop.getResultKind(yielded.getOperandNumber()) == dist::MicroKind::summed)
        seconds += workSeconds(prices.device(), workOfSum(yielded.get()));
    piece.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto collective = dyn_cast<dist::CollectiveOpInterface>(op))
        seconds += priceCollective(collective, prices).seconds;
      if (!isa<KernelOpInterface>(op))
        return WalkResult::advance();
      seconds += kernelSeconds(prices.device(), workOfKernel(op));
      return WalkResult::skip();
    });
    return int64_t(1e9 * seconds);
  }

  static bool isReadIn(Operation *piece, Value value) {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return piece->isProperAncestor(user); });
  }

  /// The position of the piece of `each` that reads `value` last; -1 if none reads it.
  static int64_t lastReader(const StageLoop &each, Value value) {
    int64_t last = -1;
    for (auto [index, piece] : llvm::enumerate(each.pieces))
      if (isReadIn(piece, value))
        last = index;
    return last;
  }

  void addPieces(const StageLoop &each) {
    for (size_t index = 0; index < each.pieces.size(); ++index) {
      dist::PieceOp piece = each.pieces[index];
      PipelineProblem::Chunk &chunk = problem.chunks[chunkOf(piece)];
      chunk.stage = each.position;
      // The scheduler starts each chunk with its forward piece. A chunk without one has an empty
      // one.
      chunk.pieces[0].exists = true;
      PipelineProblem::Piece &own = chunk.pieces[unsigned(kindOf(piece))];
      own.exists = true;
      own.durationNs = nanoseconds(each.loop, piece);
      // What this piece and the earlier ones of its chunk leave for later pieces, and what they
      // have received.
      auto addHeld = [&](Value value) {
        if (lastReader(each, value) > int64_t(index))
          own.heldBytes += tensorBytes(value.getType());
      };
      for (dist::PieceOp maker : ArrayRef(each.pieces).take_front(index + 1)) {
        if (maker.getChunk() != piece.getChunk())
          continue;
        llvm::for_each(maker.getResults(), addHeld);
        for (auto recv : piece->getBlock()->getOps<dist::RecvOp>())
          if (firstReader(each, recv.getResult()) == maker)
            addHeld(recv.getResult());
      }
    }
    // No later piece of a chunk frees the values that its last piece leaves for other chunks of the
    // stage. They live for a short time, so the schedule does not count them.
    for (PipelineProblem::Chunk &chunk : problem.chunks)
      for (PipelineProblem::Piece &last : llvm::reverse(chunk.pieces))
        if (last.exists) {
          last.heldBytes = 0;
          break;
        }
  }

  /// The first piece of `each` that reads `value`; null if none reads it.
  static dist::PieceOp firstReader(const StageLoop &each, Value value) {
    const auto *found =
        llvm::find_if(each.pieces, [&](dist::PieceOp piece) { return isReadIn(piece, value); });
    return found == each.pieces.end() ? dist::PieceOp() : *found;
  }

  void findMessages() {
    std::map<int64_t, LoopMessage> byNumber;
    for (const StageLoop &each : loops)
      for (Operation &op : each.loop->getRegion(0).front()) {
        if (auto send = dyn_cast<dist::SendOp>(op)) {
          LoopMessage &message = byNumber[send.getNumber()];
          message.send = send;
          message.from = &each;
          for (auto [index, piece] : llvm::enumerate(each.pieces))
            if (send.getInput().getDefiningOp() == piece)
              message.maker = index;
        } else if (auto recv = dyn_cast<dist::RecvOp>(op)) {
          LoopMessage &message = byNumber[recv.getNumber()];
          message.recv = recv;
          message.to = &each;
          // The first piece that reads the value waits for it.
          for (size_t index = each.pieces.size(); index-- > 0;)
            if (isReadIn(each.pieces[index], recv.getResult()))
              message.reader = index;
        }
      }
    for (auto &[number, message] : byNumber)
      messages.push_back(message);
  }

  unsigned chunkOf(dist::PieceOp piece) const {
    return chunkNumbers.find(piece.getChunk())->second;
  }

  void addEdge(dist::PieceOp from, dist::PieceOp to, double seconds) {
    problem.edges.push_back(
        {chunkOf(from), kindOf(from), chunkOf(to), kindOf(to), int64_t(1e9 * seconds)});
  }

  void addEdges() {
    // Chunks of one stage pass each other values without messages.
    for (const StageLoop &each : loops)
      for (dist::PieceOp from : each.pieces)
        for (dist::PieceOp to : each.pieces)
          if (from.getChunk() != to.getChunk() && from->isBeforeInBlock(to) &&
              llvm::any_of(from.getResults(), [&](Value value) { return isReadIn(to, value); }))
            addEdge(from, to, 0);
    for (LoopMessage message : messages) {
      if (!message.maker || !message.reader)
        continue;
      const Price price =
          prices.message(tensorBytes(message.send.getInput().getType()), dist::kPipeAxis);
      addEdge(message.from->pieces[*message.maker], message.to->pieces[*message.reader],
              price.seconds);
    }
  }

  /// A message of one microbatch.
  struct Due {
    int64_t readyNs;
    size_t message;
    int64_t microbatch;
    bool operator<(const Due &other) const {
      return std::tie(readyNs, message, microbatch) <
             std::tie(other.readyNs, other.message, other.microbatch);
    }
  };

  /// Sets the attribute `dist.pipeline` of the root.
  void describe(ModuleOp root, const PipelineSchedule &schedule,
                ArrayRef<std::vector<int64_t>> allEnds) const {
    Builder builder(root.getContext());
    // A stage without pieces has an empty row.
    const size_t stages = loops.back().stage + 1;
    SmallVector<Attribute> rows(stages, builder.getStringAttr("")),
        starts(stages, builder.getDenseI64ArrayAttr({})), ends(starts);
    SmallVector<int64_t> held(stages), least(stages);
    const std::vector<int64_t> smallest = findSmallestPeaks(problem);
    for (const StageLoop &each : loops) {
      const std::vector<PieceRun> &runs = schedule.stages[each.position];
      std::string row;
      SmallVector<int64_t> from, to;
      for (const PieceRun &run : runs) {
        const unsigned kind = unsigned(run.kind);
        const int64_t end = allEnds[run.chunk * kPieceKinds + kind][run.microbatch];
        row += (row.empty() ? "" : " ") +
               PieceRun{run.kind, unsigned(numberOf(run.chunk)), run.microbatch}.toString();
        to.push_back(end);
        from.push_back(end - problem.chunks[run.chunk].pieces[kind].durationNs);
      }
      held[each.stage] = schedule.peakBytes[each.position];
      least[each.stage] = smallest[each.position];
      rows[each.stage] = builder.getStringAttr(row);
      starts[each.stage] = builder.getDenseI64ArrayAttr(from);
      ends[each.stage] = builder.getDenseI64ArrayAttr(to);
    }
    root->setAttr(dist::DistDialect::kPipelineAttrName,
                  dist::PipelineAttr::get(
                      root.getContext(), nameOf(problem.kind),
                      int64_t(1e6 * schedule.bubble(problem)), builder.getArrayAttr(rows),
                      builder.getArrayAttr(starts), builder.getArrayAttr(ends),
                      builder.getDenseI64ArrayAttr(held), builder.getDenseI64ArrayAttr(least)));
  }

  /// The chunk of the pipeline with the number `index` in the problem.
  int64_t numberOf(unsigned index) const {
    return llvm::find_if(chunkNumbers, [&](const auto &each) { return each.second == index; })
        ->first;
  }

  /// Sets the attribute `dist.order` of each loop.
  void giveOrders(const PipelineSchedule &schedule, ArrayRef<std::vector<int64_t>> ends) {
    const std::vector<Due> due = orderMessages(ends);
    for (const StageLoop &each : loops)
      giveOrder(each, schedule, due, ends);
  }

  /// All messages of all microbatches, by the time at which the schedule has them ready.
  std::vector<Due> orderMessages(ArrayRef<std::vector<int64_t>> ends) const {
    std::vector<Due> due;
    for (auto [index, message] : llvm::enumerate(messages))
      for (unsigned m = 0; m < problem.microbatches; ++m) {
        int64_t ready = 0;
        if (message.maker) {
          dist::PieceOp maker = message.from->pieces[*message.maker];
          ready = ends[chunkOf(maker) * kPieceKinds + unsigned(kindOf(maker))][m];
        }
        due.push_back({ready, index, m});
      }
    llvm::sort(due);
    return due;
  }

  void giveOrder(const StageLoop &each, const PipelineSchedule &schedule, ArrayRef<Due> due,
                 ArrayRef<std::vector<int64_t>> ends) const {
    OrderBuilder builder(each, *this, due);
    for (const PieceRun &run : schedule.stages[each.position])
      builder.run(run, ends[run.chunk * kPieceKinds + unsigned(run.kind)][run.microbatch]);
    Operation *loop = each.loop;
    loop->setAttr(dist::DistDialect::kOrderAttrName,
                  StringAttr::get(loop->getContext(), builder.finish().toString()));
  }

  /// Builds the order of one stage.
  class OrderBuilder {
  public:
    OrderBuilder(const StageLoop &own, const PipelineScheduling &all, ArrayRef<Due> due)
        : own(own), all(all) {
      for (const Due &next : due)
        if (messageOf(next).from == &own || messageOf(next).to == &own)
          messages.push_back(next);
    }

    /// Adds a piece that ends at `endNs` in the schedule.
    void run(const PieceRun &run, int64_t endNs) {
      const auto *found = llvm::find_if(own.pieces, [&](dist::PieceOp each) {
        return kindOf(each) == run.kind && all.chunkOf(each) == run.chunk;
      });
      if (found == own.pieces.end()) // the empty forward piece of addPieces
        return;
      const int64_t piece = found - own.pieces.begin();
      startNeeded([&](const LoopMessage &message, int64_t microbatch) {
        return message.to == &own && microbatch == run.microbatch && message.reader &&
               int64_t(*message.reader) == piece;
      });
      // Wait for what this piece reads, and for what was sent before the last piece.
      finishNeeded([&](const Flight &flight) {
        return flight.isSent ? pieces >= flight.pieces + 2
                             : flight.microbatch == run.microbatch && flight.reader == piece;
      });
      startReady(endNs);
      order.steps.push_back({StageStep::run, piece, run.microbatch});
      ++pieces;
      startNeeded([&](const LoopMessage &message, int64_t microbatch) {
        return message.from == &own && microbatch == run.microbatch && message.maker &&
               int64_t(*message.maker) == piece;
      });
    }

    StageOrder finish() {
      startNeeded([](const LoopMessage &, int64_t) { return true; });
      finishNeeded([](const Flight &) { return true; });
      return std::move(order);
    }

  private:
    /// A message that this stage has started, and has not waited for.
    struct Flight {
      int64_t number, microbatch;
      bool isSent;
      int64_t reader; ///< of a received message: the piece that reads it; -1 if none does
      int64_t pieces; ///< the number of pieces that had run when it started
    };

    const LoopMessage &messageOf(const Due &due) const { return all.messages[due.message]; }

    /// Starts the messages up to the last one for which `isNeeded` is true.
    void startNeeded(llvm::function_ref<bool(const LoopMessage &, int64_t)> isNeeded) {
      size_t end = started;
      for (size_t i = started; i < messages.size(); ++i)
        if (isNeeded(messageOf(messages[i]), messages[i].microbatch))
          end = i + 1;
      startNext(end - started);
    }

    /// Starts the next `count` messages of the order.
    void startNext(size_t count) {
      for (const size_t end = started + count; started < end; ++started) {
        LoopMessage message = messageOf(messages[started]);
        const bool sends = message.from == &own;
        Flight flight{int64_t(sends ? message.send.getNumber() : message.recv.getNumber()),
                      messages[started].microbatch, sends,
                      !sends && message.reader ? int64_t(*message.reader) : -1, pieces};
        order.steps.push_back(
            {sends ? StageStep::send : StageStep::recv, flight.number, flight.microbatch});
        flights.push_back(flight);
        if (sends && !all.overlap)
          finishNeeded([&](const Flight &other) {
            return other.number == flight.number && other.microbatch == flight.microbatch;
          });
      }
    }

    /// Starts the messages that are ready before `endNs`. If a piece runs until then, its stage
    /// does not keep these messages, and those that follow them at their other ends, waiting.
    void startReady(int64_t endNs) {
      size_t count = 0;
      for (const Due &next : ArrayRef(messages).drop_front(started)) {
        // A message that this stage computes itself is ready only after the piece.
        if (next.readyNs >= endNs || messageOf(next).from == &own)
          break;
        ++count;
      }
      startNext(count);
    }

    /// Waits for the messages for which `isNeeded` is true, in the order in which they started.
    void finishNeeded(llvm::function_ref<bool(const Flight &)> isNeeded) {
      llvm::erase_if(flights, [&](const Flight &flight) {
        if (!isNeeded(flight))
          return false;
        order.steps.push_back({StageStep::wait, flight.number, flight.microbatch});
        return true;
      });
    }

    const StageLoop &own;
    const PipelineScheduling &all;
    /// The messages of this stage in the total order. The first `started` of them have started.
    SmallVector<Due> messages;
    size_t started = 0;
    std::vector<Flight> flights;
    int64_t pieces = 0;
    StageOrder order;
  };

  ArrayRef<StageLoop> loops;
  const MeshPrices &prices;
  const bool overlap;
  PipelineProblem problem;
  /// By chunk of the pipeline: its number in `problem`.
  std::map<int64_t, unsigned> chunkNumbers;
  std::vector<LoopMessage> messages;
};

struct SchedulePipelinePass : dpc::impl::SchedulePipelineBase<SchedulePipelinePass> {
  using SchedulePipelineBase::SchedulePipelineBase;

  void runOnOperation() override {
    SmallVector<StageLoop> loops;
    for (dist::RankProgram program : dist::programsOf(getOperation())) {
      auto step = program.module.lookupSymbol<func::FuncOp>("step");
      if (!program.stage || !step)
        continue;
      for (auto loop : step.front().getOps<dist::MicroOp>())
        if (SmallVector<dist::PieceOp> pieces = dist::piecesOf(loop); !pieces.empty())
          loops.push_back({*program.stage, loop, pieces, unsigned(loops.size())});
    }
    if (loops.empty())
      return;
    FailureOr<MeshPrices> prices = dist::getMeshPrices(getOperation());
    std::optional<ScheduleKind> kind = parseSchedule(schedule);
    if (failed(prices))
      return signalPassFailure();
    if (!kind) {
      getOperation().emitError("unknown schedule '") << schedule << "'";
      return signalPassFailure();
    }
    if (failed(PipelineScheduling(loops, *prices, *kind, overlap, heldBytes).run(getOperation())))
      signalPassFailure();
  }
};

} // namespace
