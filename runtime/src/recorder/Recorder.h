#ifndef DPC_RUNTIME_SRC_RECORDER_RECORDER_H
#define DPC_RUNTIME_SRC_RECORDER_RECORDER_H

#include "dpc/comm.h"
#include "dpc/program.h"
#include "runtime/src/recorder/Image.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/// The flight recorder of a rank: keeps the last kRecordCount operations, with all that dpc-run
/// needs to explain them. Recording an operation takes a few stores to memory and three reads of
/// a coarse clock, and no system call. All calls must come from one thread at a time. A thread of
/// the recorder notices when the process has stood still.
struct dpc_recorder {
public:
  /// Records into memory of the launcher, or if there is none, into memory of this process.
  dpc_recorder(const dpc_program_t &program, uint32_t rank);
  ~dpc_recorder();
  dpc_recorder(const dpc_recorder &) = delete;
  dpc_recorder &operator=(const dpc_recorder &) = delete;

  /// Goes on in a file of `folder`, which is created if it is missing. The file appears when it
  /// is complete, and replaces the file of an earlier run. `runId` must be equal on all ranks of
  /// the run. Returns DPC_IO, with a message that names the file, if this is not possible.
  dpc_status_t keepIn(const std::string &folder, uint64_t runId);

  /// The next operations belong to the entry DPC_ENTRY_*. `step` is the number of steps before.
  void enter(uint32_t entry, uint64_t step) { currentEntry = entry, currentStep = step; }
  /// The rank is about to start an operation of `action`, an index into the action table
  /// (DPC_NONE: an operation of the runtime itself). Returns the number of the operation.
  uint64_t schedule(const dpc_comm_op_t &op, uint32_t action = DPC_NONE, uint32_t micro = 0);
  /// The operation has started.
  void start(uint64_t number);
  /// The rank begins to wait for the operation.
  void await(uint64_t number);
  /// The operation is complete.
  void finish(uint64_t number);
  /// All operations from the number `first` on are complete, up to the one before `end`.
  void finishFrom(uint64_t first, uint64_t end = UINT64_MAX);
  /// The number that the next operation gets.
  uint64_t next() const { return count; }
  /// The rank leaves the run with `status`.
  void end(dpc_status_t status);

  /// The name of a rank's file in the folder of --postmortem, e.g. "rank-3.ops".
  static std::string fileOf(uint32_t rank);

private:
  void describe(const dpc_program_t &program, uint32_t rank);
  void seal();
  void noticePauses(int64_t before);
  uint64_t countInGroup(const dpc_comm_op_t &op);
  dpc::RecorderHeader &header() const { return *reinterpret_cast<dpc::RecorderHeader *>(image); }
  dpc::OperationRecord *kept(uint64_t number) const;

  char *image = nullptr;
  std::unique_ptr<char[]> own; ///< the memory of `image`, if it belongs to this process
  bool isFile = false;         ///< `image` is a mapped file
  uint64_t count = 0, currentStep = 0;
  uint32_t currentEntry = 0;
  std::vector<uint32_t> names; ///< by location: where its text begins, or DPC_NONE
  struct Family {
    uint64_t operations = 0;
    const uint32_t *members = nullptr; ///< of this rank's group
    uint32_t memberCount = 0;          ///< 0: the rank is in no group
  };
  std::vector<Family> families;
  std::vector<uint64_t> sent, received; ///< number of messages to and from each rank

  std::mutex mutex; ///< protects `ends`, and `image` against the thread
  std::condition_variable changed;
  bool ends = false;
  std::thread watcher;
};

#endif // DPC_RUNTIME_SRC_RECORDER_RECORDER_H
