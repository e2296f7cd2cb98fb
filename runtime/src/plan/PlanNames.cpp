// Describes entries, actions, buffers and byte ranges in messages of the proof.
// Computes the range of bytes of a buffer that moves with microbatch and index.
#include "runtime/src/plan/PlanNames.h"

#include "runtime/src/base/OperationNames.h"

namespace dpc::plan {

ByteRange rangeOf(uint32_t space, uint64_t offset, uint64_t micro, uint64_t microStride,
                  uint64_t index, uint64_t indexStride, uint64_t size) {
  uint64_t moved = 0, shifted = 0, begin = 0, end = 0;
  if (__builtin_mul_overflow(micro, microStride, &moved) ||
      __builtin_mul_overflow(index, indexStride, &shifted) ||
      __builtin_add_overflow(offset, moved, &begin) ||
      __builtin_add_overflow(begin, shifted, &begin) || __builtin_add_overflow(begin, size, &end))
    return {space, 0, UINT64_MAX};
  return {space, begin, end};
}

const char *nameOf(uint32_t entry) {
  static const char *const names[DPC_ENTRY_COUNT] = {"step", "eval", "infer"};
  return entry < DPC_ENTRY_COUNT ? names[entry] : "?";
}

std::string describe(const ByteRange &range) {
  static const char *const spaces[DPC_SPACE_COUNT] = {"arena", "shared"};
  return "bytes [" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ") of " +
         (range.space < DPC_SPACE_COUNT ? spaces[range.space]
                                        : "space " + std::to_string(range.space));
}

std::string describeBuffer(const dpc_rank_t &rank, uint64_t buffer) {
  const std::string text = "buffer " + std::to_string(buffer);
  const char *name = buffer < rank.buffer_count ? rank.buffers[buffer].name : nullptr;
  return name && *name ? text + " (" + name + ")" : text;
}

std::string describeAction(const dpc_program_t &program, const dpc_action_t &action) {
  switch (action.kind) {
  case DPC_ACTION_COMPUTE:
    return program.functions[action.function].name;
  case DPC_ACTION_START:
    return std::string(opName(action.op)) + " " + std::to_string(action.buffer_id);
  case DPC_ACTION_WAIT:
    return "wait for event " + std::to_string(action.event);
  case DPC_ACTION_ZERO:
    return "zero";
  default:
    return "loop";
  }
}

std::string describePlace(const dpc_program_t &program, uint32_t rank, uint32_t entry,
                          uint64_t index) {
  const dpc_action_t &action = program.ranks[rank].entries[entry].actions[index];
  std::string text = "rank " + std::to_string(rank) + ", " + nameOf(entry) + ", action " +
                     std::to_string(index) + ", " + describeAction(program, action);
  if (action.location != DPC_NONE && program.locations[action.location].node)
    text += std::string(" (at ") + program.locations[action.location].node + ")";
  return text;
}

} // namespace dpc::plan
