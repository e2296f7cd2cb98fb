#ifndef DPC_RUNTIME_SRC_TRAIN_EVALUATION_H
#define DPC_RUNTIME_SRC_TRAIN_EVALUATION_H

#include "runtime/src/data/Dataset.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/Report.h"

#include <string>
#include <vector>

namespace dpc {

/// The data of --eval-data, and the means of the program's metrics over it.
class Evaluation {
public:
  explicit Evaluation(dpc_session &session) : session(session) {}

  /// Collective. DPC_INVALID when there are too few samples for the program.
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
  /// Collective. Leaves the loader with this data. A loss that is not finite is
  /// a value like others. DPC_INTERRUPTED if it `mayStop` and was asked to.
  dpc_status_t run(bool mayStop);
  /// Of the latest run, the same on all ranks, in the order of the program.
  const MetricValues &getValues() const { return values; }
  /// "eval at step 40: loss 0.25 accuracy 0.875"
  std::string text() const;
  /// What the latest run did not count, for the user; empty: nothing.
  std::string note() const;

private:
  uint64_t batchCount() const;

  dpc_session &session;
  Dataset data;
  MetricValues values;
  uint64_t leftOut = 0; ///< batches
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_EVALUATION_H
