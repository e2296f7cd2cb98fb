#ifndef DPC_RUNTIME_SRC_POSTMORTEM_READIMAGE_H
#define DPC_RUNTIME_SRC_POSTMORTEM_READIMAGE_H

#include "dpc/status.h"
#include "runtime/src/recorder/Image.h"

#include <array>
#include <string>
#include <vector>

namespace dpc {

/// An operation that a rank has recorded. OperationRecord explains the fields. Times are on the
/// wall clock, in nanoseconds since 1970; 0: not yet.
struct RecordedOperation {
  uint64_t number, sequence, count, bufferId, step;
  int64_t scheduledNs, waitNs, doneNs;
  uint32_t action, micro, peer;
  uint32_t family, op, dtype, reduction, entry;
  OperationState state;
  std::string name; ///< names of its ONNX nodes, or ""
};

/// A time in which a rank's process stood still, on the wall clock in nanoseconds.
struct Pause {
  int64_t beginNs, endNs;
};

/// All that a rank has recorded.
struct RankRecord {
  /// The rank's group of one family.
  struct RecordedGroup {
    std::string family;
    std::vector<uint32_t> members; ///< empty: the rank is in no group of the family
  };
  uint32_t rank = 0, worldSize = 0, start = 0, process = 0;
  std::array<uint8_t, 32> planHash{};
  uint64_t runId = 0;
  std::string host, program;
  RankEnd end = RankEnd::none;
  dpc_status_t status = DPC_OK;
  std::vector<RecordedGroup> groups;         ///< by family
  std::vector<RecordedOperation> operations; ///< in the order of their numbers
  std::vector<Pause> pauses;
};

/// Reads an image that may have any contents. The rank may still be writing it. Returns
/// DPC_INVALID, with a message that names no file, if it is no image of this version, or if it is
/// damaged.
dpc_status_t readImage(const char *image, size_t bytes, RankRecord *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_POSTMORTEM_READIMAGE_H
