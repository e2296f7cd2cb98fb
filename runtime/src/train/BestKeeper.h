#ifndef DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H
#define DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H

#include "runtime/src/checkpoint/CheckpointSaver.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/Options.h"
#include "runtime/src/train/Report.h"

namespace dpc {

/// Implements --best: the results of a run are those of its best evaluation so
/// far, instead of the last. Losses, perplexity and outputs are best when
/// lowest (outputs with `,max` when highest), other means when highest. Of
/// equal evaluations the earlier is kept.
///
/// With --checkpoint, the folder DIR/best is a checkpoint folder of its own. It
/// also records how good its newest checkpoint is. So a resumed run does not
/// replace it by a worse one, and counts the evaluations of --patience from
/// there.
class BestKeeper {
public:
  BestKeeper(dpc_session &session, const Options &options, CheckpointSaver &saver)
      : session(session), options(options), saver(saver) {}

  bool isActive() const { return !options.best.empty(); }
  /// DPC_INVALID for a metric that evaluation does not compute, and if
  /// checkpoints of another run are in the folder. Reads the record of a
  /// resumed run.
  dpc_status_t open();
  /// Collective. Saves the current values if the evaluation is the best so far,
  /// and sets `*outIsBest` then.
  dpc_status_t offer(const MetricValues &evaluation, bool *outIsBest);
  /// Marks the current step as the beginning of training.
  void begin() { firstStep = session.control.step; }
  /// Whether --patience=N evaluations have passed since the best one. They are
  /// counted from step numbers, so a resumed run continues the count of the run
  /// before it. If that run evaluated at other steps, the count starts at 0.
  bool isOutOfPatience() const;
  /// Text for messages: "10 evaluations without a better loss than 0.25 of step
  /// 40"
  std::string patienceText() const;
  /// The last line of a run: how it has used its best evaluation.
  std::string result() const;

private:
  dpc_status_t parse();
  bool hasFiles() const;
  uint64_t countSinceBest() const;
  /// Text for messages: "loss 0.25 of step 40"
  std::string text() const;
  /// The metric, with its direction unless that is the usual one; stored in
  /// best.json.
  std::string record() const { return metric + (isMaximum ? ",max" : ""); }
  std::string folder() const { return options.checkpoint + "/best"; }
  dpc_status_t readRecord();
  dpc_status_t writeRecord() const;
  dpc_status_t save();

  dpc_session &session;
  const Options &options;
  CheckpointSaver &saver;
  std::string metric;     ///< its name in the log
  bool isMaximum = false; ///< of an output, by the user's request
  bool isLowest = true, hasValue = false, saved = false, countsOn = true;
  double value = 0;
  uint64_t step = 0, firstStep = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H
