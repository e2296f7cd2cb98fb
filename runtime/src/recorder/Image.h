// The memory of a flight recorder: a header, a ring of records, and a text. The memory has a fixed
// size, because it outlives the process that writes it: it is either memory of the launcher or a
// file that the rank maps (--postmortem). Everything before `sealed` of the header, and the text,
// stays as it is after the start of the run, and a checksum protects it. A record is valid if its
// number fits its place in the ring.
#ifndef DPC_RUNTIME_SRC_RECORDER_IMAGE_H
#define DPC_RUNTIME_SRC_RECORDER_IMAGE_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dpc {

constexpr char kRecorderMagic[8] = {'d', 'p', 'c', 'o', 'p', 's', '\r', '\n'};
constexpr uint32_t kRecorderVersion = 1;
constexpr uint64_t kRecordCount = 2000; ///< the operations that are kept

/// How far an operation has come.
enum class OperationState : uint8_t {
  scheduled = 0, ///< the rank is about to start it
  started = 1,   ///< the rank has told its peers
  done = 2,      ///< its data has arrived, so far as this rank can see
  kinds = 3
};

/// How a rank's run ended.
enum class RankEnd : uint32_t {
  none = 0,   ///< it still runs, or it died
  well = 1,   ///< it has done its work
  failed = 2, ///< it reported a failure, its own or that of another rank
  kinds = 3
};

/// One operation. The rank's only writer stores `number` last, and clears it before it
/// writes another operation into the record.
struct OperationRecord {
  std::atomic<uint64_t> number; ///< 1 + the number of operations before it; 0: not valid
  uint64_t sequence; ///< number of operations before it of the same group, or between the same two
                     ///< ranks in the same direction
  uint64_t count;    ///< elements
  uint64_t bufferId; ///< dpc_comm_op_t explains it
  uint64_t step;     ///< training steps before this one
  std::atomic<int64_t> scheduledNs, waitNs,
      doneNs;      ///< monotonic clock; waitNs: when the rank began
                   ///< to wait for it. 0: not yet
  uint32_t action; ///< index into the action table of `entry`; DPC_NONE: no action, but the
                   ///< runtime's own operation, e.g. a vote
  uint32_t micro;
  uint32_t name; ///< where the names of its ONNX nodes begin in the text; DPC_NONE: no names
  uint32_t peer; ///< index in the group
  uint16_t family;
  uint8_t op, dtype, reduction, entry;
  std::atomic<OperationState> state;
  uint8_t reserved;
};
static_assert(sizeof(OperationRecord) == 88);

/// A time in which the process of the rank stood still: it was stopped, or had no processor.
struct RecordedPause {
  std::atomic<int64_t> beginNs, endNs; ///< monotonic clock; endNs 0: not valid
};
constexpr uint64_t kPauseCount = 16; ///< the latest pauses are kept

struct RecorderHeader {
  char magic[8];
  uint32_t version, headerBytes, recordBytes, recordCount;
  uint32_t rank, worldSize, start; ///< `start`: number of earlier starts of the run
  uint32_t familyCount;            ///< the text begins with their groups (see Recorder.cpp)
  uint64_t textBytes;
  uint8_t planHash[32];
  uint64_t runId; ///< equal on all ranks of a run; 0: the run has no --postmortem
  int64_t wallNs; ///< nanoseconds since 1970 when the monotonic clock was at 0
  uint32_t process, reserved;
  char host[64], program[64];

  uint64_t checksum; ///< fingerprint of the fields before, and of the text
  std::atomic<RankEnd> end;
  std::atomic<int32_t> status; ///< dpc_status_t with which the rank ended
  RecordedPause pauses[kPauseCount];
};

constexpr size_t kRecordsAt = 4096, kTextAt = kRecordsAt + kRecordCount * sizeof(OperationRecord);
constexpr size_t kRecorderBytes = 512 << 10;
static_assert(sizeof(RecorderHeader) <= kRecordsAt && kTextAt < kRecorderBytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_RECORDER_IMAGE_H
