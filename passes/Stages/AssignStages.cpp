// Assigns the ops of a program to the chunks of a pipeline.

#include "passes/Stages/Passes.h"

#include "passes/Stages/ChunkSets.h"
#include "passes/Stages/ForwardCut.h"
#include "passes/Stages/StageSums.h"

#include "passes/Forward/ForwardPass.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Program.h"
#include "planning/PipelineSchedule.h"
#include "planning/PlanError.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ASSIGNSTAGES
#include "passes/Stages/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

struct AssignStagesPass : dpc::impl::AssignStagesBase<AssignStagesPass> {
  using AssignStagesBase::AssignStagesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const dist::MeshShape mesh = dist::getMeshShape(module);
    if (mesh.axisSize(dist::kPipeAxis) == 1)
      return;
    std::optional<ScheduleKind> kind = parseSchedule(schedule);
    if (!kind) {
      module.emitError("unknown schedule '") << schedule << "'";
      return signalPassFailure();
    }
    const int64_t stages = mesh.axisSize(dist::kPipeAxis);
    const std::vector<int64_t> placed =
        placeChunks(stages, chunksPerStage, /*turns=*/*kind == ScheduleKind::zeroBubble);
    if (failed(cutForward(module, placed,
                          estimateInFlight(*kind, stages, chunksPerStage, microbatches))))
      return signalPassFailure();
    module->setAttr(dist::DistDialect::kStagesAttrName,
                    DenseI64ArrayAttr::get(&getContext(), placed));
    // @step comes first, because its forward pass decides which chunks hold which state.
    for (StringRef name : {"step", "eval", "infer"})
      if (auto function = module.lookupSymbol<func::FuncOp>(name))
        assign(function, /*trains=*/name == "step");
  }

private:
  /// The results of `function` that its forward pass computes: the loss, or all results.
  static SmallVector<Value> findRoots(func::FuncOp function, bool trains) {
    SmallVector<Value> roots;
    for (OpOperand &result : function.front().getTerminator()->getOpOperands()) {
      nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
      if (!trains || (attr.getKind() == nn::ResultKind::metric && attr.getName() == "loss"))
        roots.push_back(result.get());
    }
    return roots;
  }

  /// The cut that the options ask for.
  llvm::Expected<StageCut> requestedCut(const ForwardCut &forward) const {
    StageCut cut{{0}};
    llvm::append_range(cut.starts, ArrayRef<unsigned>(starts));
    for (const std::string &node : nodes) {
      llvm::Expected<unsigned> start = findStart(node, forward);
      if (!start)
        return start.takeError();
      if (*start <= cut.starts.back()) {
        const size_t before = cut.starts.size() - 2;
        return planError("'{0}' does not come after {1}", node,
                         cut.starts.size() == 1 ? "the first op" : "'" + nodes[before] + "'");
      }
      cut.starts.push_back(*start);
    }
    return cut;
  }

  /// The number of the first op of `forward` that is an op of an ONNX node that matches the pattern
  /// `node`, or that comes after one.
  static llvm::Expected<unsigned> findStart(StringRef node, const ForwardCut &forward) {
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(node);
    if (!glob) {
      llvm::consumeError(glob.takeError());
      return planError("'{0}' is no pattern", node);
    }
    llvm::DenseMap<Operation *, unsigned> numbers; // looked up by key only
    for (auto [number, op] : llvm::enumerate(forward.getOps()))
      numbers[op] = number;
    bool isFound = false;
    for (Operation &op : *forward.getOps().front()->getBlock()) {
      isFound |= !isOfLoss(op.getLoc()) && llvm::any_of(nodesOf(op.getLoc()), [&](StringRef name) {
        return glob->match(name);
      });
      if (auto number = numbers.find(&op); isFound && number != numbers.end())
        return number->second;
    }
    return isFound ? planError("the node '{0}' comes after the loss", node)
                   : planError("the forward pass has no node '{0}'", node);
  }

  /// Cuts the forward pass of @step or @infer into chunks, which `placed` places on stages. Sets
  /// the chunks of its ops and of the states that they read. `inFlight` says how many microbatches
  /// a chunk of @step holds.
  LogicalResult cutForward(ModuleOp module, ArrayRef<int64_t> placed,
                           const std::vector<int64_t> &inFlight) {
    const int64_t chunks = placed.size();
    const bool trains = module.lookupSymbol("step") != nullptr;
    auto function = module.lookupSymbol<func::FuncOp>(trains ? "step" : "infer");
    if (!function)
      return module.emitError("has no function @step or @infer");
    FailureOr<MeshPrices> prices = dist::getMeshPrices(module);
    if (failed(prices))
      return failure();
    const ForwardCut forward(function, findRoots(function, trains), trains, *prices);
    StageCutProblem problem = forward.getProblem();
    problem.chunks = chunks;
    problem.inFlight = inFlight;
    problem.capacity = stageBytes / chunksPerStage;
    // cutStages refuses a program with too few ops.
    const bool isRequested =
        (!starts.empty() || !nodes.empty()) && forward.getOps().size() >= size_t(chunks);
    llvm::Expected<StageCut> cut = isRequested ? requestedCut(forward) : cutStagesWithin(problem);
    if (!cut && isRequested)
      return module.emitError("--stages: ") << llvm::toString(cut.takeError());
    if (!cut)
      return function.emitError(dist::kPipeAxis)
             << "=" << chunks / chunksPerStage
             << (chunksPerStage > 1 ? " with " + Twine(chunksPerStage) + " chunks per stage" : "")
             << ": " << llvm::toString(cut.takeError());
    if (llvm::Error error = cut->verify(problem))
      return function.emitError("its cut: ") << llvm::toString(std::move(error));
    auto chunkOf = [&](unsigned number) {
      return llvm::upper_bound(cut->starts, number) - cut->starts.begin() - 1;
    };
    for (auto [number, op] : llvm::enumerate(forward.getOps()))
      setChunks(op, ChunkSet::only(chunkOf(number)));
    Builder builder(module.getContext());
    SmallVector<Attribute> borders;
    for (unsigned start : cut->starts)
      borders.push_back(builder.getStringAttr(firstNodeOf(forward.getOps()[start]->getLoc())));
    module->setAttr(dist::DistDialect::kBordersAttrName, builder.getArrayAttr(borders));
    SmallVector<int64_t> held(chunks / chunksPerStage);
    for (auto [stage, price] : llvm::zip_equal(placed, cut->priceChunks(problem)))
      held[stage] += price.heldBytes;
    module->setAttr(dist::DistDialect::kCutBytesAttrName, builder.getDenseI64ArrayAttr(held));
    for (const auto &[name, readers] : forward.getStateReaders()) {
      SmallVector<int64_t> held;
      for (unsigned reader : readers)
        if (held.empty() || held.back() != chunkOf(reader))
          held.push_back(chunkOf(reader));
      homes.emplace(name, ChunkSet(held));
    }
    return success();
  }

  /// Computes the chunks of all values. If the new value of a state is not available everywhere,
  /// the chunks that compute it hold the state. This can change the chunks of other values. A state
  /// of rank 0, e.g. a loss scale, is held by every stage that reads it: a message with its new
  /// value is cheap, and an op that reads it must not move to another stage for it.
  static ValueChunks computeChunks(func::FuncOp function, StateHomes &homes, bool trains) {
    while (true) {
      ValueChunks chunks(function, homes, trains);
      bool changed = false;
      for (OpOperand &result : function.front().getTerminator()->getOpOperands()) {
        nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
        const ChunkSet &set = chunks.get(result.get());
        if (attr.getKind() == nn::ResultKind::state && !set.isEverywhere() &&
            nn::typeOf(result.get()).getRank() > 0)
          changed |= homes.emplace(attr.getName().str(), set).second;
      }
      if (!changed)
        return chunks;
    }
  }

  void assign(func::FuncOp function, bool trains) {
    // A sum that is not yet split is on one chunk. Therefore the homes that follow from it do not
    // count.
    StateHomes assumed = homes;
    splitYieldedSums(function, computeChunks(function, assumed, trains));
    while (true) {
      assumed = homes;
      ValueChunks chunks = computeChunks(function, assumed, trains);
      // A combined sum is available everywhere. This can bring terms of other sums together.
      if (!combineSums(function, chunks))
        break;
    }
    const ValueChunks chunks = computeChunks(function, homes, trains);
    function.walk([&](Operation *op) {
      if (op->getNumResults() > 0 && chunks.hasOp(op))
        setChunks(op, chunks.get(op));
    });
    for (BlockArgument argument : function.getArguments()) {
      const ChunkSet &set = chunks.get(argument);
      if (!set.isEverywhere())
        function.setArgAttr(argument.getArgNumber(), dist::DistDialect::kChunksAttrName,
                            DenseI64ArrayAttr::get(&getContext(), set.getChunks()));
    }
  }

  StateHomes homes;
};

} // namespace
