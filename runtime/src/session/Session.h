#ifndef DPC_RUNTIME_SRC_SESSION_SESSION_H
#define DPC_RUNTIME_SRC_SESSION_SESSION_H

#include "dpc/dpc.h"
#include "runtime/src/base/CommChoice.h"
#include "runtime/src/device/TensorTransfer.h"
#include "runtime/src/program/Executor.h"
#include "runtime/src/session/CheckpointRun.h"
#include "runtime/src/session/RunsUnderWay.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

/// One rank of a run. The C functions of dpc.h check their arguments and call
/// these members.
struct dpc_session {
  dpc_session(const dpc_program_t &program, const dpc_session_options_t &options);
  ~dpc_session();

  dpc_status_t open();
  /// Leaves the run; no other member may be called afterwards. Returns DPC_PEER if another rank
  /// has failed and this rank reports it.
  dpc_status_t leave();
  /// Whether the program can run at all with these options. Communicates with no other rank.
  dpc_status_t checkRequest() const;
  /// Whether tensors of CUDA devices move through the hosts. NCCL moves them, unless the user names
  /// a transport between hosts; `auto` is no such name.
  bool isStaged() const;
  /// How this rank meets the others. The caller adds the memory and the timeout.
  dpc_comm_options_t meetingOptions() const;
  /// Meets the other ranks over the transport of the options. `communication` has the bytes that
  /// each rank allocates from its communicator.
  dpc_status_t connect(const std::vector<uint64_t> &communication, double timeoutSeconds,
                       dpc_comm_t **outComm) const;
  /// Runs an entry once: submitEntry and completeEntry. Nothing may be under way.
  dpc_status_t runEntry(uint32_t entry, uint64_t validRows);
  /// Enqueues a run of an entry. Until completeEntry was called for all runs, the state is not that
  /// of the step control.step, and the caller may call no function that reads or writes it.
  dpc_status_t submitEntry(uint32_t entry, uint64_t validRows);
  /// Collective. Completes the oldest run that is under way. Afterwards `control`, `metricValues`
  /// and the results of the vote are those of this run.
  dpc_status_t completeEntry();
  /// Waits for the runs that are under way, and forgets their metrics. The state is that after the
  /// last of them.
  dpc_status_t discardRuns();
  /// Number of steps that are done or under way.
  uint64_t stepsSubmitted() const { return control.step + runs->stepCount(); }
  /// Whether the loss scale can fall below DPC_LEAST_LOSS_SCALE in the steps that are under way.
  bool mayLoseScale() const;
  /// Collective: whether no rank has `isBad`. May be called while runs are under way.
  dpc_status_t agreeOnBatch(bool isBad, bool *outIsGood);
  dpc_status_t metric(const char *name, double *out) const;
  /// Whether eval can compute metrics of a batch in which only some rows are
  /// valid, because the program masks the other rows. If the ONNX graph itself
  /// computes the loss, eval needs a complete batch.
  bool masksRows() const;
  /// Whether the program scales the loss. If so, a step whose loss or gradients
  /// are not finite is skipped.
  bool scalesLoss() const;
  /// Whether the loss of the latest entry is infinite or NaN.
  bool lossIsNotFinite() const;

  /// Collective. Assembles elements [begin, end) of a logical tensor at
  /// `destination` on rank 0. Ranks that own elements send them to rank 0 in
  /// messages of at most kWindowBytes. Each rank's buffer begins `extraOffset`
  /// bytes after the offset of its placement.
  dpc_status_t gather(const dpc_placement_t *placements, uint32_t dtype, char *destination,
                      uint64_t extraOffset = 0, uint64_t begin = 0, uint64_t end = UINT64_MAX);
  /// Collective. Collects the `bytes` bytes (at most kWindowBytes) at `record`
  /// of each rank on rank 0, ordered by rank.
  dpc_status_t collect(const void *record, uint64_t bytes, std::vector<char> *outAll);
  /// Collective. Copies the `bytes` bytes at `data` of rank 0 to all ranks.
  dpc_status_t broadcast(void *data, uint64_t bytes);
  /// Rank 0 and the lowest rank of each other host call it. Copies the `bytes` bytes at
  /// `data` of rank 0 to the others.
  dpc_status_t deliverToHosts(void *data, uint64_t bytes);
  /// Sets the elements of a state tensor that this rank holds, from the complete
  /// tensor at `data`.
  dpc_status_t scatter(uint32_t state, uint32_t dtype, const void *data);
  /// Like the other scatter, but `read` provides the elements of the tensor.
  dpc_status_t scatter(uint32_t state, uint32_t dtype, const dpc::ReadElements &read);

  /// Whether this rank, and no other rank, should report a failure to the user.
  bool reports(dpc_status_t status);
  /// Tells the other ranks that this rank failed, unless `status` is DPC_OK or
  /// DPC_PEER, or this rank has told them already. Returns `status`.
  dpc_status_t failed(dpc_status_t status);
  /// The failure to tell the launcher, and its message. If the run had failed before this rank
  /// did, this rank's failure may be a consequence, e.g. because rank 0 has removed a file. Then
  /// the run's failure is the cause, and the result is DPC_PEER.
  dpc_status_t causeOf(dpc_status_t status);
  /// Collective. If a rank passes a failure, the call fails on all ranks: the
  /// other ranks return DPC_PEER. Otherwise it is a barrier.
  dpc_status_t agree(dpc_status_t status);
  /// Collective. Fails on all ranks with the message of rank 0, which is at `text`, an array of
  /// `bytes` bytes on every rank. Rank 0 reports the failure to the user.
  dpc_status_t failTogether(dpc_status_t status, char *text, uint64_t bytes);
  /// Whether gradients that are not finite can be found: not if there is only one rank, not on CUDA
  /// devices, and not in programs that scale the loss, which expect such gradients.
  bool canWatchGradients() const;
  /// Looks for gradients that are not finite from now on, on every rank. A step that has one
  /// returns DPC_NUMERIC, with a message that names the rank, the parameter and the sum over
  /// ranks. Needs canWatchGradients.
  void watchGradients();
  /// Collective. Keeps the records of all ranks in files of `folder` from now on.
  dpc_status_t keepRecords(const std::string &folder);
  /// Records that this rank leaves the run with `status`.
  void recordEnd(dpc_status_t status);

  const dpc_program_t &program;
  std::string rendezvous, token, listen, directory, tracePath, transport, tuneFile, profilePath;
  dpc_session_options_t options;
  dpc_schedule_t schedule; ///< the program's schedule, with the learning rate of the options
  std::unique_ptr<dpc_recorder> recorder; ///< null until the program is checked
  dpc_comm_t *comm = nullptr;
  dpc::RankMemory memory;
  /// All access to the spaces of buffers goes through the queue. Without the
  /// queue, the host accesses only the vote and the window of `memory`.
  std::unique_ptr<dpc::Queue> queue;
  dpc::InputLoader loader;
  dpc::Trace trace;
  dpc::Controls control;
  std::unique_ptr<dpc::GradientCheck> gradients; ///< null without watchGradients
  std::unique_ptr<dpc::Executor> executor;
  std::unique_ptr<dpc::RunsUnderWay> runs;
  std::vector<bool> hasValue;       ///< for each state: whether its value was set
  std::vector<double> metricValues; ///< value of each metric after the latest entry; equal on all
                                    ///< ranks
  bool published = false;           ///< whether this rank has published a failure
  bool firstFailure = true;         ///< if `published`: no other rank did so earlier
  bool failsTogether = false;       ///< all ranks have the failure of failTogether, and rank 0
                                    ///< reports it; a caller that goes on clears this
  dpc::CheckpointRun checkpointRun;
  /// Vote on interrupts: *stopRequest is 1 while this rank asks to stop. After
  /// each entry, `stopAgreed` says whether any rank asked to stop.
  volatile int *stopRequest = nullptr;
  bool stopAgreed = false;
  /// Whether the loss scale was below DPC_LEAST_LOSS_SCALE after the latest step.
  bool scaleIsTooSmall = false;
  /// Vote on checkpoints: *isWriting is true while this rank is writing a
  /// checkpoint. The pointer is null if no checkpoint is being written.
  /// `writingAgreed` says whether any rank was writing at the end of the latest
  /// entry.
  const std::atomic<bool> *isWriting = nullptr;
  bool writingAgreed = false;
  /// Vote on the next batch: whether this rank cannot read the batch of the next step to be
  /// enqueued, and whether any rank cannot.
  bool hasBadBatch = false, badBatchAgreed = false;
  /// Whether any rank had a gradient that is not finite in the latest step.
  bool gradientsFound = false;

  /// With this value of --comm, NCCL moves the tensors of CUDA devices.
  static constexpr const char *kNccl = dpc::kNcclTransport;
  /// With this value of --comm, which is the default, the runtime chooses the transport.
  static constexpr const char *kAuto = "auto";

private:
  dpc_status_t setInitialState();
  dpc_status_t checkState() const;
  dpc_status_t explainGradients();
  dpc_status_t vote(uint32_t entry, bool *outAllFinite);
  dpc_status_t sumVotes(uint64_t count);
  dpc_comm_op_t windowOperation(uint32_t op, uint32_t peer, uint64_t bytes) const;
  dpc_status_t exchange(uint32_t op, uint32_t peer, uint64_t bytes);
  dpc_status_t sendToHosts(uint64_t bytes);
  /// Elements [begin, end) of a logical tensor.
  struct Range {
    uint64_t begin, end;
  };
  dpc_status_t receiveShard(const dpc_placement_t &place, uint32_t owner, uint64_t elementSize,
                            Range range, char *destination);
  dpc_status_t sendShard(const dpc_placement_t &place, uint64_t elementSize, Range range,
                         uint64_t extraOffset);
  dpc_status_t checkLimits();
  /// The path of the program's parameter file.
  std::string parameterFile() const;
};

#endif // DPC_RUNTIME_SRC_SESSION_SESSION_H
