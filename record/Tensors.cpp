// Fills the tables of the tensors that the host accesses: state, inputs, controls, outputs
// and metrics. Placements.cpp writes which elements each rank holds, and where.

#include "record/Tensors.h"

#include "record/InitialValue.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/LossScale.h"
#include "dialects/NN/IR/Program.h"
#include "dpc/program.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;
using nn::ArgKind;

LogicalResult TensorRecords::run() {
  if (failed(collect()))
    return failure();
  indexWrites();
  // The record of optimizer state has the index of its parameter's record, so parameters
  // are added first.
  for (bool optimizer : {false, true})
    for (auto &[binding, parts] : tensors)
      if (auto arg = dyn_cast<nn::ArgAttr>(binding); arg && nn::isState(arg.getKind()))
        if ((arg.getKind() == ArgKind::optimizer) == optimizer && failed(addState(parts, arg)))
          return failure();
  for (auto &[binding, parts] : tensors) {
    if (isa<CoordinateAttr>(binding)) {
      if (failed(addControl(parts, binding)))
        return failure();
      continue;
    }
    if (auto arg = dyn_cast<nn::ArgAttr>(binding)) {
      if (arg.getKind() == ArgKind::control && failed(addControl(parts, binding)))
        return failure();
      if ((arg.getKind() == ArgKind::input || arg.getKind() == ArgKind::label) &&
          failed(addInput(parts, arg)))
        return failure();
      continue;
    }
    auto result = cast<nn::ResultAttr>(binding);
    if (failed(result.getKind() == nn::ResultKind::metric ? addMetric(parts, result.getName())
                                                          : addOutput(parts, result.getName())))
      return failure();
  }
  remarkWholeOutputs();
  return success();
}

LogicalResult TensorRecords::collect() {
  for (const dist::RankProgram &program : programs)
    for (auto persistent : ModuleOp(program.module).getOps<PersistentOp>()) {
      auto add = [&](Attribute binding, HostedTensor tensor) -> LogicalResult {
        Parts &parts = tensors[binding];
        if (!parts.empty() &&
            (parts[0].tensor.type.getElementType() != tensor.type.getElementType() ||
             parts[0].tensor.globalShape() != tensor.globalShape()))
          return persistent.emitOpError("has ")
                 << tensor.type << ", but another stage has " << parts[0].tensor.type;
        parts.push_back({&program, tensor});
        return success();
      };
      auto storage = dyn_cast<dist::StorageAttr>(persistent.getBinding());
      if (!storage) {
        if (failed(add(persistent.getBinding(), HostedTensor(persistent))))
          return failure();
        continue;
      }
      for (dist::MemberAttr member : storage.getMembers())
        if (failed(add(member.getBinding(), HostedTensor(persistent, storage, member))))
          return failure();
    }
  if (programs.size() > 1)
    orderStates();
  return success();
}

/// Gives the states of a program with stages the order that they have in a program without, which
/// is that of the variables. Files then list them in this order, wherever the stages are cut.
void TensorRecords::orderStates() {
  llvm::StringMap<size_t> positions;
  for (auto [position, variable] : llvm::enumerate(module.getOps<nn::VariableOp>()))
    positions.try_emplace(variable.getTensorName(), position);
  auto positionOf = [&](Attribute binding) {
    auto arg = dyn_cast<nn::ArgAttr>(binding);
    auto found =
        arg && nn::isState(arg.getKind()) ? positions.find(arg.getName()) : positions.end();
    return found == positions.end() ? positions.size() : found->second;
  };
  auto all = tensors.takeVector();
  llvm::stable_sort(
      all, [&](const auto &a, const auto &b) { return positionOf(a.first) < positionOf(b.first); });
  for (auto &[binding, parts] : all)
    tensors[binding] = std::move(parts);
}

/// Emits a remark if an input has a batch dimension but no output has one, unless all
/// outputs are scalars. A run of this program takes exactly one batch. The user should know
/// this, because perhaps the samples lie along another dimension of the input than dpc
/// assumed.
void TensorRecords::remarkWholeOutputs() {
  if (!batched || !wholeOutput || countsSamples)
    return;
  InFlightDiagnostic remark = emitRemark(module->getLoc());
  remark << "no dimension of output '" << cast<nn::ResultAttr>(wholeOutput.getBinding()).getName()
         << "', of shape [";
  llvm::interleaveComma(HostedTensor(wholeOutput).globalShape(), remark);
  remark << "], counts the samples along dimension " << batched.getBatch() << " of input '"
         << batched.getName() << "', so a run takes exactly " << batch
         << "; --batch-dim=" << batched.getName() << ":K takes another dimension";
}

/// Finds the entries that write each persistent buffer.
void TensorRecords::indexWrites() {
  SymbolTableCollection symbols;
  SmallVector<EntryOp> entries;
  for (dist::RankProgram program : programs)
    llvm::append_range(entries, ModuleOp(program.module).getOps<EntryOp>());
  for (EntryOp entry : entries) {
    uint32_t bit = entry.getSymName() == "step"   ? 1 << DPC_ENTRY_STEP
                   : entry.getSymName() == "eval" ? 1 << DPC_ENTRY_EVAL
                                                  : 1 << DPC_ENTRY_INFER;
    RunOp run;
    auto write = [&](Value buffer) {
      Operation *root = placeOf(buffer, symbols).root;
      // A routine writes the buffer of its run.
      if (auto frame = dyn_cast_if_present<FrameOp>(root))
        root = placeOf(run.getFrames()[frame.getNumber()], symbols).root;
      if (root)
        writtenBy[root] |= bit;
    };
    auto visit = [&](Operation *op) {
      if (auto launch = dyn_cast<LaunchOp>(op))
        for (Value output : launch.getOutputs())
          write(output);
      else if (auto copy = dyn_cast<CopyOp>(op))
        write(copy.getOutput());
      else if (auto start = dyn_cast<StartOp>(op))
        write(start.getOutput());
    };
    auto visitAll = [&](Operation *op) {
      visit(op);
      if (auto compute = dyn_cast<ComputeOp>(op))
        symbols.lookupNearestSymbolFrom(compute, compute.getCalleeAttr())->walk(visit);
    };
    entry.walk([&](Operation *op) {
      visitAll(op);
      run = dyn_cast<RunOp>(op);
      if (run)
        symbols.lookupNearestSymbolFrom(run, run.getRoutineAttr())->walk(visitAll);
    });
  }
}

FailureOr<uint32_t> TensorRecords::getDtype(PersistentOp persistent) {
  uint32_t dtype = dtypeOf(persistent.getBufferType().getElementType());
  if (dtype == DPC_DTYPE_INVALID)
    return persistent.emitOpError("has element type ")
           << persistent.getBufferType().getElementType() << ", which the runtime does not have";
  return dtype;
}

const TensorPart *TensorRecords::findPart(const Parts &parts, uint32_t rank) const {
  const auto coordinates = mesh.getShape().coordinates(rank);
  for (const TensorPart &part : parts)
    if (part.program->runsOn(mesh.getShape(), coordinates))
      return &part;
  return nullptr;
}

LogicalResult TensorRecords::addState(const Parts &parts, nn::ArgAttr arg) {
  const HostedTensor &tensor = parts[0].tensor;
  PersistentOp persistent = tensor.persistent;
  FailureOr<uint32_t> dtype = getDtype(persistent);
  if (failed(dtype))
    return failure();
  SmallVector<int64_t> shape = tensor.globalShape();
  nn::VariableOp variable = variables.find(arg.getName());
  auto value = readInitialValue(variable);
  if (failed(value))
    return failure();
  llvm::Constant *data = nullptr;
  // With --params=none, the user must provide parameters, including frozen ones, and saved buffers.
  // All other state (optimizer state, other constants and unsaved buffers) has an initial value
  // that follows from the program.
  bool isParameter =
      arg.getKind() == ArgKind::parameter || (variable && variable->hasAttr(nn::kFrozenAttrName));
  const bool isUnsaved = variable && variable->hasAttr(nn::kUnsavedAttrName);
  bool mayBeElsewhere = isParameter || (arg.getKind() == ArgKind::buffer && !isUnsaved);
  if (values == InitialValues::none && mayBeElsewhere)
    value->kind = DPC_INIT_NONE;
  else if (value->kind == DPC_INIT_EMBEDDED && values == InitialValues::file)
    value->kind = DPC_INIT_FILE;
  else if (value->kind == DPC_INIT_EMBEDDED)
    data = value->owned ? pool.addBytes(value->bytes, "initial")
                        : pool.addOutsideBytes(value->bytes, "initial");
  SmallVector<nn::FileTensor> fileTensors;
  if (variable && (isParameter || arg.getKind() == ArgKind::buffer)) {
    auto found = nn::getFileTensors(variable);
    if (failed(found))
      return failure();
    fileTensors = std::move(*found);
  }
  dpc_state_t record = {};
  record.struct_size = sizeof(record);
  record.file_tensor_count = fileTensors.size();
  record.kind = isParameter                           ? DPC_STATE_PARAMETER
                : arg.getKind() == ArgKind::optimizer ? DPC_STATE_OPTIMIZER
                : arg.getKind() == ArgKind::buffer    ? DPC_STATE_BUFFER
                                                      : DPC_STATE_CONSTANT;
  record.dtype = *dtype;
  record.dim_count = shape.size();
  record.init_kind = value->kind;
  record.init_dtype = value->dtype;
  record.splat = value->splat;
  record.parameter = DPC_NONE;
  if (arg.getKind() == ArgKind::optimizer && !arg.getOf().empty()) {
    auto parameter = stateIndex.find(arg.getOf());
    if (parameter == stateIndex.end())
      return persistent.emitOpError("belongs to the unknown parameter '") << arg.getOf() << "'";
    record.parameter = parameter->second;
  }
  record.changes =
      arg.getKind() != ArgKind::optimizer && llvm::any_of(parts, [&](const TensorPart &part) {
        return writtenBy.lookup(part.tensor.persistent) & 1 << DPC_ENTRY_STEP;
      });
  record.unsaved = isUnsaved;
  record.reordered = variable && variable->hasAttr(nn::kReorderedAttrName);
  uint64_t at = states.append(record);
  states.setPointer(at + offsetof(dpc_state_t, name), pool.getString(arg.getName()));
  states.setPointer(at + offsetof(dpc_state_t, shape), pool.addIntegers(shape, "shape"));
  states.setPointer(at + offsetof(dpc_state_t, init_data), data);
  states.setPointer(at + offsetof(dpc_state_t, placements), emitPlacements(parts));
  states.setPointer(at + offsetof(dpc_state_t, file_tensors), emitFileTensors(fileTensors));
  stateIndex[arg.getName()] = stateCount++;
  return success();
}

llvm::Constant *TensorRecords::emitFileTensors(ArrayRef<nn::FileTensor> tensors) {
  RecordImage image;
  for (const nn::FileTensor &tensor : tensors) {
    dpc_file_tensor_t record = {};
    // The runtime cannot read an array with more than DPC_MAX_RANK_DIMS dimensions.
    const bool fits = tensor.shape.size() <= DPC_MAX_RANK_DIMS;
    record.holds = tensor.holds == nn::FileTensor::Holds::tied          ? DPC_HOLDS_TIED
                   : tensor.holds == nn::FileTensor::Holds::nothing     ? DPC_HOLDS_NOTHING
                   : fits && tensor.holds == nn::FileTensor::Holds::all ? DPC_HOLDS_ALL
                                                                        : DPC_HOLDS_PART;
    record.dim_count = tensor.shape.size();
    record.shift = tensor.shift;
    uint64_t at = image.append(record);
    image.setPointer(at + offsetof(dpc_file_tensor_t, name), pool.getString(tensor.name));
    image.setPointer(at + offsetof(dpc_file_tensor_t, shape),
                     pool.addIntegers(tensor.shape, "shape"));
    image.setPointer(at + offsetof(dpc_file_tensor_t, strides),
                     pool.addIntegers(tensor.strides, "strides"));
  }
  return image.emit(target, "file_tensors");
}

llvm::Constant *TensorRecords::emitBounds(ArrayRef<nn::BoundsRun> runs, ArrayRef<int64_t> shape,
                                          int64_t batchDim) {
  int64_t sample = 1;
  for (auto [d, extent] : llvm::enumerate(shape))
    sample *= int64_t(d) == batchDim ? 1 : extent;
  RecordImage image;
  for (const nn::BoundsRun &run : runs) {
    dpc_bounds_t record = {};
    record.count = run.count ? run.count : sample;
    record.lo = run.bounds.low;
    record.hi = run.bounds.high;
    record.ignore = run.bounds.ignored.value_or(0);
    record.has_ignore = run.bounds.ignored.has_value();
    image.append(record);
  }
  return image.emit(target, "bounds");
}

LogicalResult TensorRecords::addInput(const Parts &parts, nn::ArgAttr arg) {
  PersistentOp persistent = parts[0].tensor.persistent;
  FailureOr<uint32_t> dtype = getDtype(persistent);
  if (failed(dtype))
    return failure();
  SmallVector<int64_t> shape = HostedTensor(persistent).globalShape();
  if (arg.getBatch() >= int64_t(shape.size()))
    return persistent.emitOpError("has batch dimension ")
           << arg.getBatch() << " of " << shape.size();
  if (arg.getBatch() >= 0) {
    const int64_t samples = shape[arg.getBatch()];
    if (batched && samples != batch)
      return emitError(module->getLoc())
             << "a step has " << batch << " samples of input '" << batched.getName() << "' and "
             << samples << " of '" << arg.getName()
             << "': --batch-dim=NAME:K says which dimension of an input counts samples, or with -1 "
                "that none does";
    batched = arg;
    batch = samples;
  }
  dpc_input_t record = {};
  record.struct_size = sizeof(record);
  record.role = arg.getKind() == ArgKind::label ? DPC_INPUT_LABEL : DPC_INPUT_GRAPH;
  record.dtype = *dtype;
  record.dim_count = shape.size();
  record.batch_dim = arg.getBatch();
  FailureOr<SmallVector<nn::BoundsRun>> bounds =
      nn::boundsFrom(persistent->getAttr(nn::kBoundsAttrName));
  if (failed(bounds))
    return persistent.emitOpError("has ") << nn::kBoundsAttrName << " of another form";
  record.bounds_count = bounds->size();
  record.micro_count = 1;
  uint64_t at = inputs.append(record);
  inputs.setPointer(at + offsetof(dpc_input_t, name), pool.getString(arg.getName()));
  inputs.setPointer(at + offsetof(dpc_input_t, shape), pool.addIntegers(shape, "shape"));
  inputs.setPointer(at + offsetof(dpc_input_t, placements), emitPlacements(parts));
  inputs.setPointer(at + offsetof(dpc_input_t, bounds), emitBounds(*bounds, shape, arg.getBatch()));
  auto loss = module->getAttrOfType<nn::LossAttr>(nn::NNDialect::kLossAttrName);
  if (arg.getKind() == ArgKind::label && loss && loss.getClassAxis() >= 0) {
    ArrayRef<int64_t> logits = loss.getType().getShape();
    inputs.overwrite(at + offsetof(dpc_input_t, logits_dim_count), uint32_t(logits.size()));
    inputs.overwrite(at + offsetof(dpc_input_t, class_axis), uint32_t(loss.getClassAxis()));
    inputs.setPointer(at + offsetof(dpc_input_t, logits_shape), pool.addIntegers(logits, "shape"));
  }
  ++inputCount;
  return success();
}

LogicalResult TensorRecords::addControl(const Parts &parts, Attribute binding) {
  PersistentOp persistent = parts[0].tensor.persistent;
  dpc_control_t record = {};
  record.axis = DPC_NONE;
  if (auto coordinate = dyn_cast<CoordinateAttr>(binding)) {
    std::optional<unsigned> axis = mesh.getShape().axisIndex(coordinate.getAxis().getValue());
    if (!axis)
      return persistent.emitOpError("names the axis ")
             << coordinate.getAxis() << ", which the mesh lacks";
    record.kind = DPC_CONTROL_COORDINATE;
    record.axis = *axis;
  } else {
    record.kind = llvm::StringSwitch<uint32_t>(cast<nn::ArgAttr>(binding).getName())
                      .Case("step", DPC_CONTROL_STEP)
                      .Case("seed", DPC_CONTROL_SEED)
                      .Case("valid_rows", DPC_CONTROL_VALID_ROWS)
                      .Default(DPC_CONTROL_LEARNING_RATE);
  }
  FailureOr<uint32_t> dtype = getDtype(persistent);
  if (failed(dtype))
    return failure();
  record.dtype = *dtype;
  const uint64_t at = controls.append(record);
  controls.setPointer(at + offsetof(dpc_control_t, places), emitPlaces(parts));
  ++controlCount;
  return success();
}

LogicalResult TensorRecords::addOutput(const Parts &parts, StringRef name) {
  PersistentOp persistent = parts[0].tensor.persistent;
  FailureOr<uint32_t> dtype = getDtype(persistent);
  if (failed(dtype))
    return failure();
  SmallVector<int64_t> shape = HostedTensor(persistent).globalShape();
  dpc_output_t record = {};
  record.struct_size = sizeof(record);
  record.dtype = *dtype;
  record.dim_count = shape.size();
  record.batch_dim = -1;
  if (auto dim = persistent->getAttrOfType<IntegerAttr>(nn::kBatchDimAttrName))
    record.batch_dim = dim.getInt();
  if (record.batch_dim >= 0)
    countsSamples = true;
  else if (!wholeOutput && !shape.empty())
    wholeOutput = persistent;
  record.micro_count = 1;
  uint64_t at = outputs.append(record);
  outputs.setPointer(at + offsetof(dpc_output_t, name), pool.getString(name));
  outputs.setPointer(at + offsetof(dpc_output_t, shape), pool.addIntegers(shape, "shape"));
  outputs.setPointer(at + offsetof(dpc_output_t, placements), emitPlacements(parts));
  ++outputCount;
  return success();
}

uint32_t TensorRecords::findHolder(const Parts &parts, unsigned entry) const {
  std::optional<uint32_t> first;
  bool isEverywhere = true;
  for (uint32_t rank = 0; rank < mesh.getWorldSize(); ++rank) {
    const TensorPart *part = findPart(parts, rank);
    const bool has = part && writtenBy.lookup(part->tensor.persistent) >> entry & 1;
    if (has && !first)
      first = rank;
    isEverywhere &= has;
  }
  return isEverywhere || !first ? DPC_NONE : *first;
}

LogicalResult TensorRecords::addMetric(const Parts &parts, StringRef name) {
  PersistentOp persistent = parts[0].tensor.persistent;
  FailureOr<uint32_t> dtype = getDtype(persistent);
  if (failed(dtype))
    return failure();
  if (persistent.getBufferType().getNumElements() != 1)
    return persistent.emitOpError("is a metric of ")
           << persistent.getBufferType().getNumElements() << " elements";
  FailureOr<nn::MetricMean> mean = nn::meanFrom(persistent->getAttr(nn::kMeanAttrName));
  if (failed(mean))
    return persistent.emitOpError("has ") << nn::kMeanAttrName << " of another form";
  const bool countsLabels = *mean == nn::MetricMean::labels || *mean == nn::MetricMean::geometric;
  uint32_t weight = DPC_NONE, position = 0;
  for (auto &[binding, others] : tensors) {
    auto result = dyn_cast<nn::ResultAttr>(binding);
    if (!result || result.getKind() != nn::ResultKind::metric)
      continue;
    if (result.getName() == "count" && name != "count" && countsLabels)
      weight = position;
    ++position;
  }
  dpc_metric_t record = {};
  record.struct_size = sizeof(record);
  record.kind = name == "loss"                       ? DPC_METRIC_LOSS
                : name == "count"                    ? DPC_METRIC_SUM
                : name == nn::kLossScaleName         ? DPC_METRIC_SCALE
                : *mean == nn::MetricMean::geometric ? DPC_METRIC_GEOMETRIC
                : *mean == nn::MetricMean::batches   ? DPC_METRIC_WHOLE
                                                     : DPC_METRIC_MEAN;
  record.dtype = *dtype;
  for (const TensorPart &part : parts)
    record.entry |= writtenBy.lookup(part.tensor.persistent);
  record.weight = weight;
  for (unsigned entry = 0; entry < DPC_ENTRY_COUNT; ++entry)
    record.holders[entry] = findHolder(parts, entry);
  uint64_t at = metrics.append(record);
  metrics.setPointer(at + offsetof(dpc_metric_t, places), emitPlaces(parts));
  metrics.setPointer(at + offsetof(dpc_metric_t, name), pool.getString(name));
  metrics.setPointer(at + offsetof(dpc_metric_t, tensor), pool.getString(name));
  ++metricCount;
  return success();
}
