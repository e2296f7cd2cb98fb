// Which values of a forward pass are computed again when the backward pass needs them.
//
// The ops of the forward pass, in their order, are cut into segments. What crosses a cut
// is kept; all else that the backward pass reads of a segment is computed again, from what
// is kept, when the backward pass reaches it (Chen et al., "Training deep nets with
// sublinear memory cost", 2016). Cuts are chosen so that what is kept and the largest
// segment together take the fewest bytes.

#ifndef DPC_PASSES_REMAT_REMATPLAN_H
#define DPC_PASSES_REMAT_REMATPLAN_H

#include "planning/PlanError.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace dpc {

/// A value of the forward pass, in memory of its own.
struct RematValue {
  /// The op that makes it, and the last one of the forward pass that reads it (`maker`
  /// where none does).
  int64_t maker, lastReader;
  int64_t bytes;
  /// Whether the backward pass reads it.
  bool isReadBackward;
};

struct RematProblem {
  /// Of the forward pass.
  int64_t ops = 0;
  std::vector<RematValue> values;
  /// Seconds that each op takes; none: all take the same.
  std::vector<double> seconds;
  /// How many bytes fewer than without recomputation are wanted: the cheapest segments
  /// that save as much are repeated, all but the last where they do not.
  int64_t savedBytes = std::numeric_limits<int64_t>::max();

  /// Is the problem sound: readers after makers, ops that exist, bytes and seconds not
  /// negative.
  llvm::Error check() const;
};

struct RematPlan {
  /// Ops with which a segment begins, ascending; the first segment begins with op 0.
  std::vector<int64_t> cuts;
  /// Whether a segment is repeated; never the last one, with which the backward pass
  /// begins.
  std::vector<bool> repeated;
  /// Of values that cross a cut, and of the largest segment's others that the backward
  /// pass reads.
  int64_t keptBytes = 0, segmentBytes = 0;

  int64_t segmentOf(int64_t op) const;
  /// Whether `value` crosses a cut.
  bool keeps(const RematValue &value) const;

  /// Bytes at the end of the forward pass and, of repeated segments, of the largest.
  int64_t bytesOf(const RematProblem &problem) const;

  /// Is the answer sound for `problem`: cuts ascending, inside the forward pass, all but
  /// the last segment repeated or as many as save what is wanted, and bytes that are those
  /// of the values.
  llvm::Error verify(const RematProblem &problem) const;
};

/// The segments that take the fewest bytes if all are repeated; of equal ones the fewest.
/// Of them those are repeated that save the most bytes a second, until what is wanted is
/// saved. Fails only where `problem.check()` does.
llvm::Expected<RematPlan> planSegments(const RematProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATPLAN_H
