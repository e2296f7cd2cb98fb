#ifndef DPC_RUNTIME_SRC_POSTMORTEM_FINDINGS_H
#define DPC_RUNTIME_SRC_POSTMORTEM_FINDINGS_H

#include "runtime/src/postmortem/Series.h"

#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// The first operation in which the members of a group did different things. `text` names the
/// rank that departs from the others, and what it did.
struct Divergence {
  int64_t at; ///< when the first member scheduled it
  std::string text;
};
std::optional<Divergence> findDivergence(const std::vector<Series> &all);

/// An operation that some members have begun and not completed, and that others have not begun.
struct OpenOperation {
  const Series *series;
  const RecordedOperation *operation; ///< of one of the members that wait
  std::vector<uint32_t> waiting, missing;
  std::vector<uint32_t> unrecorded; ///< members without a record
};
/// The first open operation of each series.
std::vector<OpenOperation> findOpen(const std::vector<Series> &all, const RecordsByRank &ranks);

/// A rank that came last to an operation, by much more than ranks usually do, or whose process
/// stood still. The time in which the rank itself waited for others does not count.
struct Straggler {
  uint32_t rank;
  double seconds; ///< after the last of the others, or of standing still
  const RecordedOperation
      *operation; ///< to which it came late, or before which it stood still; null: it
                  ///< is not recorded any more
  bool stoodStill;
};
/// The longest delay of each straggler, the longest one first.
std::vector<Straggler> findStragglers(const std::vector<Series> &all, const RecordsByRank &ranks);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_POSTMORTEM_FINDINGS_H
