#ifndef DPC_RUNTIME_SRC_POSTMORTEM_SERIES_H
#define DPC_RUNTIME_SRC_POSTMORTEM_SERIES_H

#include "runtime/src/comm/Operation.h"
#include "runtime/src/postmortem/ReadImage.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// Operations that happen one after another: the collectives of one group, or the messages from
/// one rank to another. Member i's n-th operation belongs to member j's n-th one.
struct Series {
  std::string name; ///< for messages: "group data (ranks 0, 2)", "messages from rank 0 to rank 1"
  bool isPair = false;
  std::vector<uint32_t> members;
  /// For each member, the operations that are still recorded, by their number in the series.
  std::vector<std::map<uint64_t, const RecordedOperation *>> operations;
  /// For each member, whether it is known how many operations it has begun. Unknown without a
  /// record of the rank, or if all its operations of the series were overwritten.
  std::vector<bool> isKnown;

  const RecordedOperation *find(size_t member, uint64_t sequence) const;
  /// Whether a member is known not to have begun its operation `sequence`.
  bool lacks(size_t member, uint64_t sequence) const;
};

/// The records of a run by rank; null for ranks without a record.
using RecordsByRank = std::vector<const RankRecord *>;

/// Sorts the operations of all ranks into series.
std::vector<Series> findSeries(const RecordsByRank &ranks);

/// What the rank told the others about the operation.
Announcement announcementOf(const RecordedOperation &operation, bool isPair);

/// Describes an operation: "all-reduce of buffer 1 (node_linear), operation 12 of group data
/// (ranks 0, 2), step 3".
std::string describe(const RecordedOperation &operation, const Series &series);
/// The same without its series.
std::string describe(const RecordedOperation &operation);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_POSTMORTEM_SERIES_H
