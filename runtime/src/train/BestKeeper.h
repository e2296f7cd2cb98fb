#ifndef DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H
#define DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H

#include "runtime/src/checkpoint/CheckpointSaver.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/Options.h"
#include "runtime/src/train/Report.h"

namespace dpc {

/// What --best asks for: the results of the best evaluation so far, instead of
/// the last. A loss is best when it is lowest, any other mean when it is
/// highest; the earlier of equal ones is kept. With --checkpoint the folder
/// DIR/best is a checkpoint folder of its own, and remembers how good its
/// newest checkpoint is, so that a run that is resumed does not put a worse one
/// in its place.
class BestKeeper {
public:
  BestKeeper(dpc_session &session, const Options &options, CheckpointSaver &saver)
      : session(session), options(options), saver(saver) {}

  bool isActive() const { return !options.best.empty(); }
  /// DPC_INVALID for a metric that evaluation does not have, and for
  /// checkpoints of another run in the way. Reads what a resumed run remembers.
  dpc_status_t open();
  /// Collective. Saves the present values if the evaluation is the best;
  /// `*outIsBest` says so.
  dpc_status_t offer(const MetricValues &evaluation, bool *outIsBest);
  /// Whether this run has saved something.
  bool hasSaved() const { return saved; }
  /// "loss 0.25 of step 40"
  std::string text() const;

private:
  std::string folder() const { return options.checkpoint + "/best"; }
  dpc_status_t readRecord();
  dpc_status_t writeRecord() const;
  dpc_status_t save();

  dpc_session &session;
  const Options &options;
  CheckpointSaver &saver;
  bool isLowest = true, hasValue = false, saved = false;
  double value = 0;
  uint64_t step = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H
