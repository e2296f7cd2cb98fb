#ifndef DPC_RUNTIME_SRC_TRAIN_TRAINER_H
#define DPC_RUNTIME_SRC_TRAIN_TRAINER_H

#include "runtime/src/checkpoint/CheckpointSaver.h"
#include "runtime/src/data/Dataset.h"
#include "runtime/src/data/Prefetcher.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/session/StateCheck.h"
#include "runtime/src/train/BestKeeper.h"
#include "runtime/src/train/Evaluation.h"
#include "runtime/src/train/Options.h"
#include "runtime/src/train/Report.h"
#include "runtime/src/train/Restart.h"

#include <deque>
#include <memory>

namespace dpc {

/// Performs one rank of a training run: resumes, runs steps, evaluates, and writes
/// checkpoints and results. With --evaluate it only evaluates.
class Trainer {
public:
  Trainer(dpc_session &session, const Options &options)
      : session(session), options(options), evaluation(session), saver(session),
        best(session, this->options, saver) {}
  dpc_status_t run();

private:
  dpc_status_t goOn();
  dpc_status_t openOutputs();
  dpc_status_t openData();
  dpc_status_t initParameters();
  dpc_status_t openState();
  dpc_status_t steps();
  dpc_status_t openPrefetcher();
  dpc_status_t oneStep();
  dpc_status_t submitStep();
  dpc_status_t submitAhead();
  bool mayRunAhead() const;
  bool isDecidedAfter(uint64_t done) const;
  void select(InputLoader &loader, uint64_t index) const;
  dpc_status_t evaluate();
  dpc_status_t evaluateAlone();
  void noteData();
  std::string wanted() const;
  void introduce();
  dpc_status_t save();
  dpc_status_t checkState();
  dpc_status_t results();
  dpc_status_t finish();
  double epochOf(uint64_t step) const { return double(step) / double(batchesPerEpoch); }
  bool first() const { return session.options.rank == 0; }

  dpc_session &session;
  Options options; ///< as given, but a restart adds --resume
  Dataset data;
  Evaluation evaluation;
  std::unique_ptr<Prefetcher> prefetcher;
  Report report;
  Restart restart;
  bool isResumeImplied = false; ///< the user has not given --resume, but this is a restart
  CheckpointSaver saver;
  BestKeeper best;
  std::unique_ptr<StateCheck> stateCheck; ///< null without --check-state
  uint64_t lastStep = 0, batchesPerEpoch = 0;
  MetricValues metrics;
  bool isEvaluated = false;      ///< whether the current parameters have been evaluated
  bool isSaved = false;          ///< whether the checkpoint of the last step has been written
  bool resumedElsewhere = false; ///< the run resumed from another folder (--resume=DIR), so its own
                                 ///< folder has no checkpoint of the state yet
  uint64_t stepsSkipped = 0;     ///< rank 0: number of steps skipped for a loss that is not finite
  /// How many steps may be under way: 2 if the device gets a step before the host has read the
  /// metrics of the step before it, else 1.
  uint32_t depth = 1;
  std::deque<double> submitTimes;  ///< of the steps that are under way
  double completedAt = 0;          ///< time at which the latest step was complete
  uint64_t goodBatch = UINT64_MAX; ///< all ranks have read the batch of this step
  bool isStopping = false;         ///< a rank has asked to stop
  double stepSeconds = 0;
  dpc_status_t stepStatus = DPC_OK;
};

/// Runs an inference program on the files of --input, and writes the files of --output.
dpc_status_t runInference(dpc_session &session, const Options &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_TRAINER_H
