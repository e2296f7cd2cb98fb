// Enqueues the launches of a program on the stream of a CUDA device, and captures
// the work of an entry as a CUDA graph.

#include "runtime/src/device/CudaQueue.h"

#include "dpc/action.h"
#include "runtime/src/base/Groups.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/device/CallTuner.h"
#include "runtime/src/device/Launches.h"
#include "runtime/src/device/NcclComm.h"
#include "runtime/src/device/Operations.h"
#include "runtime/src/device/StagedComm.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace dpc {

CudaQueue::CudaQueue(const dpc_program_t &program, dpc_comm_t &control, const QueueOptions &options)
    : program(program), control(control), options(options),
      groupIndex(indexInGroups(program, control.rank)) {}

CudaQueue::~CudaQueue() {
  if (device.stream)
    device.use();
  cuda::Graph left = nullptr;
  if (capturedEntry != DPC_NONE &&
      device.driver.cuStreamEndCapture(device.stream, &left) == cuda::Result::success && left)
    device.driver.cuGraphDestroy(left);
  dropGraphs();
  // The destructor of the communicator aborts operations that wait for a peer, so
  // that the stream can finish.
  comm.reset();
  if (device.stream)
    device.driver.cuStreamSynchronize(device.stream);
  for (const Slot &slot : slots)
    for (cuda::Event event : {slot.uploaded, slot.done})
      if (event)
        device.driver.cuEventDestroy_v2(event);
  for (void *memory : lockedMemory)
    device.driver.cuMemFreeHost(memory);
}

void CudaQueue::dropGraphs() {
  for (cuda::GraphExec &graph : graphs) {
    if (graph)
      device.driver.cuGraphExecDestroy(graph);
    graph = nullptr;
  }
}

dpc_status_t CudaQueue::open(RankMemory &memory) {
  if (dpc_status_t status =
          device.open(rankOnHost(control.rank, control.world_size, control.hosts)))
    return status;
  if (dpc_status_t status = device.load(program, control.rank))
    return status;
  if (dpc_status_t status = openSlots())
    return status;
  if (control.world_size > 1)
    if (dpc_status_t status = connect(memory))
      return status;
  if (dpc_status_t status = openLibraries(memory))
    return status;
  // A staged operation waits for the stream, and the stream would wait for the host.
  if (!options.profileFile.empty())
    times = std::make_unique<LaunchTimes>(device, program, options.profileFile,
                                          /*holds=*/!options.isStaged);
  for (const std::string &note : cuda::takeLibraryNotes())
    if (control.rank == 0)
      std::fprintf(stderr, "note: %s\n", note.c_str());
  return DPC_OK;
}

/// Lets the libraries choose their algorithms, and makes each library call once before
/// the first step. A library loads its kernels during its first call, and it cannot load
/// them while the first step is captured as a graph. All memory is still zero, so these
/// calls write only zeros and change nothing.
dpc_status_t CudaQueue::openLibraries(RankMemory &memory) {
  ProgramCalls::Refine tune;
  if (!options.tuneFile.empty())
    tune = [&](const ProgramCalls::OfKind &own) {
      return CallTuner(device, own, options.tuneFile,
                       [&](uint64_t launch) { return performExample(launch); })
          .run();
    };
  if (dpc_status_t status =
          calls.open(program, control, memory.window(), RankMemory::kWindowBytes, tune))
    return status;
  for (uint64_t launch : calls.getExamples())
    if (dpc_status_t status = performExample(launch))
      return status;
  return DPC_OK;
}

dpc_status_t CudaQueue::connect(RankMemory &memory) {
  const uint64_t sharedBytes = program.ranks[control.rank].shared_bytes;
  dpc_comm_options_t families = {};
  families.rank = control.rank;
  families.world_size = control.world_size;
  families.family_count = program.family_count;
  families.families = program.families;
  std::vector<Group> groups;
  if (dpc_status_t status = findGroups(families, "a device", control.world_size, &groups))
    return status;
  Region region(reinterpret_cast<char *>(device.base(DPC_SPACE_SHARED)), sharedBytes);
  void *all = nullptr;
  if (dpc_status_t status = region.allocate(sharedBytes, &all))
    return status;
  DeviceCommParts parts = {device, control,     memory.window(),        std::move(groups),
                           region, sharedBytes, options.timeoutSeconds, [this] { dropGraphs(); },
                           {}};
  for (PlacedOperation &each : findFirstOperations(program, control.rank))
    parts.first.push_back(withAddresses(each.op, each.in, each.out));
  if (options.isStaged)
    comm = std::make_unique<StagedComm>(std::move(parts), memory.base(DPC_SPACE_SHARED));
  else
    comm = std::make_unique<NcclComm>(std::move(parts));
  return comm->open(program.ranks[control.rank].event_count);
}

dpc_status_t CudaQueue::begin(uint32_t entry, bool *isDone) {
  *isDone = false;
  if (dpc_status_t status = device.use())
    return status;
  if (comm)
    if (dpc_status_t status = comm->begin(entry, /*isKept=*/options.keepsEntries && !graphs[entry]))
      return status;
  if (dpc_status_t status = device.check(
          device.driver.cuEventRecord(slotOf(submitted).uploaded, device.stream), "an event"))
    return status;
  if (times)
    return times->begin(entry);
  if (!options.keepsEntries)
    return DPC_OK;
  if (graphs[entry]) {
    *isDone = true;
    return device.check(device.driver.cuGraphLaunch(graphs[entry], device.stream),
                        "launching a graph");
  }
  if (dpc_status_t status = device.check(
          device.driver.cuStreamBeginCapture_v2(device.stream, cuda::CaptureMode::threadLocal),
          "capturing a graph"))
    return status;
  capturedEntry = entry;
  return DPC_OK;
}

/// Makes a graph of the captured work and launches the graph.
dpc_status_t CudaQueue::endCapture() {
  const uint32_t entry = capturedEntry;
  capturedEntry = DPC_NONE;
  const cuda::Driver &driver = device.driver;
  cuda::Graph graph = nullptr;
  if (dpc_status_t status =
          device.check(driver.cuStreamEndCapture(device.stream, &graph), "capturing a graph"))
    return status;
  // Collectives keep the priority of their stream, because other ranks wait for them.
  const cuda::Result made =
      driver.cuGraphInstantiateWithFlags(&graphs[entry], graph, cuda::kGraphUseNodePriority);
  driver.cuGraphDestroy(graph);
  if (dpc_status_t status = device.check(made, "making a graph"))
    return status;
  return device.check(driver.cuGraphLaunch(graphs[entry], device.stream), "launching a graph");
}

/// Sets `pointers` to the device addresses of `count` entries of the param table,
/// from the entry `first` on.
void CudaQueue::findPointers(uint64_t first, uint64_t count, uint32_t micro, const void *args) {
  pointers.clear();
  for (uint64_t i = first; i < first + count; ++i)
    pointers.push_back(pointerTo(addressOf(program.device->params[i], micro, groupIndex, args)));
}

/// Makes the launch `number` once before the first step, for the first action that makes it.
dpc_status_t CudaQueue::performExample(uint64_t number) {
  for (const dpc_actions_t &table : program.ranks[control.rank].entries)
    for (uint64_t i = 0; i < table.count; ++i) {
      const dpc_action_t &action = table.actions[i];
      if (action.kind != DPC_ACTION_COMPUTE)
        continue;
      const dpc_launches_t &launches = program.device->functions[action.function];
      if (number >= launches.first && number - launches.first < launches.count)
        return perform(number, /*micro=*/0, action.args);
    }
  return fail(DPC_INVALID, "launch %llu is of no action", static_cast<unsigned long long>(number));
}

/// Enqueues the work of entry `number` of the launch table. If the launch is a library
/// call that the library supports, the library enqueues the work.
dpc_status_t CudaQueue::perform(uint64_t number, uint32_t micro, const void *args) {
  const dpc_device_program_t &tables = *program.device;
  const dpc_launch_t &launch = tables.launches[number];
  const cuda::Driver &driver = device.driver;
  if (calls.makes(number)) {
    findPointers(launch.first_call_param, launch.call_param_count, micro, args);
    if (dpc_status_t status = calls.run(number, pointers.data(), device.stream))
      return failWithin(status, "kernel %s", tables.kernels[launch.kernel].name);
    return DPC_OK;
  }
  findPointers(launch.first_param, launch.param_count, micro, args);
  switch (launch.kind) {
  case DPC_LAUNCH_CALL:
  case DPC_LAUNCH_KERNEL: {
    parameters.clear();
    for (cuda::DevicePointer &pointer : pointers)
      parameters.push_back(&pointer);
    const cuda::Result launched =
        driver.cuLaunchKernel(device.function(launch.kernel), launch.blocks, 1, 1, launch.threads,
                              1, 1, launch.shared_bytes, device.stream, parameters.data(), nullptr);
    if (launched == cuda::Result::success)
      return DPC_OK;
    return device.check(launched,
                        ("kernel " + std::string(tables.kernels[launch.kernel].name)).c_str());
  }
  case DPC_LAUNCH_COPY:
    return device.check(driver.cuMemcpyDtoDAsync_v2(pointers[1], pointers[0],
                                                    tables.params[launch.first_param].bytes,
                                                    device.stream),
                        "a copy");
  case DPC_LAUNCH_FILL: {
    const auto value = static_cast<uint64_t>(fillValue(launch, micro));
    for (const uint32_t half : {0u, 1u})
      if (dpc_status_t status =
              device.check(driver.cuMemsetD32Async(pointers[0] + 4 * half,
                                                   static_cast<uint32_t>(value >> (32 * half)), 1,
                                                   device.stream),
                           "the number of a microbatch"))
        return status;
    return DPC_OK;
  }
  default:
    return fail(DPC_INVALID, "a launch of unknown kind %u", launch.kind);
  }
}

dpc_status_t CudaQueue::compute(uint32_t function, uint32_t micro, const void *args) {
  const dpc_launches_t &launches = program.device->functions[function];
  for (uint64_t i = launches.first; i < launches.first + launches.count; ++i) {
    if (dpc_status_t status = perform(i, micro, args))
      return status;
    if (times)
      if (dpc_status_t status =
              times->mark({LaunchTimes::Piece::launch, function, i, micro, calls.makes(i)}))
        return status;
  }
  return DPC_OK;
}

dpc_status_t CudaQueue::start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                              uint32_t event) {
  if (!comm)
    return fail(DPC_INVALID, "the program has one rank, and communicates");
  return comm->start(withAddresses(op, in, out), event);
}

dpc_comm_op_t CudaQueue::withAddresses(dpc_comm_op_t op, DeviceAddress in,
                                       DeviceAddress out) const {
  if (op.op != DPC_OP_BARRIER) {
    op.in = reinterpret_cast<const void *>(pointerTo(in));
    op.out = reinterpret_cast<void *>(pointerTo(out));
  }
  return op;
}

dpc_status_t CudaQueue::wait(uint32_t event) {
  if (!comm)
    return fail(DPC_INVALID, "event %u is waited for before its start", event);
  if (dpc_status_t status = comm->wait(event))
    return status;
  return times ? times->mark({LaunchTimes::Piece::wait}) : dpc_status_t(DPC_OK);
}

dpc_status_t CudaQueue::zero(DeviceAddress to, uint64_t bytes) {
  if (dpc_status_t status = device.use())
    return status;
  if (dpc_status_t status = device.check(
          device.driver.cuMemsetD8Async(pointerTo(to), 0, bytes, device.stream), "clearing memory"))
    return status;
  return times && times->isUnderWay() ? times->mark({LaunchTimes::Piece::zero})
                                      : dpc_status_t(DPC_OK);
}

} // namespace dpc
