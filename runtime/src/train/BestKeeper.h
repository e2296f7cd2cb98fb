#ifndef DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H
#define DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H

#include "runtime/src/checkpoint/CheckpointSaver.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/Options.h"
#include "runtime/src/train/Report.h"

namespace dpc {

/// Implements --best: keeps the parameters of the best evaluation of a run, instead of
/// those after the last step. The best loss or perplexity is the lowest one. The best
/// value of an output is the lowest one, or with `,max` the highest. For all other
/// metrics the highest value is the best. If two evaluations are equal, the earlier one
/// is kept.
///
/// With --checkpoint, DIR/best is a second folder of checkpoints. The file best.json in
/// this folder records the value of its newest checkpoint. So a resumed run does not
/// replace this checkpoint by a worse one, and counts the evaluations of --patience
/// from it.
class BestKeeper {
public:
  BestKeeper(dpc_session &session, const Options &options, CheckpointSaver &saver)
      : session(session), options(options), saver(saver) {}

  bool isActive() const { return !options.best.empty(); }
  /// Returns DPC_INVALID if evaluation does not compute the metric, or if a run without
  /// --resume finds checkpoints in the folder. A resumed run reads best.json.
  dpc_status_t open();
  /// Collective. If the evaluation is the best so far, saves the current parameters and
  /// sets `*outIsBest`.
  dpc_status_t offer(const MetricValues &evaluation, bool *outIsBest);
  /// Marks the current step as the beginning of training.
  void begin() { firstStep = session.control.step; }
  /// Whether at least N evaluations (--patience=N) have followed the best evaluation.
  /// They are counted by step numbers, so a resumed run continues the count of the
  /// earlier run. If the earlier run had another --eval-every, the count starts at 0.
  bool isOutOfPatience() const;
  /// Text for messages: "10 evaluations without a better loss than 0.25 of step
  /// 40"
  std::string patienceText() const;
  /// A line for the end of the run: the best evaluation, and whether it was saved.
  std::string result() const;

private:
  dpc_status_t parse();
  bool hasFiles() const;
  uint64_t countSinceBest() const;
  /// Text for messages: "loss 0.25 of step 40"
  std::string text() const;
  /// The metric as best.json has it. The direction is added if it is ",max".
  std::string record() const { return metric + (isMaximum ? ",max" : ""); }
  std::string folder() const { return options.checkpoint + "/best"; }
  dpc_status_t readRecord();
  dpc_status_t writeRecord() const;
  dpc_status_t save();

  dpc_session &session;
  const Options &options;
  CheckpointSaver &saver;
  std::string metric;     ///< the metric's name in the log
  bool isMaximum = false; ///< the user asked for the highest value of an output (",max")
  bool isLowest = true, hasValue = false, saved = false, countsOn = true;
  double value = 0;
  uint64_t step = 0, firstStep = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H
