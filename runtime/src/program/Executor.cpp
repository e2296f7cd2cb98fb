#include "runtime/src/program/Executor.h"

#include "runtime/src/base/Status.h"

#include <cstring>
#include <ctime>

namespace dpc {

namespace {

int64_t nowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

} // namespace

Executor::Executor(const dpc_program_t &program, dpc_comm_t &comm,
                   RankMemory &memory, InputLoader &loader,
                   dpc_control_t &control, Trace &trace)
    : program(program), rank(program.ranks[comm.rank]), comm(comm),
      memory(memory), loader(loader), control(control), trace(trace),
      coordinates(program.axis_count), groupIndex(program.family_count),
      events(rank.event_count + (rank.event_count ? rank.slot_count : 0)) {
  uint32_t rest = comm.rank;
  for (uint32_t a = program.axis_count; a-- > 0;)
    if (!program.axes[a].sequential) {
      coordinates[a] = rest % program.axes[a].size;
      rest /= program.axes[a].size;
    }
  for (uint32_t f = 0; f < program.family_count; ++f) {
    const dpc_group_family_t &family = program.families[f];
    for (uint64_t i = 0; i < uint64_t(family.group_count) * family.group_size;
         ++i)
      if (family.ranks[i] == comm.rank)
        groupIndex[f] = static_cast<uint32_t>(i % family.group_size);
  }
  call.struct_size = sizeof call;
  call.rank = comm.rank;
  call.world_size = comm.world_size;
  call.coordinates = coordinates.data();
  call.control = &control;
  call.comm = &comm;
  for (uint32_t space = 0; space < DPC_SPACE_COUNT; ++space)
    call.base[space] = memory.base(space, 0);
}

void Executor::enterMicro(uint32_t micro) {
  call.micro = micro;
  call.slot = micro % rank.slot_count;
  call.base[DPC_SPACE_SLOT] = memory.base(DPC_SPACE_SLOT, call.slot);
  call.base[DPC_SPACE_SHARED_SLOT] =
      memory.base(DPC_SPACE_SHARED_SLOT, call.slot);
  for (uint32_t a = 0; a < program.axis_count; ++a)
    if (program.axes[a].sequential)
      coordinates[a] = program.axes[a].size > 1 ? micro : 0;
}

char *Executor::address(const dpc_buffer_t &buffer, uint32_t family) const {
  const uint64_t index = family == DPC_NONE ? 0 : groupIndex[family];
  return call.base[buffer.space] + buffer.offset + index * buffer.index_stride;
}

dpc_status_t Executor::explain(dpc_status_t status,
                               const dpc_action_t &action) const {
  if (action.location == DPC_NONE)
    return status;
  const dpc_location_t &location = program.locations[action.location];
  return fail(status, "%s (at %s)", dpc_last_error(), location.node);
}

dpc_status_t Executor::preload() {
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const dpc_input_t &input = program.inputs[i];
    const dpc_placement_t &placement = input.placements[comm.rank];
    if (!(input.flags & DPC_INPUT_PRELOAD) || placement.run_count == 0)
      continue;
    char *to = memory.base(placement.space, 0) + placement.offset;
    for (uint64_t m = 0; m < input.micro_count; ++m)
      if (prefetcher)
        std::memcpy(to + m * input.micro_stride, prefetcher->values(i, m),
                    prefetcher->bytes(i));
      else if (dpc_status_t status =
                   loader.load(i, m, to + m * input.micro_stride))
        return status;
  }
  if (prefetcher)
    prefetcher->begin();
  return DPC_OK;
}

dpc_status_t Executor::start(const dpc_action_t &action) {
  dpc_comm_op_t op = {action.op,    action.group,     action.peer,
                      action.dtype, action.reduction, action.location,
                      action.count, action.buffer_id, nullptr,
                      nullptr};
  if (action.op != DPC_OP_BARRIER) {
    op.in = address(action.in, action.group);
    op.out = address(action.out, action.group);
  }
  Event &started = event(action);
  if (started.request)
    return fail(DPC_INVALID, "event %u is started twice", action.event);
  started.start = &action;
  started.micro = call.micro;
  started.startNs = trace.enabled() ? nowNs() : 0;
  return comm.vtable->start(&comm, &op, &started.request);
}

dpc_status_t Executor::wait(const dpc_action_t &action) {
  Event &started = event(action);
  if (!started.request)
    return fail(DPC_INVALID, "event %u is waited for before its start",
                action.event);
  const int64_t begin = trace.enabled() ? nowNs() : 0;
  dpc_status_t status = comm.vtable->wait(&comm, started.request);
  started.request = 0;
  if (trace.enabled()) {
    const int64_t end = nowNs();
    trace.add({started.start, control.step, started.startNs, end, end - begin,
               started.micro});
  }
  return status;
}

dpc_status_t Executor::perform(const dpc_action_t &action) {
  const bool traced = trace.enabled() && action.kind != DPC_ACTION_START &&
                      action.kind != DPC_ACTION_WAIT;
  const int64_t begin = traced ? nowNs() : 0;
  dpc_status_t status = DPC_OK;
  switch (action.kind) {
  case DPC_ACTION_COMPUTE:
    call.args = action.args;
    if ((status = program.functions[action.function].fn(&call)))
      fail(status, "%s failed with status %d in step %llu",
           program.functions[action.function].name, status,
           static_cast<unsigned long long>(control.step + 1));
    break;
  case DPC_ACTION_START:
    status = start(action);
    break;
  case DPC_ACTION_WAIT:
    status = wait(action);
    break;
  case DPC_ACTION_COPY:
    std::memcpy(address(action.out, action.group),
                address(action.in, action.group),
                action.count * dpc_dtype_size(action.dtype));
    break;
  case DPC_ACTION_ZERO:
    std::memset(address(action.out, action.group), 0,
                action.count * dpc_dtype_size(action.dtype));
    break;
  case DPC_ACTION_LOAD_INPUT: {
    const dpc_placement_t &placement =
        program.inputs[action.function].placements[comm.rank];
    if (placement.run_count)
      status = loader.load(action.function, call.micro,
                           call.base[placement.space] + placement.offset);
    break;
  }
  }
  if (traced)
    trace.add({&action, control.step, begin, nowNs(), 0, call.micro});
  return status;
}

dpc_status_t Executor::run(uint32_t entry) {
  struct Loop {
    uint64_t turn, turns;
  };
  Loop loops[kMaxLoopDepth];
  uint32_t depth = 0;
  if (dpc_status_t status = preload())
    return status;
  const dpc_actions_t &table = rank.entries[entry];
  for (uint64_t at = 0; at < table.count; ++at) {
    const dpc_action_t &action = table.actions[at];
    if (action.kind == DPC_ACTION_LOOP_BEGIN) {
      if (action.count == 0)
        at = action.jump;
      else
        loops[depth++] = {0, action.count};
      continue;
    }
    if (action.kind == DPC_ACTION_LOOP_END) {
      if (++loops[depth - 1].turn < loops[depth - 1].turns)
        at = action.jump;
      else
        --depth;
      continue;
    }
    const bool relative = (action.flags & DPC_ACTION_MICRO_RELATIVE) && depth;
    enterMicro(static_cast<uint32_t>(
        action.micro +
        (relative ? static_cast<int64_t>(loops[depth - 1].turn) : 0)));
    if (dpc_status_t status = perform(action))
      return explain(status, action);
  }
  return DPC_OK;
}

} // namespace dpc
