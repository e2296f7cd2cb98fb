#ifndef DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H
#define DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H

#include "runtime/src/checkpoint/CheckpointSaver.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/Options.h"
#include "runtime/src/train/Report.h"

namespace dpc {

/// What --best asks for: the results of the best evaluation so far, instead of
/// the last. Losses, perplexity and outputs are best when they are lowest (outputs
/// with `,max` when they are highest), any other mean when it is highest; the
/// earlier of equal ones is kept. With --checkpoint the folder DIR/best is a
/// checkpoint folder of its own, and remembers how good its newest checkpoint is,
/// so that a run that is resumed does not put a worse one in its place, and
/// counts the evaluations of --patience from there.
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
  /// Tells that training begins at the present step.
  void begin() { firstStep = session.control.step; }
  /// Whether there were as many evaluations since the best as --patience=N allows.
  /// They are counted by their steps, so that a resumed run goes on with the count of
  /// the run before, or, where that one evaluated at other steps, with none.
  bool isOutOfPatience() const;
  /// "10 evaluations without a better loss than 0.25 of step 40"
  std::string patienceText() const;
  /// What this run has done with its best evaluation: a line for its end.
  std::string result() const;

private:
  dpc_status_t parse();
  bool hasFiles() const;
  uint64_t countSinceBest() const;
  /// "loss 0.25 of step 40"
  std::string text() const;
  /// The metric, with its direction where that is not the usual one: for best.json.
  std::string record() const { return metric + (isMaximum ? ",max" : ""); }
  std::string folder() const { return options.checkpoint + "/best"; }
  dpc_status_t readRecord();
  dpc_status_t writeRecord() const;
  dpc_status_t save();

  dpc_session &session;
  const Options &options;
  CheckpointSaver &saver;
  std::string metric;     ///< as the log has it
  bool isMaximum = false; ///< of an output, as asked for
  bool isLowest = true, hasValue = false, saved = false, countsOn = true;
  double value = 0;
  uint64_t step = 0, firstStep = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_BESTKEEPER_H
