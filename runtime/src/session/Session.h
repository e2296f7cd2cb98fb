#ifndef DPC_RUNTIME_SRC_SESSION_SESSION_H
#define DPC_RUNTIME_SRC_SESSION_SESSION_H

#include "dpc/dpc.h"
#include "runtime/src/device/TensorTransfer.h"
#include "runtime/src/program/Executor.h"
#include "runtime/src/session/CheckpointRun.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

/// One rank of a run. The C functions of dpc.h are thin wrappers of these
/// members.
struct dpc_session {
  dpc_session(const dpc_program_t &program, const dpc_session_options_t &options);
  ~dpc_session();

  dpc_status_t open();
  dpc_status_t runEntry(uint32_t entry, uint64_t validRows);
  dpc_status_t metric(const char *name, double *out) const;
  /// Whether metrics may be of a part of a batch: the program masks the rows
  /// beyond the valid ones. A loss in the graph is one number of a whole batch.
  bool masksRows() const;
  /// Whether the program scales the loss: a step whose loss or gradients are not
  /// finite is skipped then.
  bool scalesLoss() const;
  /// Whether the loss of the latest entry is not finite.
  bool lossIsNotFinite() const;

  /// Collective. Assembles elements [begin, end) of a logical tensor at
  /// `destination` on rank 0: their owners send them in messages of at most a
  /// window.
  dpc_status_t gather(const dpc_placement_t *placements, uint32_t dtype, char *destination,
                      uint64_t extraOffset = 0, uint64_t begin = 0, uint64_t end = UINT64_MAX);
  /// Collective. Rank 0 gets the `bytes` (at most a window) that each rank has
  /// at `record`, in the order of the ranks.
  dpc_status_t collect(const void *record, uint64_t bytes, std::vector<char> *outAll);
  /// Collective. Gives every rank the `bytes` that rank 0 has at `data`.
  dpc_status_t broadcast(void *data, uint64_t bytes);
  /// Sets this rank's part of a state tensor from the whole one.
  dpc_status_t scatter(uint32_t state, uint32_t dtype, const void *data);
  /// The same from what `read` gives of it.
  dpc_status_t scatter(uint32_t state, uint32_t dtype, const dpc::ReadElements &read);

  /// Whether this rank should report a failure: it knows the cause, and no
  /// other rank tells it.
  bool reports(dpc_status_t status);
  /// Tells the other ranks of a failure here; returns `status`.
  dpc_status_t failed(dpc_status_t status);
  /// Rank 0's status for all: rank 0's failure fails the others with DPC_PEER.
  dpc_status_t agree(dpc_status_t status);

  const dpc_program_t &program;
  std::string rendezvous, token, directory, tracePath, transport, tuneFile;
  dpc_session_options_t options;
  dpc_schedule_t schedule; ///< the program's, with the options' rate
  dpc_comm_t *comm = nullptr;
  dpc::RankMemory memory;
  /// The only way to the spaces of buffers; the votes and the window are the host's.
  std::unique_ptr<dpc::Queue> queue;
  dpc::InputLoader loader;
  dpc::Trace trace;
  dpc::Controls control;
  std::unique_ptr<dpc::Executor> executor;
  std::vector<bool> hasValue;       ///< per state
  std::vector<double> metricValues; ///< of the latest entry, the same on all ranks
  bool published = false;           ///< this rank's failure, to the others
  bool firstFailure = true;         ///< it was published before those of others
  dpc::CheckpointRun checkpointRun;
  /// Interrupt votes: 1 while this rank asks to stop; `stopAgreed` after a step
  /// in which any rank did.
  volatile int *stopRequest = nullptr;
  bool stopAgreed = false;
  /// After a step: the loss scale is below DPC_LEAST_LOSS_SCALE.
  bool scaleIsTooSmall = false;
  /// Whether this rank still writes a checkpoint; null: it writes none.
  /// `writingAgreed` after an entry at whose end any rank did.
  const std::atomic<bool> *isWriting = nullptr;
  bool writingAgreed = false;

  /// In the place of a transport's name: tensors of CUDA devices go by NCCL.
  static constexpr const char *kNccl = "nccl";

private:
  dpc_status_t setInitialState();
  dpc_status_t checkState() const;
  dpc_status_t vote(uint32_t entry, bool *outAllFinite);
  dpc_status_t readMetric(const dpc_metric_t &metric, double *out) const;
  dpc_status_t exchange(uint32_t op, uint32_t peer, uint64_t bytes);
  /// Elements of a logical tensor.
  struct Range {
    uint64_t begin, end;
  };
  dpc_status_t receiveShard(const dpc_placement_t &place, uint32_t owner, uint64_t elementSize,
                            Range range, char *destination);
  dpc_status_t sendShard(const dpc_placement_t &place, uint64_t elementSize, Range range,
                         uint64_t extraOffset);
  dpc_status_t openParameterFile(dpc_array_file_t **outFile) const;
};

#endif // DPC_RUNTIME_SRC_SESSION_SESSION_H
