// Unrolls the entries of a program into the tables of a play, and prices its functions.

#include "passes/Play/ExecPlay.h"

#include "passes/Play/PlayTables.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/Interfaces/NodeNames.h"
#include "passes/Prices/OpPrices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

static int64_t bytesOf(Value buffer) { return bufferBytes(buffer.getType()); }

static int64_t elementsOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getNumElements();
}

static PlayCause causeOf(Operation *start) {
  auto attr = start->getAttrOfType<PurposeAttr>(ExecDialect::kPurposeAttrName);
  switch (attr ? attr.getValue() : Purpose::activations) {
  case Purpose::activations:
    return PlayCause::activations;
  case Purpose::gradients:
    return PlayCause::gradients;
  case Purpose::parameters:
  case Purpose::gathered:
    return PlayCause::parameters;
  case Purpose::metrics:
    return PlayCause::metrics;
  }
  llvm_unreachable("unknown purpose");
}

namespace {

/// Builds the table of one stage.
class TableBuilder {
public:
  TableBuilder(ExecPlay &play, PlayTables &all, dist::RankProgram program, const PlayInputs &inputs)
      : play(play), all(all), device(all.prices.device()), program(program), inputs(inputs) {
    if (auto memory = program.module->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName))
      footprint = memory.getPeak();
  }

  PlayTable build(EntryOp entry) {
    visit(entry.getBodyBlock());
    return std::move(table);
  }

private:
  void visit(Block &block) {
    for (Operation &op : block)
      visit(&op);
  }

  void visit(Operation *op) {
    if (auto loop = dyn_cast<LoopOp>(op)) {
      for (int64_t i = 0; i < int64_t(loop.getCount()); ++i)
        visit(loop.getBodyBlock());
    } else if (auto run = dyn_cast<RunOp>(op)) {
      visit(tables.lookupNearestSymbolFrom<RoutineOp>(run, run.getRoutineAttr()).getBodyBlock());
    } else if (auto call = dyn_cast<ComputeOp>(op)) {
      compute(functionOf(tables.lookupNearestSymbolFrom<FunctionOp>(call, call.getCalleeAttr())));
    } else if (auto zero = dyn_cast<ZeroOp>(op)) {
      const Work work = copyOf(bytesOf(zero.getOutput()));
      PlayTables::addCompute(table, workSeconds(device, work), /*number=*/-1);
    } else if (auto start = dyn_cast<StartOp>(op)) {
      PlayOperation operation;
      operation.collective = priceKindOf(start.getKind());
      operation.bytes = std::max(bytesOf(start.getInput()), bytesOf(start.getOutput()));
      operation.family =
          all.familyOf(SmallVector<StringRef>(start.getAxes().getAsValueRange<StringAttr>()),
                       start.getMembers() ? *start.getMembers() : ArrayRef<int64_t>());
      operation.cause = causeOf(start);
      PlayedCall call;
      call.name = dist::stringifyCollective(start.getKind()).str();
      std::replace(call.name.begin(), call.name.end(), '_', '-');
      // As in record/Actions.cpp: an all-to-all has all parts in both buffers.
      call.elements = std::min(elementsOf(start.getInput()), elementsOf(start.getOutput()));
      const int64_t members = all.problem.families[operation.family].groups.front().size();
      if (start.getKind() == dist::Collective::all_to_all)
        call.elements /= members;
      call.sentBytes = bytesSent(operation.collective, operation.bytes, members);
      call.id = start.getId();
      addStart(operation, std::move(call), start.getInput(), start.getEvent());
    } else if (auto send = dyn_cast<StartSendOp>(op)) {
      addMessage(send, PlayOperation::Kind::send);
    } else if (auto receive = dyn_cast<StartRecvOp>(op)) {
      addMessage(receive, PlayOperation::Kind::receive);
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      PlayTables::addWait(table, starts.lookup(wait.getEvent()));
    }
  }

  void compute(size_t function) {
    PlayTables::addCompute(table, play.functions[function].seconds, function);
  }

  template <typename Message> void addMessage(Message message, PlayOperation::Kind kind) {
    PlayOperation operation;
    operation.kind = kind;
    operation.bytes = bytesOf(message.getBuffer());
    operation.family = all.familyOf({message.getAxis()}, {});
    operation.peer = message.getPeer();
    operation.cause = PlayCause::stages;
    PlayedCall call;
    const bool sends = kind == PlayOperation::Kind::send;
    call.name = sends ? "send" : "recv";
    call.elements = elementsOf(message.getBuffer());
    call.sentBytes = sends ? operation.bytes : 0;
    call.id = message.getId();
    addStart(operation, std::move(call), message.getBuffer(), message.getEvent());
  }

  void addStart(const PlayOperation &operation, PlayedCall call, Value buffer, Value event) {
    llvm::raw_string_ostream(call.type) << cast<MemRefType>(buffer.getType()).getElementType();
    call.nodes = namesOf(event.getLoc()).nodes;
    starts[event] = PlayTables::addStart(table, operation, play.calls.size());
    play.calls.push_back(std::move(call));
  }

  size_t functionOf(FunctionOp function) {
    auto [known, isNew] = functions.try_emplace(function, play.functions.size());
    if (!isNew)
      return known->second;
    PlayedFunction played;
    // As traces of runs show it: the stage of a pipeline is a module with a name.
    played.name = function.getSymName().str();
    if (program.stage)
      played.name = program.module.getSymName()->str() + "." + played.name;
    played.nodes = namesOf(function.getLoc()).nodes;
    function.walk([&](Operation *op) {
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        const Work work = kernelOf(launch);
        auto known = inputs.measured.find(launch.getKernel());
        add(played, op, work,
            known != inputs.measured.end()
                ? known->second * slowdownOf(work)
                : workSeconds(device, work) + launchesOf(launch) * device.launchSeconds);
      } else if (auto copy = dyn_cast<CopyOp>(op)) {
        const Work work = copyOf(2 * bytesOf(copy.getInput()));
        add(played, op, work, kernelSeconds(device, work));
      }
    });
    play.functions.push_back(std::move(played));
    return known->second;
  }

  static void add(PlayedFunction &function, Operation *op, const Work &work, double seconds) {
    function.kernels.push_back(
        {namesOf(op->getLoc()).nodes, work.kind, seconds, work.flops, work.bytes});
    function.seconds += seconds;
    function.secondsOfClass[size_t(work.kind)] += seconds;
    function.flops += work.flops;
    function.bytes += work.bytes;
  }

  /// A kernel is the one op of its function.
  Work kernelOf(LaunchOp launch) {
    auto kernel = tables.lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
    Work work;
    if (!kernel.isExternal())
      for (Operation &op : kernel.front().without_terminator())
        if (isa<CostOpInterface>(op))
          work = workOfKernel(&op);
    work.footprint = footprint;
    return withFactors(work, inputs.factors);
  }

  Work copyOf(double bytes) const {
    Work work{/*flops=*/0, bytes, KernelClass::copy};
    work.footprint = footprint;
    return work;
  }

  /// How many times as long a kernel takes in this program as alone.
  double slowdownOf(Work work) const {
    const double here = workSeconds(device, work);
    work.footprint = 0;
    const double alone = workSeconds(device, work);
    return alone > 0 ? here / alone : 1;
  }

  /// A kernel of a device with grids may need several launches.
  int64_t launchesOf(LaunchOp launch) {
    auto kernel = tables.lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
    auto grids = kernel->getAttrOfType<ArrayAttr>(ExecDialect::kLaunchesAttrName);
    return grids ? grids.size() : 1;
  }

  ExecPlay &play;
  PlayTables &all;
  const Device &device;
  dist::RankProgram program;
  const PlayInputs &inputs;
  /// The bytes of the memory plan.
  double footprint = 0;
  PlayTable table;
  DenseMap<Value, size_t> starts; ///< by event: the action that starts the operation
  DenseMap<Operation *, size_t> functions;
  SymbolTableCollection tables;
};

} // namespace

FailureOr<std::optional<ExecPlay>> dpc::playOf(ModuleOp root, StringRef entry,
                                               const PlayInputs &inputs) {
  SmallVector<dist::RankProgram> programs = dist::programsOf(root);
  if (!programs.front().module.lookupSymbol<EntryOp>(entry))
    return std::optional<ExecPlay>();
  FailureOr<MeshPrices> prices = dist::getMeshPrices(programs.front().module);
  if (failed(prices))
    return failure();
  ExecPlay play;
  PlayTables tables(*prices);
  for (dist::RankProgram program : programs) {
    auto body = program.module.lookupSymbol<EntryOp>(entry);
    if (!body)
      return program.module.emitError("has no entry ") << entry;
    tables.problem.tables.push_back(TableBuilder(play, tables, program, inputs).build(body));
  }
  tables.placeRanks(programs);
  play.problem = std::move(tables.problem);
  play.families = std::move(tables.families);
  return std::optional<ExecPlay>(std::move(play));
}

FailureOr<std::optional<PlayedStep>> dpc::playStepOf(ModuleOp root, const PlayInputs &inputs,
                                                     const PlayChanges &changes) {
  FailureOr<std::optional<ExecPlay>> play = playOf(root, "step", inputs);
  if (failed(play))
    return failure();
  if (!*play)
    return std::optional<PlayedStep>();
  if (llvm::Error error = changes.applyTo((*play)->problem))
    return root.emitError(llvm::toString(std::move(error)));
  llvm::Expected<StepTimeline> timeline = playStep((*play)->problem);
  if (!timeline)
    return root.emitError("the play of a step: ") << llvm::toString(timeline.takeError());
  return std::optional<PlayedStep>({std::move(**play), std::move(*timeline)});
}
