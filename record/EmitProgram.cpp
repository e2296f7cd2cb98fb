// Assembles the program record, which is the symbol `dpc_program`, from its tables.
// Computes the hash by which ranks check that they run the same program.

#include "record/EmitProgram.h"

#include "record/Actions.h"
#include "record/BufferTable.h"
#include "record/Functions.h"
#include "record/LaunchTable.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/NN/IR/Program.h"
#include "dpc/program.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

/// The hash that identifies the program. It covers the IR at level `exec` and the
/// initial values of state.
static std::array<uint8_t, 32> hashPlan(ModuleOp module) {
  llvm::BLAKE3 hash;
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  // With local scope, the printer omits resources. Printing them would take long even
  // if they were elided.
  flags.elideLargeElementsAttrs(16).useLocalScope();
  module->print(os, flags);
  hash.update(os.str());
  module.walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs()) {
      ArrayRef<char> data;
      if (auto dense = dyn_cast<DenseElementsAttr>(attr.getValue()))
        data = dense.getRawData();
      else if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr.getValue()))
        if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
          data = blob->getData();
      hash.update(StringRef(data.data(), data.size()));
    }
  });
  return hash.final<32>();
}

/// The names of a program's entries, indexed by DPC_ENTRY_*.
static constexpr StringLiteral entryNames[] = {"step", "eval", "infer"};

static dpc_schedule_t scheduleOf(ModuleOp module) {
  dpc_schedule_t schedule = {};
  auto rate = module->getAttrOfType<nn::LearningRateAttr>(nn::NNDialect::kLearningRateAttrName);
  if (!rate)
    return schedule;
  schedule.kind = rate.getDecay() == nn::DecayKind::linear   ? DPC_LR_LINEAR
                  : rate.getDecay() == nn::DecayKind::cosine ? DPC_LR_COSINE
                                                             : DPC_LR_CONSTANT;
  schedule.learning_rate = rate.getBase().getValueAsDouble();
  schedule.min_learning_rate = rate.getMinimum().getValueAsDouble();
  schedule.warmup = rate.getWarmup();
  schedule.warmup_ppm = static_cast<uint32_t>(rate.getWarmupPpm());
  schedule.total = rate.getTotal();
  return schedule;
}

namespace {

class ProgramEmitter {
public:
  ProgramEmitter(ModuleOp module, const ProgramOptions &options, llvm::Module &target,
                 std::vector<OutsideValue> *outside)
      : module(module), programs(dist::programsOf(module)), options(options), target(target),
        pool(target, outside), mesh(module),
        tensors(module, programs, mesh, target, pool, options.initialValues),
        locations(target, pool), launches(symbols, target, pool, mesh, options.functions) {}

  LogicalResult run() {
    if (failed(tensors.run()))
      return failure();
    for (dist::RankProgram program : programs)
      if (failed(emitStage(program)))
        return failure();
    emitRanks();
    if (failed(findMachine()) || failed(emitOnnxPatches()))
      return failure();
    emitRecord();
    return success();
  }

private:
  /// Computes how often one run of an entry calls each function. A call inside of loops
  /// counts once per iteration, i.e. the product of the counts of these loops. A call in a
  /// routine counts once per run of the routine.
  static llvm::StringMap<uint64_t> countRuns(ModuleOp program) {
    llvm::StringMap<uint64_t> runs;
    for (auto entry : program.getOps<EntryOp>())
      entry.walk([&](ComputeOp compute) {
        uint64_t turns = 1;
        for (auto loop = compute->getParentOfType<LoopOp>(); loop;
             loop = loop->getParentOfType<LoopOp>())
          turns *= loop.getCount();
        runs[compute.getCallee()] += turns;
      });
    for (auto routine : program.getOps<RoutineOp>())
      for (auto compute : routine.getBodyBlock().getOps<ComputeOp>())
        runs[compute.getCallee()] += routine.getCount();
    return runs;
  }

  /// Adds the functions and tables of one program.
  LogicalResult emitStage(const dist::RankProgram &program) {
    ModuleOp stage = program.module;
    auto memory = stage->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName);
    if (!memory)
      return stage.emitError("has no memory plan");
    BufferTable buffers(stage, symbols, target, pool, mesh);
    if (failed(buffers.run()))
      return failure();
    dpc_stage_t record = {};
    record.chunk_count = 1;
    record.first_function = functionCount;
    const llvm::StringMap<uint32_t> indices = emitFunctions(stage, buffers);
    record.function_count = functionCount - record.first_function;
    const uint64_t at = stages.append(record);
    stages.setPointer(at + offsetof(dpc_stage_t, name),
                      pool.getString(program.stage ? std::to_string(*program.stage) : "all"));
    tables.emplace_back();
    return emitActions(stage, memory, buffers, indices);
  }

  /// The number of frames that actions pass to `function`: those of its routine, if it uses any.
  static uint32_t countFrames(FunctionOp function) {
    uint32_t count = 0;
    for (auto frame : function.getBodyBlock().getOps<FrameOp>())
      count = std::max<uint32_t>(count, frame.getNumber() + 1);
    return count;
  }

  /// Emits the functions of `program`, and returns their indices by symbol.
  llvm::StringMap<uint32_t> emitFunctions(ModuleOp program, BufferTable &buffers) {
    llvm::StringMap<uint32_t> indices;
    const llvm::StringMap<uint64_t> runs = countRuns(program);
    const std::optional<int64_t> stage = dist::stageOf(program);
    const std::string prefix = stage ? "stage." + std::to_string(*stage) + "." : "";
    for (auto function : program.getOps<FunctionOp>()) {
      dpc_function_t record = {};
      record.stage = tables.size();
      record.entry = llvm::find(entryNames, function.getEntry()) - entryNames;
      record.piece = function.getPiece();
      record.runs = runs.lookup(function.getSymName());
      auto [accesses, accessCount] = buffers.emitAccesses(function);
      record.access_count = accessCount;
      record.frame_count = countFrames(function);
      uint64_t at = functions.append(record);
      if (options.functions != FunctionForm::hostCode)
        launches.add(function);
      else
        functions.setPointer(at + offsetof(dpc_function_t, fn),
                             emitFunction(function, symbols, target, mesh));
      functions.setPointer(at + offsetof(dpc_function_t, name),
                           pool.getString(prefix + function.getSymName().str()));
      functions.setPointer(at + offsetof(dpc_function_t, accesses), accesses);
      indices[function.getSymName()] = functionCount++;
    }
    return indices;
  }

  /// The record of the ranks that run one program, without its pointers, and the tables to which
  /// they point.
  struct StageTables {
    dpc_rank_t rank = {};
    llvm::Constant *actions[DPC_ENTRY_COUNT] = {};
    llvm::Constant *buffers = nullptr;
  };

  LogicalResult emitActions(ModuleOp program, MemoryAttr memory, BufferTable &buffers,
                            const llvm::StringMap<uint32_t> &functions) {
    StageTables &made = tables.back();
    made.rank.struct_size = sizeof(made.rank);
    made.rank.stage = tables.size() - 1;
    made.rank.arena_bytes = memory.getArena();
    made.rank.shared_bytes = memory.getShared();
    made.rank.peak_bytes = memory.getPeak();
    for (auto [index, name] : llvm::enumerate(entryNames)) {
      auto entry = program.lookupSymbol<EntryOp>(name);
      if (!entry)
        continue;
      ActionTable table(mesh, symbols, functions, locations, buffers, target);
      if (failed(table.run(entry)))
        return failure();
      made.actions[index] = table.image.emit(target, (name + ".actions").str());
      made.rank.entries[index].count = table.count;
      made.rank.event_count = std::max(made.rank.event_count, table.eventCount);
    }
    made.rank.buffer_count = buffers.size();
    made.buffers = buffers.emit();
    return success();
  }

  /// Adds one record per rank, with the tables of the program that the rank runs.
  void emitRanks() {
    for (uint32_t rank = 0; rank < mesh.getWorldSize(); ++rank) {
      const auto coordinates = mesh.getShape().coordinates(rank);
      const auto *program = llvm::find_if(programs, [&](const dist::RankProgram &each) {
        return each.runsOn(mesh.getShape(), coordinates);
      });
      const StageTables &own = tables[program - programs.begin()];
      uint64_t at = ranks.append(own.rank);
      ranks.setPointer(at + offsetof(dpc_rank_t, buffers), own.buffers);
      for (auto [index, actions] : llvm::enumerate(own.actions))
        ranks.setPointer(at + offsetof(dpc_rank_t, entries) + index * sizeof(dpc_actions_t) +
                             offsetof(dpc_actions_t, actions),
                         actions);
    }
  }

  LogicalResult emitOnnxPatches() {
    for (const ProgramOptions::OnnxPatch &patch : options.onnxPatches) {
      std::optional<uint32_t> state = tensors.findState(patch.state);
      if (!state)
        return module.emitError("has no state '") << patch.state << "', which the ONNX model holds";
      dpc_onnx_patch_t record = {};
      record.offset = patch.offset;
      record.bytes = patch.bytes;
      record.state = *state;
      record.dtype = patch.dtype;
      onnxPatches.append(record);
    }
    return success();
  }

  /// Names the machine for which the program was planned, and its levels. A module that was written
  /// by hand may have no machine.
  LogicalResult findMachine() {
    if (!module->hasAttr(dist::DistDialect::kMachineAttrName))
      return success();
    const FailureOr<Machine> machine = dist::getMachine(module);
    if (failed(machine))
      return failure();
    machineName = machine->topology.name;
    for (const LinkLevel &level : machine->topology.levels) {
      dpc_level_t record = {};
      record.size = level.size;
      const uint64_t at = levels.append(record);
      levels.setPointer(at + offsetof(dpc_level_t, name), pool.getString(level.name));
      ++levelCount;
    }
    return success();
  }

  void emitRecord() {
    dpc_program_t record = {};
    record.struct_size = sizeof(record);
    record.abi_version = DPC_ABI_VERSION;
    std::array<uint8_t, 32> hash = hashPlan(module);
    std::copy(hash.begin(), hash.end(), record.plan_hash);
    record.axis_count = mesh.getShape().axes.size();
    record.world_size = mesh.getWorldSize();
    record.family_count = mesh.getFamilyCount();
    record.isa = options.isa;
    record.function_count = functionCount;
    record.stage_count = tables.size();
    record.batch = tensors.batch;
    record.microbatches = 1;
    for (const dist::MeshAxis &axis : mesh.getShape().axes)
      if (axis.sequential)
        record.microbatches *= axis.size;
    record.state_count = tensors.stateCount;
    record.input_count = tensors.inputCount;
    record.control_count = tensors.controlCount;
    record.output_count = tensors.outputCount;
    record.metric_count = tensors.metricCount;
    record.schedule = scheduleOf(module);
    record.location_count = locations.size();
    record.onnx_template_bytes =
        options.onnxTemplate.empty() ? options.onnxBytes : options.onnxTemplate.size();
    record.onnx_patch_count = options.onnxPatches.size();
    record.level_count = levelCount;

    RecordImage image;
    image.append(record);
#define DPC_SET(field, value) image.setPointer(offsetof(dpc_program_t, field), value)
    DPC_SET(name, pool.getString(options.name));
    DPC_SET(command, pool.getString(options.command));
    if (!options.parameterFile.empty())
      DPC_SET(parameter_file, pool.getString(options.parameterFile));
    DPC_SET(axes, mesh.emitAxes(target, pool));
    DPC_SET(families, mesh.emitFamilies(target, pool));
    DPC_SET(functions, functions.emit(target, "functions"));
    DPC_SET(stages, stages.emit(target, "stages"));
    DPC_SET(ranks, ranks.emit(target, "ranks"));
    DPC_SET(states, tensors.states.emit(target, "states"));
    DPC_SET(inputs, tensors.inputs.emit(target, "inputs"));
    DPC_SET(controls, tensors.controls.emit(target, "controls"));
    DPC_SET(outputs, tensors.outputs.emit(target, "outputs"));
    DPC_SET(metrics, tensors.metrics.emit(target, "metrics"));
    DPC_SET(locations, locations.emit());
    if (options.functions != FunctionForm::hostCode)
      DPC_SET(device, launches.emit());
    if (machineName)
      DPC_SET(machine, pool.getString(*machineName));
    DPC_SET(levels, levels.emit(target, "levels"));
    if (!options.onnxTemplate.empty()) {
      DPC_SET(onnx_template, pool.addBytes(options.onnxTemplate, "onnx"));
      DPC_SET(onnx_patches, onnxPatches.emit(target, "onnx.patches"));
    }
#undef DPC_SET
    image.emit(target, "dpc_program", /*isExternal=*/true);
  }

  ModuleOp module;
  const SmallVector<dist::RankProgram> programs;
  SymbolTableCollection symbols;
  const ProgramOptions &options;
  llvm::Module &target;
  ConstantPool pool;
  ProgramMesh mesh;
  TensorRecords tensors;
  LocationTable locations;
  LaunchTable launches;
  RecordImage functions, stages, ranks, onnxPatches, levels;
  std::optional<std::string> machineName;
  uint64_t levelCount = 0;
  /// The tables of each program, in the order of `programs`.
  std::vector<StageTables> tables;
  uint32_t functionCount = 0;
};

} // namespace

std::unique_ptr<llvm::Module> dpc::emitProgram(ModuleOp module, const ProgramOptions &options,
                                               llvm::LLVMContext &context,
                                               std::vector<OutsideValue> *outside) {
  auto target = std::make_unique<llvm::Module>("program", context);
  if (failed(ProgramEmitter(module, options, *target, outside).run()))
    return nullptr;
  return target;
}
