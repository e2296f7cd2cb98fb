// Describes convolutions as graphs of cuDNN, and chooses plans among those that the heuristics of
// the library propose. Reference: NVIDIA, "cuDNN Backend API". A graph has one operation. Its
// tensors have the numbers of their buffers (DPC_CONVOLUTION_*), increased by 1, as ids.

#include "runtime/src/cudnn/ConvolutionPlans.h"

#include <algorithm>
#include <cstdint>

namespace dpc::cudnn {

using cuda::Cudnn;
using cuda::DnnAttribute;
using cuda::DnnDataType;
using cuda::DnnDescriptorType;
using cuda::DnnNumericalNote;
using cuda::DnnStatus;
using cuda::DnnType;

/// Later versions of the library may have more notes than the declared ones.
static constexpr int64_t kMostNotes = 64;
/// The library does not distinguish alignments above this number of bytes.
static constexpr uint64_t kMostAlignment = 256;

static DnnDataType dataType(uint32_t dtype) {
  return dtype == DPC_F64    ? DnnDataType::f64
         : dtype == DPC_F16  ? DnnDataType::f16
         : dtype == DPC_BF16 ? DnnDataType::bf16
                             : DnnDataType::f32;
}

static std::vector<int64_t> numbers(const uint64_t *from, uint32_t count) {
  return std::vector<int64_t>(from, from + count);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

namespace {
/// The descriptors of a graph, each of which refers to the ones before it.
struct Graph {
  Graph(const Cudnn &library, const Device &device, const WantedConvolution &wanted);

  Descriptor tensors[DPC_CONVOLUTION_WORKSPACE], convolution, operation, graph;
};

/// The type of an operation, and its attributes.
struct Operation {
  DnnDescriptorType type;
  DnnAttribute alpha, beta, convolution, w, x, y;
};
} // namespace

static Operation operationOf(uint32_t result) {
  if (result == DPC_CONVOLUTION_X)
    return {DnnDescriptorType::operationInputGradient,
            DnnAttribute::inputGradientAlpha,
            DnnAttribute::inputGradientBeta,
            DnnAttribute::inputGradientConvolution,
            DnnAttribute::inputGradientW,
            DnnAttribute::inputGradientX,
            DnnAttribute::inputGradientY};
  if (result == DPC_CONVOLUTION_W)
    return {DnnDescriptorType::operationWeightGradient,
            DnnAttribute::weightGradientAlpha,
            DnnAttribute::weightGradientBeta,
            DnnAttribute::weightGradientConvolution,
            DnnAttribute::weightGradientW,
            DnnAttribute::weightGradientX,
            DnnAttribute::weightGradientY};
  return {DnnDescriptorType::operationForward,
          DnnAttribute::forwardAlpha,
          DnnAttribute::forwardBeta,
          DnnAttribute::forwardConvolution,
          DnnAttribute::forwardW,
          DnnAttribute::forwardX,
          DnnAttribute::forwardY};
}

static Descriptor describeTensor(const Cudnn &library, const WantedConvolution &wanted,
                                 uint32_t buffer) {
  const dpc_convolution_t &convolution = wanted.convolution;
  const dpc_convolution_tensor_t &tensor = *dpc_convolution_tensor(&convolution, buffer);
  const uint32_t rank = convolution.spatial + 2;
  Descriptor made(library, DnnDescriptorType::tensor);
  made.set(DnnAttribute::tensorId, static_cast<int64_t>(buffer) + 1);
  made.set(DnnAttribute::tensorType, dataType(convolution.dtype));
  made.set(DnnAttribute::tensorAlignment,
           static_cast<int64_t>(std::min(wanted.alignments[buffer], kMostAlignment)));
  made.set(DnnAttribute::tensorExtents, numbers(tensor.extents, rank));
  made.set(DnnAttribute::tensorStrides, numbers(tensor.strides, rank));
  made.finalize();
  return made;
}

static Descriptor describeGeometry(const Cudnn &library, const dpc_convolution_t &convolution) {
  const uint32_t spatial = convolution.spatial;
  const DnnDataType sums = convolution.dtype == DPC_F64 ? DnnDataType::f64 : DnnDataType::f32;
  const auto mode = cuda::DnnConvolutionMode::crossCorrelation;
  Descriptor made(library, DnnDescriptorType::convolution);
  made.set(DnnAttribute::convolutionComputeType, sums);
  made.set(DnnAttribute::convolutionMode, DnnType::convolutionMode, 1, &mode);
  made.set(DnnAttribute::convolutionSpatial, static_cast<int64_t>(spatial));
  made.set(DnnAttribute::convolutionDilations, numbers(convolution.dilations, spatial));
  made.set(DnnAttribute::convolutionStrides, numbers(convolution.strides, spatial));
  made.set(DnnAttribute::convolutionPadLow, numbers(convolution.pad_low, spatial));
  made.set(DnnAttribute::convolutionPadHigh, numbers(convolution.pad_high, spatial));
  made.finalize();
  return made;
}

Graph::Graph(const Cudnn &library, const Device &device, const WantedConvolution &wanted) {
  for (uint32_t buffer = 0; buffer < DPC_CONVOLUTION_WORKSPACE; ++buffer)
    tensors[buffer] = describeTensor(library, wanted, buffer);
  convolution = describeGeometry(library, wanted.convolution);
  const Operation names = operationOf(wanted.convolution.result);
  const double one = 1, zero = 0;
  const float oneF32 = 1, zeroF32 = 0;
  const bool isF64 = wanted.convolution.dtype == DPC_F64;
  const DnnType scale = isF64 ? DnnType::f64 : DnnType::f32;
  operation = Descriptor(library, names.type);
  operation.set(names.alpha, scale, 1, isF64 ? static_cast<const void *>(&one) : &oneF32);
  operation.set(names.beta, scale, 1, isF64 ? static_cast<const void *>(&zero) : &zeroF32);
  operation.set(names.convolution, convolution);
  operation.set(names.w, tensors[DPC_CONVOLUTION_W]);
  operation.set(names.x, tensors[DPC_CONVOLUTION_X]);
  operation.set(names.y, tensors[DPC_CONVOLUTION_Y]);
  operation.finalize();
  graph = Descriptor(library, DnnDescriptorType::operationGraph);
  if (device.handle)
    graph.set(DnnAttribute::graphHandle, DnnType::handle, 1, &device.handle);
  graph.set(DnnAttribute::graphOperations, operation);
  graph.finalize();
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The configurations of engines that one kind of heuristics proposes, the best one first.
static std::vector<Descriptor> findConfigs(const Cudnn &library, const Device &device,
                                           const Descriptor &graph, cuda::DnnHeuristicMode mode) {
  Descriptor heuristic(library, DnnDescriptorType::engineHeuristic);
  heuristic.set(DnnAttribute::heuristicGraph, graph);
  heuristic.set(DnnAttribute::heuristicMode, DnnType::heuristicMode, 1, &mode);
  if (!device.handle && device.properties)
    heuristic.set(DnnAttribute::heuristicDevice, *device.properties);
  heuristic.finalize();
  std::vector<Descriptor> configs;
  std::vector<cuda::DnnDescriptorPointer> pointers;
  const int64_t count = heuristic.count(DnnAttribute::heuristicResults, DnnType::descriptor);
  for (int64_t i = 0; i < count; ++i)
    pointers.push_back(configs.emplace_back(library, DnnDescriptorType::engineConfig).get());
  // The library fills the given descriptors, possibly fewer than it announced.
  const int64_t found =
      heuristic.get(DnnAttribute::heuristicResults, DnnType::descriptor, count, pointers.data());
  configs.resize(static_cast<size_t>(std::min(found, count)));
  return configs;
}

static bool has(const std::vector<DnnNumericalNote> &notes, DnnNumericalNote note) {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

/// Whether an engine with these notes computes what `convolution` asks.
static bool areAllowed(const std::vector<DnnNumericalNote> &notes,
                       const dpc_convolution_t &convolution) {
  const bool needsF32 = convolution.dtype == DPC_F32 && !convolution.tf32;
  return !has(notes, DnnNumericalNote::nondeterministic) &&
         !has(notes, DnnNumericalNote::downConvertInputs) &&
         !has(notes, DnnNumericalNote::reducedPrecisionReduction) &&
         !(needsF32 && has(notes, DnnNumericalNote::tensorCore));
}

/// Reads the engine of a configuration. Returns whether it is allowed.
static bool readEngine(const Cudnn &library, const Descriptor &config,
                       const dpc_convolution_t &convolution, Plan &plan) {
  const Descriptor engine(library, DnnDescriptorType::engine);
  cuda::DnnDescriptorPointer pointer = engine.get();
  if (config.get(DnnAttribute::configEngine, DnnType::descriptor, 1, &pointer) != 1)
    return false;
  engine.get(DnnAttribute::engineIndex, DnnType::i64, 1, &plan.engine);
  plan.notes.resize(kMostNotes);
  plan.notes.resize(static_cast<size_t>(engine.get(
      DnnAttribute::engineNumericalNotes, DnnType::numericalNote, kMostNotes, plan.notes.data())));
  cuda::DnnBehaviorNote behavior[kMostNotes];
  const int64_t count =
      engine.get(DnnAttribute::engineBehaviorNotes, DnnType::behaviorNote, kMostNotes, behavior);
  return areAllowed(plan.notes, convolution) &&
         std::find(behavior, behavior + count, cuda::DnnBehaviorNote::runtimeCompilation) ==
             behavior + count;
}

static Descriptor beginPlan(const Cudnn &library, const Device &device) {
  Descriptor plan(library, DnnDescriptorType::executionPlan);
  if (device.handle)
    plan.set(DnnAttribute::planHandle, DnnType::handle, 1, &device.handle);
  else if (device.properties)
    plan.set(DnnAttribute::planDevice, *device.properties);
  return plan;
}

/// Reads the size of the workspace and the text of a finalized plan. Returns whether it has both.
static bool readPlanFields(Plan &plan) {
  int64_t bytes = 0;
  if (plan.descriptor.get(DnnAttribute::planWorkspace, DnnType::i64, 1, &bytes) != 1 || bytes < 0)
    return false;
  plan.workspaceBytes = static_cast<uint64_t>(bytes);
  const int64_t length = plan.descriptor.count(DnnAttribute::planText, DnnType::character);
  plan.text.resize(static_cast<size_t>(length));
  plan.text.resize(static_cast<size_t>(
      plan.descriptor.get(DnnAttribute::planText, DnnType::character, length, plan.text.data())));
  // The library counts a zero at the end.
  while (!plan.text.empty() && plan.text.back() == '\0')
    plan.text.pop_back();
  return !plan.text.empty();
}

std::vector<Plan> findPlans(const Cudnn &library, const Device &device,
                            const WantedConvolution &wanted, size_t most) {
  std::vector<Plan> plans;
  const Graph graph(library, device, wanted);
  if (graph.graph.getStatus() != DnnStatus::success)
    return plans;
  for (cuda::DnnHeuristicMode mode :
       {cuda::DnnHeuristicMode::a, cuda::DnnHeuristicMode::b, cuda::DnnHeuristicMode::fallback})
    for (const Descriptor &config : findConfigs(library, device, graph.graph, mode)) {
      if (plans.size() == most)
        return plans;
      Plan plan;
      if (!readEngine(library, config, wanted.convolution, plan))
        continue;
      plan.descriptor = beginPlan(library, device);
      plan.descriptor.set(DnnAttribute::planConfig, config);
      if (plan.descriptor.finalize() != DnnStatus::success || !readPlanFields(plan) ||
          plan.workspaceBytes > wanted.workspaceBytes)
        continue;
      if (std::none_of(plans.begin(), plans.end(),
                       [&](const Plan &other) { return other.text == plan.text; }))
        plans.push_back(std::move(plan));
    }
  return plans;
}

Plan readPlan(const Cudnn &library, const Device &device, const std::string &text) {
  Plan plan;
  plan.descriptor = beginPlan(library, device);
  plan.descriptor.set(DnnAttribute::planText, text);
  if (plan.descriptor.finalize() == DnnStatus::success)
    readPlanFields(plan);
  return plan;
}

DnnStatus runPlan(const Cudnn &library, cuda::DnnHandle handle, const Plan &plan,
                  const cuda::DevicePointer *tensors, cuda::DevicePointer workspace,
                  cuda::Stream stream) {
  const int64_t ids[] = {DPC_CONVOLUTION_X + 1, DPC_CONVOLUTION_W + 1, DPC_CONVOLUTION_Y + 1};
  const void *pointers[DPC_CONVOLUTION_WORKSPACE], *scratch = reinterpret_cast<void *>(workspace);
  for (uint32_t i = 0; i < DPC_CONVOLUTION_WORKSPACE; ++i)
    pointers[i] = reinterpret_cast<void *>(tensors[i]);
  Descriptor pack(library, DnnDescriptorType::variantPack);
  pack.set(DnnAttribute::variantIds, DnnType::i64, DPC_CONVOLUTION_WORKSPACE, ids);
  pack.set(DnnAttribute::variantPointers, DnnType::pointer, DPC_CONVOLUTION_WORKSPACE, pointers);
  pack.set(DnnAttribute::variantWorkspace, DnnType::pointer, 1, &scratch);
  if (const DnnStatus status = pack.finalize(); status != DnnStatus::success)
    return status;
  if (const DnnStatus status = library.cudnnSetStream(handle, stream); status != DnnStatus::success)
    return status;
  return library.cudnnBackendExecute(handle, plan.descriptor.get(), pack.get());
}

} // namespace dpc::cudnn
