// Assembles the program record, which is the symbol `dpc_program`, from its tables.
// Computes the hash by which ranks check that they run the same program.

#include "record/EmitProgram.h"

#include "record/Actions.h"
#include "record/BufferTable.h"
#include "record/Functions.h"
#include "record/LaunchTable.h"

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
      : module(module), options(options), target(target), pool(target, outside), mesh(module),
        tensors(module, mesh, target, pool, options.initialValues), locations(target, pool),
        buffers(module, symbols, target, pool, mesh),
        launches(symbols, target, pool, mesh, options.functions) {}

  LogicalResult run() {
    memory = module->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName);
    if (!memory)
      return module.emitError("has no memory plan");
    if (failed(tensors.run()) || failed(buffers.run()))
      return failure();
    emitFunctions();
    if (failed(emitActions()) || failed(emitOnnxPatches()))
      return failure();
    emitRecord();
    return success();
  }

private:
  /// Computes how often one run of an entry calls each function. A call inside of loops
  /// counts once per iteration, i.e. the product of the counts of these loops.
  llvm::StringMap<uint64_t> countRuns() {
    llvm::StringMap<uint64_t> runs;
    for (auto entry : module.getOps<EntryOp>())
      entry.walk([&](ComputeOp compute) {
        uint64_t turns = 1;
        for (auto loop = compute->getParentOfType<LoopOp>(); loop;
             loop = loop->getParentOfType<LoopOp>())
          turns *= loop.getCount();
        runs[compute.getCallee()] += turns;
      });
    return runs;
  }

  void emitFunctions() {
    llvm::StringMap<uint64_t> runs = countRuns();
    for (auto function : module.getOps<FunctionOp>()) {
      dpc_function_t record = {};
      record.entry = llvm::find(entryNames, function.getEntry()) - entryNames;
      record.piece = function.getPiece();
      record.runs = runs.lookup(function.getSymName());
      auto [accesses, accessCount] = buffers.emitAccesses(function);
      record.access_count = accessCount;
      uint64_t at = functions.append(record);
      if (options.functions != FunctionForm::hostCode)
        launches.add(function);
      else
        functions.setPointer(at + offsetof(dpc_function_t, fn),
                             emitFunction(function, symbols, target, mesh));
      functions.setPointer(at + offsetof(dpc_function_t, name),
                           pool.getString(function.getSymName()));
      functions.setPointer(at + offsetof(dpc_function_t, accesses), accesses);
      functionIndex[function.getSymName()] = functionCount++;
    }
  }

  LogicalResult emitActions() {
    dpc_rank_t record = {};
    record.struct_size = sizeof(record);
    record.arena_bytes = memory.getArena();
    record.shared_bytes = memory.getShared();
    record.peak_bytes = memory.getPeak();
    llvm::Constant *tables[DPC_ENTRY_COUNT] = {};
    for (auto [index, name] : llvm::enumerate(entryNames)) {
      auto entry = module.lookupSymbol<EntryOp>(name);
      if (!entry)
        continue;
      ActionTable table(mesh, symbols, functionIndex, locations, buffers);
      if (failed(table.run(entry)))
        return failure();
      tables[index] = table.image.emit(target, (name + ".actions").str());
      record.entries[index].count = table.count;
      record.event_count = std::max(record.event_count, table.eventCount);
    }
    record.buffer_count = buffers.size();
    llvm::Constant *table = buffers.emit();
    for (uint32_t rank = 0; rank < mesh.getWorldSize(); ++rank) {
      uint64_t at = ranks.append(record);
      ranks.setPointer(at + offsetof(dpc_rank_t, buffers), table);
      for (auto [index, actions] : llvm::enumerate(tables))
        ranks.setPointer(at + offsetof(dpc_rank_t, entries) + index * sizeof(dpc_actions_t) +
                             offsetof(dpc_actions_t, actions),
                         actions);
    }
    return success();
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

  llvm::Constant *emitStages() {
    dpc_stage_t stage = {};
    stage.chunk_count = 1;
    stage.function_count = functionCount;
    RecordImage image;
    uint64_t at = image.append(stage);
    image.setPointer(at + offsetof(dpc_stage_t, name), pool.getString("all"));
    return image.emit(target, "stages");
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
    record.stage_count = 1;
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
    DPC_SET(stages, emitStages());
    DPC_SET(ranks, ranks.emit(target, "ranks"));
    DPC_SET(states, tensors.states.emit(target, "states"));
    DPC_SET(inputs, tensors.inputs.emit(target, "inputs"));
    DPC_SET(controls, tensors.controls.emit(target, "controls"));
    DPC_SET(outputs, tensors.outputs.emit(target, "outputs"));
    DPC_SET(metrics, tensors.metrics.emit(target, "metrics"));
    DPC_SET(locations, locations.emit());
    if (options.functions != FunctionForm::hostCode)
      DPC_SET(device, launches.emit());
    if (!options.onnxTemplate.empty()) {
      DPC_SET(onnx_template, pool.addBytes(options.onnxTemplate, "onnx"));
      DPC_SET(onnx_patches, onnxPatches.emit(target, "onnx.patches"));
    }
#undef DPC_SET
    image.emit(target, "dpc_program", /*isExternal=*/true);
  }

  ModuleOp module;
  SymbolTableCollection symbols;
  const ProgramOptions &options;
  llvm::Module &target;
  ConstantPool pool;
  ProgramMesh mesh;
  TensorRecords tensors;
  LocationTable locations;
  BufferTable buffers;
  LaunchTable launches;
  MemoryAttr memory;
  RecordImage functions, ranks, onnxPatches;
  llvm::StringMap<uint32_t> functionIndex;
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
