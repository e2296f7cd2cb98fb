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
  /// Whether metrics can be computed for part of a batch, because the program
  /// masks rows beyond the valid ones. A loss in the graph is one number for a
  /// complete batch.
  bool masksRows() const;
  /// Whether the program scales the loss. If so, a step whose loss or gradients
  /// are not finite is skipped.
  bool scalesLoss() const;
  /// Whether the loss of the latest entry is infinite or NaN.
  bool lossIsNotFinite() const;

  /// Collective. Assembles elements [begin, end) of a logical tensor at
  /// `destination` on rank 0. Their owners send them in messages of at most
  /// kWindowBytes.
  dpc_status_t gather(const dpc_placement_t *placements, uint32_t dtype, char *destination,
                      uint64_t extraOffset = 0, uint64_t begin = 0, uint64_t end = UINT64_MAX);
  /// Collective. Collects the `bytes` bytes (at most kWindowBytes) at `record`
  /// of each rank on rank 0, ordered by rank.
  dpc_status_t collect(const void *record, uint64_t bytes, std::vector<char> *outAll);
  /// Collective. Copies the `bytes` bytes at `data` of rank 0 to all ranks.
  dpc_status_t broadcast(void *data, uint64_t bytes);
  /// Sets this rank's part of a state tensor from the complete tensor.
  dpc_status_t scatter(uint32_t state, uint32_t dtype, const void *data);
  /// The same from elements that `read` provides.
  dpc_status_t scatter(uint32_t state, uint32_t dtype, const dpc::ReadElements &read);

  /// Whether this rank should report a failure to the user: it knows the cause,
  /// and no other rank reports it.
  bool reports(dpc_status_t status);
  /// Tells the other ranks of this rank's failure; returns `status`.
  dpc_status_t failed(dpc_status_t status);
  /// Makes rank 0's failure fail all ranks: the others return DPC_PEER.
  dpc_status_t agree(dpc_status_t status);

  const dpc_program_t &program;
  std::string rendezvous, token, directory, tracePath, transport, tuneFile;
  dpc_session_options_t options;
  dpc_schedule_t schedule; ///< the program's, with the options' rate
  dpc_comm_t *comm = nullptr;
  dpc::RankMemory memory;
  /// The only access to the spaces of buffers. The host accesses only the votes
  /// and the window of `memory` directly.
  std::unique_ptr<dpc::Queue> queue;
  dpc::InputLoader loader;
  dpc::Trace trace;
  dpc::Controls control;
  std::unique_ptr<dpc::Executor> executor;
  std::vector<bool> hasValue;       ///< per state
  std::vector<double> metricValues; ///< of the latest entry, equal on all ranks
  bool published = false;           ///< this rank has published a failure
  bool firstFailure = true;         ///< no other rank published a failure before it
  dpc::CheckpointRun checkpointRun;
  /// Vote on interrupts: *stopRequest is 1 while this rank asks to stop.
  /// `stopAgreed` is set after a step in which any rank asked.
  volatile int *stopRequest = nullptr;
  bool stopAgreed = false;
  /// After a step: whether the loss scale is below DPC_LEAST_LOSS_SCALE.
  bool scaleIsTooSmall = false;
  /// Vote on checkpoints: *isWriting is true while this rank is writing one; the
  /// pointer is null if it writes none. `writingAgreed` is set if any rank was
  /// writing at the end of the latest entry.
  const std::atomic<bool> *isWriting = nullptr;
  bool writingAgreed = false;

  /// The value of --comm with which NCCL moves the tensors of CUDA devices.
  static constexpr const char *kNccl = "nccl";

private:
  dpc_status_t setInitialState();
  dpc_status_t checkState() const;
  dpc_status_t vote(uint32_t entry, bool *outAllFinite);
  dpc_status_t readMetric(const dpc_metric_t &metric, double *out) const;
  dpc_status_t exchange(uint32_t op, uint32_t peer, uint64_t bytes);
  /// Elements [begin, end) of a logical tensor.
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
