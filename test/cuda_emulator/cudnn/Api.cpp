// The graph API of cuDNN on the emulated device. Descriptors keep attributes; finalizing one checks
// them; a plan runs the operations of its graph one after the other.
#include "test/cuda_emulator/driver/Api.h"
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/cudnn/Engines.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

using namespace dpc::cuda;
using namespace dpc::emulator;

using At = DnnAttribute;

namespace dpc::cuda {
extern "C" {
DPC_CUDNN_FUNCTIONS(DPC_EMU_DECLARE)
}
} // namespace dpc::cuda

namespace {
struct Handle {
  Stream stream = nullptr;
};

/// A run of a plan, with its tensors where the host reaches them.
struct Run {
  DnnPlan plan;
  std::map<int64_t, char *> tensors;
  char *workspace = nullptr;
};
} // namespace

static thread_local std::string lastError;

static DnnDescriptor *of(DnnDescriptorPointer descriptor) {
  return static_cast<DnnDescriptor *>(descriptor);
}

static DnnStatus refuse(DnnStatus status, const std::string &why) {
  lastError = why;
  return status;
}

/// The operations of a finalized graph.
static DnnStatus readGraph(const DnnState &graph, std::vector<DnnConvolution> &out) {
  std::string why;
  for (const DnnStatePointer &operation : graph.values.at(At::graphOperations).descriptors) {
    DnnConvolution &convolution = out.emplace_back();
    // Padding between the members is part of the text of plans.
    std::memset(static_cast<void *>(&convolution), 0, sizeof convolution);
    convolution = DnnConvolution();
    if (const DnnStatus status = readOperation(*operation, convolution, why);
        status != DnnStatus::success)
      return refuse(status, why);
  }
  return DnnStatus::success;
}

static DnnStatus finalizePlan(DnnState &state) {
  if (!state.has(At::planHandle) && !state.has(At::planDevice))
    return refuse(DnnStatus::badParameter, "a plan has neither a handle nor a device");
  if (state.has(At::planConfig) == state.has(At::planText))
    return refuse(DnnStatus::badParameter, "a plan has a configuration or a text");
  if (state.has(At::planConfig)) {
    state.plan = state.descriptor(At::planConfig).plan;
    return DnnStatus::success;
  }
  std::optional<DnnPlan> plan = parsePlan(state.values.at(At::planText).bytes);
  if (!plan)
    return refuse(DnnStatus::badParameter, "the text is no plan");
  state.plan = std::make_shared<const DnnPlan>(std::move(*plan));
  return DnnStatus::success;
}

static DnnStatus finalizeHeuristic(DnnState &state) {
  std::vector<DnnConvolution> operations;
  if (const DnnStatus status = readGraph(state.descriptor(At::heuristicGraph), operations);
      status != DnnStatus::success)
    return status;
  dpcEmulatorCount("cudnnHeuristics");
  for (DnnPlan &plan : propose(operations, state.value<DnnHeuristicMode>(At::heuristicMode)))
    state.proposals.push_back(std::make_shared<const DnnPlan>(std::move(plan)));
  return DnnStatus::success;
}

/// What finalizing checks and computes, apart from the attributes that are there.
static DnnStatus finalize(DnnState &state) {
  std::string why;
  DnnStatus status = DnnStatus::success;
  DnnConvolution convolution;
  std::vector<DnnConvolution> operations;
  switch (state.type) {
  case DnnDescriptorType::tensor:
    status = readTensor(state, convolution.tensors[0], why);
    break;
  case DnnDescriptorType::convolution:
    status = readGeometry(state, convolution, why);
    break;
  case DnnDescriptorType::operationForward:
  case DnnDescriptorType::operationInputGradient:
  case DnnDescriptorType::operationWeightGradient:
    status = readOperation(state, convolution, why);
    break;
  case DnnDescriptorType::operationGraph:
    return readGraph(state, operations);
  case DnnDescriptorType::engineHeuristic:
    return finalizeHeuristic(state);
  case DnnDescriptorType::executionPlan:
    return finalizePlan(state);
  case DnnDescriptorType::variantPack:
    if (state.values.at(At::variantIds).count != state.values.at(At::variantPointers).count)
      return refuse(DnnStatus::badParameter, "not one pointer per tensor");
    break;
  case DnnDescriptorType::deviceProperties:
    break;
  case DnnDescriptorType::engine:
  case DnnDescriptorType::engineConfig:
    return refuse(DnnStatus::notSupported, "the emulator makes engines by heuristics alone");
  }
  return status == DnnStatus::success ? status : refuse(status, why);
}

/// Copies the elements of an attribute as far as there is room. `type` is that of the attribute.
template <typename T>
static DnnStatus give(const std::vector<T> &values, DnnType type, DnnType asked, int64_t room,
                      int64_t *count, void *elements) {
  if (asked != type)
    return refuse(DnnStatus::attributeType, "an attribute has another type");
  if (count)
    *count = static_cast<int64_t>(values.size());
  if (room > 0 && !elements)
    return refuse(DnnStatus::nullPointer, "there is no place for elements");
  const size_t copied = std::min(values.size(), static_cast<size_t>(std::max<int64_t>(room, 0)));
  if (copied && elements)
    std::memcpy(elements, values.data(), copied * sizeof(T));
  if (count && room > 0)
    *count = static_cast<int64_t>(copied);
  return DnnStatus::success;
}

/// Fills descriptors of the caller with plans.
static DnnStatus giveDescriptors(const std::vector<std::shared_ptr<const DnnPlan>> &plans,
                                 DnnDescriptorType type, DnnType asked, int64_t room,
                                 int64_t *count, void *elements) {
  if (asked != DnnType::descriptor)
    return refuse(DnnStatus::attributeType, "an attribute has another type");
  const int64_t all = static_cast<int64_t>(plans.size()),
                given = room > 0 ? std::min(room, all) : 0;
  for (int64_t i = 0; i < given; ++i) {
    DnnDescriptor *into = static_cast<DnnDescriptor **>(elements)[i];
    if (!into || into->state->type != type)
      return refuse(DnnStatus::descriptorType, "a descriptor to fill has another type");
    into->state->plan = plans[static_cast<size_t>(i)];
    into->state->isFinalized = true;
  }
  if (count)
    *count = room > 0 ? given : all;
  return DnnStatus::success;
}

/// Where a tensor of a plan lies, checked against what the plan was made for.
static char *reachTensor(const DnnTensor &tensor, void *pointer) {
  if (reinterpret_cast<uint64_t>(pointer) % static_cast<uint64_t>(tensor.alignment))
    fail("cudnnBackendExecute: tensor %lld lies at %p, but its plan was made for an alignment of "
         "%lld bytes",
         static_cast<long long>(tensor.id), pointer, static_cast<long long>(tensor.alignment));
  return static_cast<char *>(
      dpcEmulatorReach(pointer, tensor.reach(), "tensor of cudnnBackendExecute"));
}

static void execute(const Run &run) {
  if (Options::get().runsSomeBlocks())
    return;
  if (run.plan.setting == Options::get().slowSetting)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // What is left in the workspace is nothing that anyone may rely on.
  std::memset(run.workspace, 0x7f, run.plan.getWorkspace());
  for (const DnnConvolution &operation : run.plan.operations) {
    char *data[kDnnTensors];
    for (int i = 0; i < kDnnTensors; ++i)
      data[i] = run.tensors.at(operation.tensors[i].id);
    compute(operation, data, run.plan.getRounding());
  }
}

namespace dpc::cuda {
extern "C" {

size_t cudnnGetVersion() { return 91900; }

const char *cudnnGetErrorString(DnnStatus status) {
  switch (static_cast<int>(status) / 1000) {
  case 0:
    return "CUDNN_STATUS_SUCCESS";
  case 1:
    return "CUDNN_STATUS_NOT_INITIALIZED";
  case 2:
    return "CUDNN_STATUS_BAD_PARAM";
  case 3:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  default:
    return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}

void cudnnGetLastErrorString(char *message, size_t bytes) {
  const size_t copied = std::min(lastError.size(), bytes ? bytes - 1 : 0);
  lastError.copy(message, copied);
  if (bytes)
    message[copied] = '\0';
  lastError.clear();
}

DnnStatus cudnnCreate(DnnHandle *handle) {
  if (dpcEmulatorDevice() < 0)
    return refuse(DnnStatus::notInitialized, "this thread uses no device");
  *handle = reinterpret_cast<DnnHandle>(new Handle);
  return DnnStatus::success;
}

DnnStatus cudnnDestroy(DnnHandle handle) {
  delete reinterpret_cast<Handle *>(handle);
  return DnnStatus::success;
}

DnnStatus cudnnSetStream(DnnHandle handle, Stream stream) {
  reinterpret_cast<Handle *>(handle)->stream = stream;
  return DnnStatus::success;
}

DnnStatus cudnnBackendCreateDescriptor(DnnDescriptorType type, DnnDescriptorPointer *descriptor) {
  if (!descriptor)
    return refuse(DnnStatus::nullPointer, "there is no place for a descriptor");
  auto *made = new DnnDescriptor{std::make_shared<DnnState>()};
  made->state->type = type;
  *descriptor = made;
  return DnnStatus::success;
}

DnnStatus cudnnBackendDestroyDescriptor(DnnDescriptorPointer descriptor) {
  delete of(descriptor);
  return DnnStatus::success;
}

DnnStatus cudnnBackendFinalize(DnnDescriptorPointer descriptor) {
  if (!descriptor)
    return refuse(DnnStatus::nullPointer, "there is no descriptor");
  DnnState &state = *of(descriptor)->state;
  std::string why;
  if (const DnnStatus status = checkAttributes(state, why); status != DnnStatus::success)
    return refuse(status, why);
  const DnnStatus status = finalize(state);
  state.isFinalized = status == DnnStatus::success;
  return status;
}

DnnStatus cudnnBackendSetAttribute(DnnDescriptorPointer descriptor, DnnAttribute attribute,
                                   DnnType type, int64_t count, const void *elements) {
  if (!descriptor)
    return refuse(DnnStatus::nullPointer, "there is no descriptor");
  if (of(descriptor)->state->isFinalized)
    return refuse(DnnStatus::notInitialized, "the descriptor is finalized");
  const DnnStatus status = setAttribute(*of(descriptor)->state, attribute, type, count, elements);
  return status == DnnStatus::success ? status : refuse(status, "an attribute cannot be set");
}

DnnStatus cudnnBackendGetAttribute(DnnDescriptorPointer descriptor, DnnAttribute attribute,
                                   DnnType type, int64_t requested, int64_t *count,
                                   void *elements) {
  if (!descriptor)
    return refuse(DnnStatus::nullPointer, "there is no descriptor");
  const DnnState &state = *of(descriptor)->state;
  if (!state.isFinalized)
    return refuse(DnnStatus::notFinalized, "the descriptor is not finalized");
  auto give = [&](const auto &values, DnnType own) {
    return ::give(values, own, type, requested, count, elements);
  };
  const bool isEngine = state.type == DnnDescriptorType::engine,
             isPlan = state.type == DnnDescriptorType::executionPlan,
             isConfig = state.type == DnnDescriptorType::engineConfig;
  if (attribute == At::heuristicResults && state.type == DnnDescriptorType::engineHeuristic)
    return giveDescriptors(state.proposals, DnnDescriptorType::engineConfig, type, requested, count,
                           elements);
  if (attribute == At::configEngine && isConfig)
    return giveDescriptors({state.plan}, DnnDescriptorType::engine, type, requested, count,
                           elements);
  if (attribute == At::engineIndex && isEngine)
    return give(std::vector<int64_t>{state.plan->engine}, DnnType::i64);
  if (attribute == At::engineNumericalNotes && isEngine)
    return give(state.plan->getEngine().notes, DnnType::numericalNote);
  if (attribute == At::engineBehaviorNotes && isEngine)
    return give(state.plan->getEngine().behavior, DnnType::behaviorNote);
  if (attribute == At::planWorkspace && isPlan)
    return give(std::vector<int64_t>{static_cast<int64_t>(state.plan->getWorkspace())},
                DnnType::i64);
  if (attribute == At::planText && isPlan) {
    const std::string text = state.plan->getText();
    return give(std::vector<char>(text.c_str(), text.c_str() + text.size() + 1),
                DnnType::character);
  }
  fail("the attribute %d of a descriptor of type %d is not known", static_cast<int>(attribute),
       static_cast<int>(state.type));
}

DnnStatus cudnnBackendExecute(DnnHandle handle, DnnDescriptorPointer planPointer,
                              DnnDescriptorPointer packPointer) {
  if (!handle || !planPointer || !packPointer)
    return refuse(DnnStatus::nullPointer, "there is no handle, plan or variant pack");
  const DnnState &plan = *of(planPointer)->state, &pack = *of(packPointer)->state;
  if (plan.type != DnnDescriptorType::executionPlan || pack.type != DnnDescriptorType::variantPack)
    return refuse(DnnStatus::descriptorType, "no plan, or no variant pack");
  if (!plan.isFinalized || !pack.isFinalized)
    return refuse(DnnStatus::notFinalized, "the plan or the variant pack is not finalized");
  auto run = std::make_unique<Run>();
  run->plan = *plan.plan;
  const std::vector<int64_t> ids = pack.numbers(At::variantIds),
                             pointers = pack.numbers(At::variantPointers);
  for (const DnnConvolution &operation : run->plan.operations)
    for (const DnnTensor &tensor : operation.tensors) {
      const auto found = std::find(ids.begin(), ids.end(), tensor.id);
      if (found == ids.end())
        return refuse(DnnStatus::badParameter,
                      "tensor " + std::to_string(tensor.id) + " has no pointer");
      run->tensors[tensor.id] = reachTensor(
          tensor, reinterpret_cast<void *>(pointers[static_cast<size_t>(found - ids.begin())]));
    }
  void *workspace =
      pack.has(At::variantWorkspace) ? pack.value<void *>(At::variantWorkspace) : nullptr;
  if (!workspace)
    return refuse(DnnStatus::nullPointer, "the plan needs workspace");
  if (reinterpret_cast<uint64_t>(workspace) % 256)
    fail("cudnnBackendExecute: the workspace lies at %p, which is no multiple of 256", workspace);
  run->workspace = static_cast<char *>(
      dpcEmulatorReach(workspace, run->plan.getWorkspace(), "workspace of cudnnBackendExecute"));
  dpcEmulatorCount("cudnnBackendExecute");
  dpcEmulatorEnqueue(
      reinterpret_cast<Handle *>(handle)->stream,
      [](void *data) { execute(*static_cast<const Run *>(data)); },
      [](void *data) { delete static_cast<Run *>(data); }, run.release());
  return DnnStatus::success;
}
}
} // namespace dpc::cuda
