#ifndef DPC_RUNTIME_SRC_PLAN_PLANNAMES_H
#define DPC_RUNTIME_SRC_PLAN_PLANNAMES_H

#include "dpc/program.h"

#include <string>

namespace dpc::plan {

/// Bytes [begin, end) of an address space.
struct ByteRange {
  uint32_t space = 0;
  uint64_t begin = 0, end = 0;

  bool empty() const { return begin >= end; }
  bool overlaps(const ByteRange &other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
  bool operator==(const ByteRange &other) const {
    return space == other.space && begin == other.begin && end == other.end;
  }
};

/// The range of `size` bytes that begins at offset + micro * microStride + index *
/// indexStride of a space. If a number overflows, the result is [0, UINT64_MAX), which
/// lies in no buffer.
ByteRange rangeOf(uint32_t space, uint64_t offset, uint64_t micro, uint64_t microStride,
                  uint64_t index, uint64_t indexStride, uint64_t size);

// Texts for messages.

/// The name of an entry: "step", "eval" or "infer".
const char *nameOf(uint32_t entry);
/// Text of a range: "bytes [0, 64) of arena".
std::string describe(const ByteRange &range);
/// Text of a logical buffer of a rank: "buffer 3 (state.w)".
std::string describeBuffer(const dpc_rank_t &rank, uint64_t buffer);
/// Text of an action: "step.3", "all-reduce 7" (of buffer 7), "wait for event 2".
std::string describeAction(const dpc_program_t &program, const dpc_action_t &action);
/// Text that says where an action is: "rank 1, step, action 17, all-reduce 7 (at
/// /fc/MatMul)".
std::string describePlace(const dpc_program_t &program, uint32_t rank, uint32_t entry,
                          uint64_t index);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_PLANNAMES_H
