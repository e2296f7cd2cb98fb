#ifndef DPC_RUNTIME_SRC_TRAIN_EVALUATION_H
#define DPC_RUNTIME_SRC_TRAIN_EVALUATION_H

#include "runtime/src/data/Dataset.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/Report.h"

#include <string>
#include <vector>

namespace dpc {

/// The data of --eval-data, and the program's metrics averaged over it.
class Evaluation {
public:
  explicit Evaluation(dpc_session &session) : session(session) {}

  /// Collective. DPC_INVALID if there are too few samples for the program.
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
  /// Collective. Leaves the loader bound to this data. A loss that is not
  /// finite is treated like any other value. If `mayStop`, an interrupt ends it
  /// with DPC_INTERRUPTED.
  dpc_status_t run(bool mayStop);
  /// Metrics of the latest run, equal on all ranks, in the order of the
  /// program.
  const MetricValues &getValues() const { return values; }
  /// The line of the log: "eval at step 40: loss 0.25 accuracy 0.875"
  std::string text() const;
  /// A note on batches that the latest run left out; empty if there are none.
  std::string note() const;

private:
  uint64_t batchCount() const;

  dpc_session &session;
  Dataset data;
  MetricValues values;
  uint64_t leftOut = 0; ///< batches left out of the latest run
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_EVALUATION_H
