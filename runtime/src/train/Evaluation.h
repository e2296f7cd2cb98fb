#ifndef DPC_RUNTIME_SRC_TRAIN_EVALUATION_H
#define DPC_RUNTIME_SRC_TRAIN_EVALUATION_H

#include "runtime/src/data/Dataset.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/Report.h"

#include <string>
#include <vector>

namespace dpc {

/// Computes the program's metrics over the data of --eval-data: means, and sums for
/// metrics that are counts or sums.
class Evaluation {
public:
  explicit Evaluation(dpc_session &session) : session(session) {}

  /// Collective. Opens the data. Returns DPC_INVALID if a metric needs complete batches
  /// and the data has fewer samples than a batch.
  dpc_status_t open(const std::vector<std::string> &specs, MemoryMaker &memory, Report &report);
  bool isOpen() const { return data.rows() != 0; }
  uint64_t rows() const { return data.rows(); }
  /// See Dataset::checkValues.
  dpc_status_t checkValues() const;
  /// See Dataset::unusedArrays.
  const std::vector<std::string> &unusedArrays() const { return data.unusedArrays(); }
  /// See Dataset::loader.
  InputLoader *loader() const { return data.loader(); }
  /// See Dataset::notes.
  std::vector<std::string> notes() const { return data.notes(); }
  /// Collective. Evaluates the current parameters. A loss that is not finite does not
  /// stop the evaluation. If `mayStop`, an interrupt ends the call with DPC_INTERRUPTED.
  /// Afterwards the session's loader is still bound to this data.
  dpc_status_t run(bool mayStop);
  /// The metrics of the latest run() in the order of the program. They are equal on all
  /// ranks.
  const MetricValues &getValues() const { return values; }
  /// The line to print, e.g. "eval at step 40: loss 0.25 accuracy 0.875".
  std::string text() const;
  /// A note on batches that the latest run() left out. Empty if it used all batches.
  std::string note() const;

private:
  uint64_t batchCount() const;

  dpc_session &session;
  Dataset data;
  MetricValues values;
  uint64_t leftOut = 0; ///< number of batches that the latest run() left out
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_EVALUATION_H
