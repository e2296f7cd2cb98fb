// Builds the tables of a play from functions on tensors.

#include "passes/Play/OrderedPlay.h"

#include "passes/Play/PlayTables.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Pieces.h"
#include "dialects/Interfaces/FusableOpInterface.h"
#include "passes/Prices/OpPrices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace dpc;

/// The most bytes that values of `block` have at one time, with its arguments. New values of state
/// take the place of the old ones. Views have no bytes, and keep those of their sources.
static double findLiveBytes(Block &block) {
  DenseMap<Operation *, int64_t> positions;
  int64_t count = 0;
  for (Operation &op : block)
    positions[&op] = count++;
  std::vector<double> change(count + 2);
  for (Operation &op : block.without_terminator()) {
    const int64_t begin = positions.lookup(&op);
    double inner = 0;
    for (Region &region : op.getRegions())
      if (!isa<KernelOpInterface>(op) && !region.empty())
        inner = std::max(inner, findLiveBytes(region.front()));
    change[begin] += inner;
    change[begin + 1] -= inner;
    if (isView(&op))
      continue;
    for (Value result : op.getResults()) {
      int64_t end = begin;
      bool isReturned = false;
      SmallVector<Value> aliases = {result};
      while (!aliases.empty())
        for (Operation *user : aliases.pop_back_val().getUsers()) {
          Operation *own = block.findAncestorOpInBlock(*user);
          isReturned |= own == block.getTerminator();
          end = std::max(end, positions.lookup(own));
          if (own == user && isView(user))
            aliases.append(user->result_begin(), user->result_end());
        }
      if (isReturned)
        continue;
      change[begin] += tensorBytes(result.getType());
      change[end + 1] -= tensorBytes(result.getType());
    }
  }
  double live = 0, most = 0;
  for (double each : change)
    most = std::max(most, live += each);
  for (BlockArgument argument : block.getArguments())
    most += tensorBytes(argument.getType());
  return most;
}

namespace {

/// Builds the table of one function.
class OrderedTable {
public:
  OrderedTable(PlayTables &all, bool overlaps) : all(all), overlaps(overlaps) {}

  PlayTable build(func::FuncOp function) {
    footprint = findLiveBytes(function.front());
    visit(function.front());
    waitForAll();
    return std::move(table);
  }

private:
  void visit(Block &block) {
    for (Operation &op : block.without_terminator())
      visit(&op);
  }

  void visit(Operation *op) {
    if (dist::isMessage(op))
      return;
    if (isView(op)) {
      for (Value result : op->getResults())
        pass(op->getOperand(0), result);
    } else if (auto collective = dyn_cast<dist::CollectiveOpInterface>(op)) {
      waitForOperands(op);
      start(collective);
    } else if (auto loop = dyn_cast<dist::MicroOp>(op)) {
      waitForAll(); // no collective may be in flight while a loop runs
      for (int64_t i = 0; i < int64_t(loop.getCount()); ++i) {
        visit(loop.getBodyBlock());
        addToResults(loop);
        waitForAll();
      }
    } else if (auto piece = dyn_cast<dist::PieceOp>(op)) {
      visit(piece.getBodyBlock());
      waitForAll();
    } else {
      waitForOperands(op);
      if (isa<KernelOpInterface>(op))
        compute(workOfKernel(op));
    }
  }

  void compute(Work work) {
    work.footprint = footprint;
    PlayTables::addCompute(table, kernelSeconds(all.prices.device(), work), /*number=*/0);
  }

  /// An iteration adds to the sums of a loop, and copies what the loop stacks.
  void addToResults(dist::MicroOp loop) {
    for (auto [index, value] :
         llvm::enumerate(loop.getBodyBlock().getTerminator()->getOperands())) {
      if (loop.getResultKind(index) == dist::MicroKind::summed)
        compute(workOfSum(value));
      else
        compute({/*flops=*/0, 2. * tensorBytes(value.getType()), KernelClass::copy});
    }
  }

  void start(dist::CollectiveOpInterface op) {
    PlayOperation operation;
    operation.collective = priceKindOf(op.getCollective());
    operation.bytes =
        std::max(tensorBytes(op->getOperand(0).getType()), tensorBytes(op->getResult(0).getType()));
    operation.family = all.familyOf(dist::axesOf(op), {});
    const size_t started = PlayTables::addStart(table, operation, /*number=*/0);
    inFlight.push_back({op->getResult(0), started});
    // A gather usually writes around its operand (dpc-compute-in-place), so that a reader of the
    // operand waits too.
    if (op.getCollective() == dist::Collective::all_gather)
      inFlight.push_back({op->getOperand(0), started});
    if (!overlaps)
      waitForAll();
  }

  /// Makes `view` a view of the result of the same collective as `value`, if any is in flight.
  void pass(Value value, Value view) {
    for (size_t i = 0, e = inFlight.size(); i < e; ++i)
      if (inFlight[i].first == value)
        inFlight.push_back({view, inFlight[i].second});
  }

  void waitForOperands(Operation *op) {
    for (Value operand : op->getOperands()) {
      auto known = llvm::find_if(inFlight, [&](const auto &each) { return each.first == operand; });
      if (known != inFlight.end())
        waitFor(known->second);
    }
  }

  void waitForAll() {
    while (!inFlight.empty())
      waitFor(inFlight.front().second);
  }

  void waitFor(size_t started) {
    PlayTables::addWait(table, started);
    llvm::erase_if(inFlight, [&](const auto &each) { return each.second == started; });
  }

  PlayTables &all;
  bool overlaps;
  /// The bytes of the memory plan, as far as they are known at this level.
  double footprint = 0;
  PlayTable table;
  /// Results of collectives that no action has waited for, and views of them, with the action that
  /// started the collective. In the order of these actions, except for views.
  SmallVector<std::pair<Value, size_t>> inFlight;
};

} // namespace

FailureOr<StepEstimate> dpc::estimateStep(ModuleOp root, bool overlaps) {
  SmallVector<dist::RankProgram> programs = dist::programsOf(root);
  FailureOr<MeshPrices> prices = dist::getMeshPrices(programs.front().module);
  if (failed(prices))
    return failure();
  PlayTables tables(*prices);
  for (dist::RankProgram program : programs) {
    auto step = program.module.lookupSymbol<func::FuncOp>("step");
    if (!step)
      return program.module.emitError("has no function @step");
    tables.problem.tables.push_back(OrderedTable(tables, overlaps).build(step));
  }
  tables.placeRanks(programs);
  llvm::Expected<StepTimeline> timeline = playStep(tables.problem);
  if (!timeline)
    return root.emitError("the estimate of a step: ") << llvm::toString(timeline.takeError());
  StepEstimate estimate{timeline->seconds, 0};
  for (const PlayedRank &rank : timeline->played)
    if (rank.endSeconds == timeline->seconds)
      estimate.computeSeconds = rank.computeSeconds;
  return estimate;
}
