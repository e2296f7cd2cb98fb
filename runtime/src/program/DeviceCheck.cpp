// Checks the launch tables of a program for a device before the program runs.
// Every buffer must lie inside its space for every microbatch and for every
// member of its group.

#include "runtime/src/program/DeviceCheck.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/device/CallKind.h"
#include "runtime/src/program/ProgramCheck.h"

#include <algorithm>
#include <vector>

namespace dpc {

namespace {

using Number = unsigned long long;

/// The calls of a function: the largest microbatch, and for each of its frames the space that
/// is left from the frame to the end of its logical buffer in the call with the least of it.
struct Calls {
  uint64_t mostMicro = 0;
  std::vector<dpc_logical_buffer_t> frames;
};

/// Notes the frames that `action` passes to its function.
void noteFrames(const dpc_program_t &program, const dpc_rank_t &rank, const dpc_action_t &action,
                Calls *out) {
  const uint32_t count = program.functions[action.function].frame_count;
  const auto *frames = static_cast<const dpc_frame_t *>(action.args);
  const bool isFirst = out->frames.empty();
  out->frames.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    dpc_logical_buffer_t buffer = rank.buffers[frames[i].buffer];
    buffer.bytes -= frames[i].offset - buffer.offset;
    if (isFirst || buffer.bytes < out->frames[i].bytes)
      out->frames[i] = buffer;
  }
}

/// Finds the calls of each function in `table`, and adds them to `out`. Fails if a microbatch is
/// negative or exceeds 32 bits.
dpc_status_t findCalls(const dpc_program_t &program, const dpc_rank_t &rank,
                       const dpc_actions_t &table, std::vector<Calls> *out) {
  uint64_t counts[kMaxLoopDepth];
  uint32_t depth = 0;
  for (uint64_t i = 0; i < table.count; ++i) {
    const dpc_action_t &action = table.actions[i];
    if (action.kind == DPC_ACTION_LOOP_BEGIN)
      counts[depth++] = action.count;
    else if (action.kind == DPC_ACTION_LOOP_END)
      --depth;
    if (action.kind != DPC_ACTION_COMPUTE)
      continue;
    uint64_t more = 0;
    if (action.flags & DPC_ACTION_MICRO_RELATIVE && depth && counts[depth - 1])
      more = counts[depth - 1] - 1;
    if (action.micro < 0 || more > UINT32_MAX - uint64_t(action.micro))
      return fail(DPC_INVALID, "%s is computed for microbatches %d to %d + %llu",
                  program.functions[action.function].name, action.micro, action.micro,
                  Number(more));
    Calls &calls = (*out)[action.function];
    calls.mostMicro = std::max(calls.mostMicro, uint64_t(action.micro) + more);
    noteFrames(program, rank, action, &calls);
  }
  return DPC_OK;
}

/// Checks that the buffer of `param` lies inside its space, or inside its frame, for every
/// microbatch of `calls` and for every member of a group of the parameter's family.
dpc_status_t checkParam(const dpc_program_t &program, const dpc_param_t &param,
                        const Spaces &spaces, const Calls &calls) {
  if (param.frame > calls.frames.size())
    return fail(DPC_INVALID, "frame %u of %llu", param.frame, Number(calls.frames.size()));
  if (param.family != DPC_NONE && param.family >= program.family_count)
    return fail(DPC_INVALID, "group family %u of %u", param.family, program.family_count);
  const uint64_t members = param.family == DPC_NONE ? 1 : program.families[param.family].group_size;
  Spaces limits = spaces;
  if (param.frame) {
    const dpc_logical_buffer_t &frame = calls.frames[param.frame - 1];
    limits.bytes[param.space % DPC_SPACE_COUNT] = frame.space == param.space ? frame.bytes : 0;
  }
  bool fits = limits.holds(param.space, param.offset, param.bytes);
  uint64_t free = fits ? limits.bytes[param.space] - param.offset - param.bytes : 0;
  auto move = [&](uint64_t stride, uint64_t times) {
    fits = fits && (times == 0 || stride <= free / times);
    free -= fits ? stride * times : 0;
  };
  move(param.micro_stride, calls.mostMicro);
  move(param.index_stride, members - 1);
  return fits
             ? DPC_OK
             : fail(DPC_INVALID,
                    "its buffer (space %u, offset %llu, %llu bytes, moved %llu "
                    "x %llu and %llu x %llu) is outside its space",
                    param.space, Number(param.offset), Number(param.bytes), Number(calls.mostMicro),
                    Number(param.micro_stride), Number(members - 1), Number(param.index_stride));
}

/// Checks that the kernel of `launch` exists, has code for the kind of device, and runs on a
/// valid grid.
dpc_status_t checkKernel(const dpc_device_program_t &device, const dpc_launch_t &launch) {
  if (launch.kernel >= device.kernel_count)
    return fail(DPC_INVALID, "kernel %u of %u", launch.kernel, device.kernel_count);
  const dpc_kernel_t &kernel = device.kernels[launch.kernel];
  if (device.kind == DPC_DEVICE_HOST)
    return kernel.code ? DPC_OK : fail(DPC_INVALID, "kernel %u has no code", launch.kernel);
  if (!kernel.images || !kernel.symbol || kernel.images[0].kind == DPC_IMAGE_NONE)
    return fail(DPC_INVALID, "kernel %u has no image", launch.kernel);
  for (uint32_t i = 0; kernel.images[i].kind != DPC_IMAGE_NONE; ++i) {
    const dpc_image_t &image = kernel.images[i];
    const bool isText = image.kind == DPC_IMAGE_PTX;
    if (i == DPC_MAX_IMAGES || image.kind >= DPC_IMAGE_KIND_COUNT || image.bytes == 0 ||
        (isText && image.data[image.bytes - 1] != 0))
      return fail(DPC_INVALID, "kernel %u: image %u is none", launch.kernel, i);
  }
  constexpr uint32_t mostBlocks = INT32_MAX, mostThreads = 1024, mostShared = 227 << 10;
  if (launch.blocks < 1 || launch.blocks > mostBlocks || launch.threads < 1 ||
      launch.threads > mostThreads)
    return fail(DPC_INVALID, "a grid of %u blocks of %u threads", launch.blocks, launch.threads);
  if (launch.shared_bytes > mostShared)
    return fail(DPC_INVALID, "a block has %u bytes of shared memory", launch.shared_bytes);
  return DPC_OK;
}

/// Checks that the param table has the entries [first, first + count).
dpc_status_t checkRange(const dpc_device_program_t &device, uint64_t first, uint64_t count) {
  if (first <= device.param_count && count <= device.param_count - first)
    return DPC_OK;
  return fail(DPC_INVALID, "parameters %llu to %llu + %llu of %llu", Number(first), Number(first),
              Number(count), Number(device.param_count));
}

/// Checks that the library call of `launch` is valid. Its buffers must lie inside their
/// spaces and must be large enough for the call.
dpc_status_t checkCall(const dpc_program_t &program, const dpc_launch_t &launch,
                       const Spaces &spaces, const Calls &calls) {
  const dpc_device_program_t &device = *program.device;
  if (launch.call >= device.call_count)
    return fail(DPC_INVALID, "library call %llu of %llu", Number(launch.call),
                Number(device.call_count));
  const dpc_library_call_t &call = device.calls[launch.call];
  const CallKind *kind = findCallKind(call.kind);
  if (!kind)
    return fail(DPC_INVALID, "a library call of unknown kind %u", call.kind);
  if (call.bytes != kind->bytes || !call.description)
    return fail(DPC_INVALID, "a %s has a description of %u bytes, not %llu", kind->name,
                call.description ? call.bytes : 0, Number(kind->bytes));
  if (dpc_status_t status = kind->check(call.description))
    return status;
  const uint32_t count = kind->countBuffers(call.description);
  if (launch.call_param_count != count)
    return fail(DPC_INVALID, "a %s has %llu buffers, not %u", kind->name,
                Number(launch.call_param_count), count);
  if (dpc_status_t status = checkRange(device, launch.first_call_param, count))
    return status;
  for (uint32_t i = 0; i < count; ++i) {
    const dpc_param_t &param = device.params[launch.first_call_param + i];
    if (dpc_status_t status = checkParam(program, param, spaces, calls))
      return failWithin(status, "%s %u of a %s", kind->buffer, i, kind->name);
    if (dpc_status_t status = kind->checkBuffer(call.description, i, param.bytes))
      return status;
  }
  return DPC_OK;
}

/// Checks one launch: its kind, its kernel or library call, and all of its buffers.
dpc_status_t checkLaunch(const dpc_program_t &program, const dpc_launch_t &launch,
                         const Spaces &spaces, const Calls &calls) {
  const dpc_device_program_t &device = *program.device;
  if (dpc_status_t status = checkRange(device, launch.first_param, launch.param_count))
    return status;
  const dpc_param_t *params = device.params + launch.first_param;
  switch (launch.kind) {
  case DPC_LAUNCH_CALL:
    if (dpc_status_t status = checkCall(program, launch, spaces, calls))
      return status;
    [[fallthrough]];
  case DPC_LAUNCH_KERNEL:
    if (dpc_status_t status = checkKernel(device, launch))
      return status;
    break;
  case DPC_LAUNCH_COPY:
    if (launch.param_count != 2 || params[0].bytes != params[1].bytes)
      return fail(DPC_INVALID, "a copy has not two buffers of one size");
    break;
  case DPC_LAUNCH_FILL:
    if (launch.param_count != 1 || params[0].bytes != sizeof(int64_t))
      return fail(DPC_INVALID, "a fill has not one buffer of 8 bytes");
    break;
  default:
    return fail(DPC_INVALID, "unknown kind %u", launch.kind);
  }
  for (uint64_t i = 0; i < launch.param_count; ++i)
    if (dpc_status_t status = checkParam(program, params[i], spaces, calls))
      return failWithin(status, "parameter %llu", Number(i));
  return DPC_OK;
}

} // namespace

dpc_status_t checkDevice(const dpc_program_t &program, uint32_t rank, const Spaces &spaces) {
  const dpc_device_program_t &device = *program.device;
  if (device.struct_size < sizeof(dpc_device_program_t))
    return fail(DPC_INVALID, "the device's tables have %u bytes, not %zu", device.struct_size,
                sizeof(dpc_device_program_t));
  if (device.kind >= DPC_DEVICE_KIND_COUNT)
    return fail(DPC_INVALID, "the program is for a device of unknown kind %llu",
                Number(device.kind));
  std::vector<Calls> calls(program.function_count);
  for (const dpc_actions_t &table : program.ranks[rank].entries)
    if (dpc_status_t status = findCalls(program, program.ranks[rank], table, &calls))
      return status;
  for (uint32_t f = 0; f < program.function_count; ++f) {
    const dpc_launches_t &launches = device.functions[f];
    const char *name = program.functions[f].name;
    if (program.functions[f].stage != program.ranks[rank].stage)
      continue; // the ranks of its stage check it
    if (launches.first > device.launch_count ||
        launches.count > device.launch_count - launches.first)
      return fail(DPC_INVALID, "%s: launches %llu to %llu + %llu of %llu", name,
                  Number(launches.first), Number(launches.first), Number(launches.count),
                  Number(device.launch_count));
    for (uint64_t i = 0; i < launches.count; ++i)
      if (dpc_status_t status =
              checkLaunch(program, device.launches[launches.first + i], spaces, calls[f]))
        return failWithin(status, "%s: launch %llu", name, Number(i));
  }
  return DPC_OK;
}

} // namespace dpc
