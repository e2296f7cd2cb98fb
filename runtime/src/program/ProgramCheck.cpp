// Validates a program record before the program runs: checks its ABI, its
// instruction set and its loops. All buffers must lie inside their spaces, and
// all runs of placements inside their tensors.

#include "runtime/src/program/ProgramCheck.h"

#include "dpc/data.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/program/DeviceCheck.h"
#include "runtime/src/program/Spaces.h"

#include <algorithm>

namespace dpc {

namespace {

const char *const kEntryNames[DPC_ENTRY_COUNT] = {"step", "eval", "infer"};

/// Checks the tensors that a file may have in place of a state (`file_tensors`): no
/// element that the strides reach may lie past the end of the file's tensor.
dpc_status_t checkFileTensors(const dpc_state_t &state) {
  for (uint64_t i = 0; i < state.file_tensor_count; ++i) {
    const dpc_file_tensor_t &tensor = state.file_tensors[i];
    bool fits = tensor.holds <= DPC_HOLDS_TIED &&
                (tensor.holds != DPC_HOLDS_ALL || tensor.dim_count <= DPC_MAX_RANK_DIMS);
    uint64_t last = 0;
    for (uint32_t k = 0;
         fits && tensor.holds == DPC_HOLDS_ALL && k < state.dim_count && state.shape[k] > 0; ++k) {
      const uint64_t stride = static_cast<uint64_t>(tensor.strides[k]),
                     steps = static_cast<uint64_t>(state.shape[k] - 1);
      fits = steps == 0 || stride <= (1ull << 48) / steps;
      last += fits ? stride * steps : 0;
    }
    if (!fits ||
        (tensor.holds == DPC_HOLDS_ALL && elementCount(state.shape, state.dim_count) != 0 &&
         last >= elementCount(tensor.shape, tensor.dim_count)))
      return fail(DPC_INVALID, "reaches past tensor %s of the ONNX file", tensor.name);
  }
  return DPC_OK;
}

dpc_status_t checkAbi(const dpc_program_t &program) {
  if (program.abi_version == DPC_ABI_VERSION && program.struct_size >= sizeof(dpc_program_t))
    return DPC_OK;
  return fail(DPC_INVALID,
              "the program was compiled for runtime ABI %u (%u bytes), this "
              "is %u (%zu bytes)",
              program.abi_version, program.struct_size, DPC_ABI_VERSION, sizeof(dpc_program_t));
}

dpc_status_t checkIsa(const dpc_program_t &program) {
  if (program.isa > DPC_ISA_AVX512_BF16)
    return fail(DPC_INVALID, "unknown instruction set %u in the program record", program.isa);
#ifdef __x86_64__
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  const bool avx512Bf16 = avx512 && __builtin_cpu_supports("avx512bf16");
  const char *instead = avx512 ? "--cpu=x86-64-v4" : avx2 ? "--cpu=x86-64-v3" : "--target=scalar";
  if (program.isa >= DPC_ISA_AVX512_BF16 && !avx512Bf16)
    return fail(DPC_INVALID,
                "the program was compiled for x86-64-v4-bf16 (AVX512_BF16), which this processor "
                "lacks; compile with %s",
                instead);
  if (program.isa >= DPC_ISA_AVX512 && !avx512)
    return fail(DPC_INVALID,
                "the program was compiled for x86-64-v4 (AVX-512), which this processor lacks; "
                "compile with %s",
                instead);
  if (program.isa >= DPC_ISA_AVX2 && !avx2)
    return fail(DPC_INVALID,
                "the program was compiled for x86-64-v3 (AVX2), which this processor lacks; "
                "compile with %s",
                instead);
#endif
  return DPC_OK;
}

/// Sizes of the input and output of an operation, as multiples of its count: n
/// if the buffer has the parts of all n members, else 1.
void extents(uint32_t op, uint64_t n, uint64_t *in, uint64_t *out) {
  *in = op == DPC_OP_REDUCE_SCATTER || op == DPC_OP_SCATTER || op == DPC_OP_ALL_TO_ALL ? n : 1;
  *out = op == DPC_OP_ALL_GATHER || op == DPC_OP_GATHER || op == DPC_OP_ALL_TO_ALL ? n : 1;
}

/// Checks that each frame of `action` begins inside its logical buffer.
dpc_status_t checkFrames(const dpc_program_t &program, const dpc_rank_t &rank, const Spaces &spaces,
                         const dpc_action_t &action) {
  const dpc_function_t &function = program.functions[action.function];
  if (function.frame_count > 0 && !action.args)
    return fail(DPC_INVALID, "%s takes %u frames and gets none", function.name,
                function.frame_count);
  for (uint32_t i = 0; i < function.frame_count; ++i) {
    const dpc_frame_t &frame = static_cast<const dpc_frame_t *>(action.args)[i];
    const bool isHere = frame.buffer < rank.buffer_count;
    const dpc_logical_buffer_t buffer =
        isHere ? rank.buffers[frame.buffer] : dpc_logical_buffer_t{};
    if (!isHere || frame.offset < buffer.offset || frame.offset - buffer.offset > buffer.bytes ||
        !spaces.holds(buffer.space, buffer.offset, buffer.bytes))
      return fail(DPC_INVALID,
                  "frame %u of %s (buffer %u of %llu, offset %llu) is outside its buffer", i,
                  function.name, frame.buffer, static_cast<unsigned long long>(rank.buffer_count),
                  static_cast<unsigned long long>(frame.offset));
  }
  return DPC_OK;
}

dpc_status_t checkAction(const dpc_program_t &program, const dpc_rank_t &rank, const Spaces &spaces,
                         const dpc_action_t &action) {
  const uint64_t size = dpc_dtype_size(action.dtype);
  const uint64_t members =
      action.group < program.family_count ? program.families[action.group].group_size : 1;
  auto buffer = [&](const dpc_buffer_t &place, const char *which, uint64_t elements,
                    bool shared) -> dpc_status_t {
    // The buffer's offset grows with the rank's index in its group, so the
    // buffer of the last member must fit.
    if (elements > (1ull << 48) || place.index_stride > (1ull << 48) ||
        !spaces.holds(place.space, place.offset,
                      elements * size + (members - 1) * place.index_stride))
      return fail(DPC_INVALID,
                  "%s buffer (space %u, offset %llu, %llu elements) is outside "
                  "its space",
                  which, place.space, static_cast<unsigned long long>(place.offset),
                  static_cast<unsigned long long>(elements));
    if (shared && place.space != DPC_SPACE_SHARED)
      return fail(DPC_INVALID, "%s buffer of a communication is in private memory", which);
    return DPC_OK;
  };
  if (action.group != DPC_NONE && action.group >= program.family_count)
    return fail(DPC_INVALID, "group family %u of %u", action.group, program.family_count);
  if (action.location != DPC_NONE && action.location >= program.location_count)
    return fail(DPC_INVALID, "location %u of %llu", action.location,
                static_cast<unsigned long long>(program.location_count));
  switch (action.kind) {
  case DPC_ACTION_COMPUTE:
    if (action.function >= program.function_count)
      return fail(DPC_INVALID, "function %u of %u", action.function, program.function_count);
    if (!program.functions[action.function].fn != !!program.device)
      return fail(DPC_INVALID, "%s is %s", program.functions[action.function].name,
                  program.device ? "host code in a program for a device" : "without code");
    return checkFrames(program, rank, spaces, action);
  case DPC_ACTION_START: {
    if (action.op == 0 || action.op >= DPC_OP_COUNT || action.group == DPC_NONE ||
        action.event >= rank.event_count)
      return fail(DPC_INVALID, "operation %u on event %u of %u, group family %u", action.op,
                  action.event, rank.event_count, action.group);
    if (action.op == DPC_OP_BARRIER)
      return DPC_OK;
    if (size == 0)
      return fail(DPC_INVALID, "unknown element type %u", action.dtype);
    uint64_t in, out;
    extents(action.op, program.families[action.group].group_size, &in, &out);
    if (action.op != DPC_OP_RECV)
      if (dpc_status_t status = buffer(action.in, "input", in * action.count, true))
        return status;
    return action.op == DPC_OP_SEND ? DPC_OK
                                    : buffer(action.out, "output", out * action.count, true);
  }
  case DPC_ACTION_WAIT:
    return action.event < rank.event_count
               ? DPC_OK
               : fail(DPC_INVALID, "event %u of %u", action.event, rank.event_count);
  case DPC_ACTION_ZERO:
    return buffer(action.out, "output", action.count, false);
  case DPC_ACTION_LOOP_BEGIN:
  case DPC_ACTION_LOOP_END:
    return DPC_OK;
  }
  return fail(DPC_INVALID, "unknown kind %u", action.kind);
}

dpc_status_t checkActions(const dpc_program_t &program, const dpc_rank_t &rank,
                          const Spaces &spaces, const dpc_actions_t &table) {
  uint64_t open[kMaxLoopDepth];
  uint32_t depth = 0;
  for (uint64_t i = 0; i < table.count; ++i) {
    const dpc_action_t &action = table.actions[i];
    if (dpc_status_t status = checkAction(program, rank, spaces, action))
      return failWithin(status, "action %llu", static_cast<unsigned long long>(i));
    if (action.kind == DPC_ACTION_LOOP_BEGIN) {
      if (depth == kMaxLoopDepth)
        return fail(DPC_INVALID, "action %llu: loops nest deeper than %u",
                    static_cast<unsigned long long>(i), kMaxLoopDepth);
      open[depth++] = i;
    } else if (action.kind == DPC_ACTION_LOOP_END) {
      if (depth == 0 || action.jump != open[depth - 1] || table.actions[action.jump].jump != i)
        return fail(DPC_INVALID, "action %llu: the end of no loop",
                    static_cast<unsigned long long>(i));
      --depth;
    }
  }
  return depth ? fail(DPC_INVALID, "action %llu: a loop without end",
                      static_cast<unsigned long long>(open[depth - 1]))
               : DPC_OK;
}

/// Checks that every piece lies inside the local buffer and inside the tensor,
/// which has `globalElements` elements.
dpc_status_t checkRuns(const dpc_placement_t &placement, uint64_t globalElements) {
  return forEachPiece(placement, [&](uint64_t local, uint64_t global, uint64_t length) {
    if (local + length > placement.elements || global + length > globalElements)
      return fail(DPC_INVALID, "a run is outside its tensor of %llu elements or its buffer of %llu",
                  static_cast<unsigned long long>(globalElements),
                  static_cast<unsigned long long>(placement.elements));
    return dpc_status_t(DPC_OK);
  });
}

/// On rank 0, checks the placements of all other ranks too. Rank 0 uses them when it
/// assembles a tensor, and would write to wrong memory if one of them were wrong.
dpc_status_t checkGathered(const dpc_program_t &program, const dpc_placement_t *placements,
                           uint64_t globalElements, uint32_t rank) {
  for (uint32_t r = 1; r < program.world_size && rank == 0; ++r)
    if (dpc_status_t status = checkRuns(placements[r], globalElements))
      return failWithin(status, "rank %u", r);
  return DPC_OK;
}

dpc_status_t checkPlacement(const Spaces &spaces, const dpc_placement_t &placement, uint32_t dtype,
                            uint64_t globalElements, uint64_t copies, uint64_t stride) {
  if (placement.run_count == 0)
    return DPC_OK;
  const uint64_t bytes = placement.elements * dpc_dtype_size(dtype) + (copies - 1) * stride;
  if (dpc_dtype_size(dtype) == 0 || !spaces.holds(placement.space, placement.offset, bytes))
    return fail(DPC_INVALID, "its buffer (space %u, offset %llu, %llu bytes) is outside its space",
                placement.space, static_cast<unsigned long long>(placement.offset),
                static_cast<unsigned long long>(bytes));
  return checkRuns(placement, globalElements);
}

dpc_status_t checkInput(const dpc_program_t &program, const dpc_input_t &input,
                        const Spaces &spaces, uint32_t rank) {
  if (input.dim_count > DPC_MAX_RANK_DIMS ||
      input.batch_dim >= static_cast<int32_t>(input.dim_count) || input.micro_count == 0)
    return fail(DPC_INVALID, "%u dimensions, batch dimension %d, %llu microbatches",
                input.dim_count, input.batch_dim,
                static_cast<unsigned long long>(input.micro_count));
  if (input.batch_dim >= 0 &&
      (static_cast<uint64_t>(input.shape[input.batch_dim]) != program.batch ||
       program.batch % input.micro_count))
    return fail(DPC_INVALID, "a batch of %lld in %llu parts in a program of batch %llu",
                static_cast<long long>(input.shape[input.batch_dim]),
                static_cast<unsigned long long>(input.micro_count),
                static_cast<unsigned long long>(program.batch));
  const uint64_t all = elementCount(input.shape, input.dim_count);
  const uint64_t sample = input.batch_dim >= 0 ? all / std::max<uint64_t>(program.batch, 1) : all;
  uint64_t bounded = 0;
  for (uint64_t b = 0; b < input.bounds_count; ++b)
    bounded += input.bounds[b].count;
  if (input.bounds_count && bounded != sample)
    return fail(DPC_INVALID, "bounds of %llu elements, but a sample has %llu",
                static_cast<unsigned long long>(bounded), static_cast<unsigned long long>(sample));
  if (input.logits_dim_count > DPC_MAX_RANK_DIMS || input.class_axis > input.logits_dim_count)
    return fail(DPC_INVALID, "classes along axis %u of %u", input.class_axis,
                input.logits_dim_count);
  const uint64_t elements = all / (input.batch_dim >= 0 ? input.micro_count : 1);
  return checkPlacement(spaces, input.placements[rank], input.dtype, elements, input.micro_count,
                        input.micro_stride);
}

dpc_status_t checkOutput(const dpc_program_t &program, const dpc_output_t &output,
                         const Spaces &spaces, uint32_t rank) {
  if (output.dim_count > DPC_MAX_RANK_DIMS ||
      output.batch_dim >= static_cast<int32_t>(output.dim_count) ||
      (output.batch_dim >= 0 && output.shape[output.batch_dim] % int64_t(program.batch)))
    return fail(DPC_INVALID,
                "output %s has %u dimensions and batch dimension %d, in a "
                "program of batch %llu",
                output.name, output.dim_count, output.batch_dim,
                static_cast<unsigned long long>(program.batch));
  const uint64_t elements = elementCount(output.shape, output.dim_count) /
                            (output.batch_dim >= 0 ? output.micro_count : 1);
  if (dpc_status_t status = checkPlacement(spaces, output.placements[rank], output.dtype, elements,
                                           output.micro_count, output.micro_stride))
    return failWithin(status, "output %s", output.name);
  if (dpc_status_t status = checkGathered(program, output.placements, elements, rank))
    return failWithin(status, "output %s", output.name);
  return DPC_OK;
}

dpc_status_t checkMetric(const dpc_program_t &program, const dpc_metric_t &metric,
                         const Spaces &spaces, uint32_t rank) {
  const dpc_place_t &place = metric.places[rank];
  for (uint32_t entry = 0; entry < DPC_ENTRY_COUNT; ++entry) {
    const uint32_t holder = metric.holders[entry];
    if (!(metric.entry >> entry & 1))
      continue;
    if (holder != DPC_NONE && holder >= program.world_size)
      return fail(DPC_INVALID, "metric %s is on rank %u of %u", metric.name, holder,
                  program.world_size);
    if ((holder == DPC_NONE || holder == rank) &&
        (dpc_dtype_size(metric.dtype) == 0 ||
         !spaces.holds(place.space, place.offset, dpc_dtype_size(metric.dtype))))
      return fail(DPC_INVALID, "metric %s is outside its space", metric.name);
  }
  if (metric.weight != DPC_NONE && metric.weight >= program.metric_count)
    return fail(DPC_INVALID, "metric %s is weighted by metric %u of %u", metric.name, metric.weight,
                program.metric_count);
  return DPC_OK;
}

dpc_status_t checkControl(const dpc_program_t &program, const dpc_control_t &control,
                          const Spaces &spaces, uint32_t rank) {
  if (control.kind >= DPC_CONTROL_KIND_COUNT)
    return fail(DPC_INVALID, "unknown kind %u", control.kind);
  if (control.kind == DPC_CONTROL_COORDINATE &&
      (control.axis >= program.axis_count || program.axes[control.axis].sequential))
    return fail(DPC_INVALID, "coordinate on axis %u of %u, or a sequential one", control.axis,
                program.axis_count);
  const uint64_t size = dpc_dtype_size(control.dtype);
  const dpc_place_t &place = control.places[rank];
  if (size == 0 || (place.space != DPC_NONE && !spaces.holds(place.space, place.offset, size)))
    return fail(DPC_INVALID,
                "its buffer (space %u, offset %llu, element type %u) is "
                "outside its space",
                place.space, static_cast<unsigned long long>(place.offset), control.dtype);
  return DPC_OK;
}

/// Checks the levels of the machine for which the program was planned.
dpc_status_t checkLevels(const dpc_program_t &program) {
  // No machine has as many. A damaged record may have any number, and no such table.
  constexpr uint64_t kMostLevels = 1 << 10;
  if (program.level_count > kMostLevels || !program.levels != (program.level_count == 0))
    return fail(DPC_INVALID, "the machine has %llu levels and %s table of them",
                static_cast<unsigned long long>(program.level_count), program.levels ? "a" : "no");
  for (uint64_t i = 0; i < program.level_count; ++i)
    if (!program.levels[i].name || (program.levels[i].size == 0 && i + 1 < program.level_count))
      return fail(DPC_INVALID, "level %llu of the machine has no %s",
                  static_cast<unsigned long long>(i), program.levels[i].name ? "size" : "name");
  return DPC_OK;
}

} // namespace

dpc_status_t checkProgram(const dpc_program_t &program, uint32_t rank) {
  if (dpc_status_t status = checkAbi(program))
    return status;
  if (dpc_status_t status = checkIsa(program))
    return status;
  return checkTables(program, rank);
}

dpc_status_t checkTables(const dpc_program_t &program, uint32_t rankIndex) {
  if (dpc_status_t status = checkAbi(program))
    return status;
  uint64_t ranks = 1;
  for (uint32_t a = 0; a < program.axis_count; ++a)
    ranks *= program.axes[a].sequential ? 1 : program.axes[a].size;
  if (ranks != program.world_size || rankIndex >= program.world_size || program.family_count == 0)
    return fail(DPC_INVALID, "the mesh has %llu ranks, the program record %u",
                static_cast<unsigned long long>(ranks), program.world_size);
  if (dpc_status_t status = checkLevels(program))
    return status;
  const dpc_rank_t &rank = program.ranks[rankIndex];
  const Spaces spaces = {{rank.arena_bytes, rank.shared_bytes}};
  for (uint32_t e = 0; e < DPC_ENTRY_COUNT; ++e)
    if (dpc_status_t status = checkActions(program, rank, spaces, rank.entries[e]))
      return failWithin(status, "%s table of rank %u", kEntryNames[e], rankIndex);
  if (program.device)
    if (dpc_status_t status = checkDevice(program, rankIndex, spaces))
      return status;
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    if (state.dim_count > DPC_MAX_RANK_DIMS)
      return fail(DPC_INVALID, "state %s has %u dimensions", state.name, state.dim_count);
    if (state.parameter != DPC_NONE && state.parameter >= program.state_count)
      return fail(DPC_INVALID, "state %s belongs to state %u of %u", state.name, state.parameter,
                  program.state_count);
    const uint64_t elements = elementCount(state.shape, state.dim_count);
    if (dpc_status_t status =
            checkPlacement(spaces, state.placements[rankIndex], state.dtype, elements, 1, 0))
      return failWithin(status, "state %s", state.name);
    if (dpc_status_t status = checkGathered(program, state.placements, elements, rankIndex))
      return failWithin(status, "state %s", state.name);
    if (dpc_status_t status = checkFileTensors(state))
      return failWithin(status, "state %s", state.name);
  }
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (dpc_status_t status = checkInput(program, program.inputs[i], spaces, rankIndex))
      return failWithin(status, "input %s", program.inputs[i].name);
  for (uint32_t i = 0; i < program.control_count; ++i)
    if (dpc_status_t status = checkControl(program, program.controls[i], spaces, rankIndex))
      return failWithin(status, "control %u", i);
  for (uint32_t i = 0; i < program.output_count; ++i)
    if (dpc_status_t status = checkOutput(program, program.outputs[i], spaces, rankIndex))
      return status;
  for (uint32_t i = 0; i < program.metric_count; ++i)
    if (dpc_status_t status = checkMetric(program, program.metrics[i], spaces, rankIndex))
      return status;
  for (uint64_t i = 0; i < program.onnx_patch_count; ++i)
    if (program.onnx_patches[i].state >= program.state_count)
      return fail(DPC_INVALID, "patch %llu of the ONNX file is of state %u of %u",
                  static_cast<unsigned long long>(i), program.onnx_patches[i].state,
                  program.state_count);
  return DPC_OK;
}

} // namespace dpc
