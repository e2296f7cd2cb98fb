// Which values of a forward pass are computed again when the backward pass needs them.
//
// The ops of the forward pass, in their order, are cut into segments so that what crosses
// the cuts and the largest segment together take the fewest bytes (Chen et al., "Training
// deep nets with sublinear memory cost", 2016). A segment is repeated of what is kept in it
// and before it. What is kept within a segment is a minimum cut of the values that the
// backward pass needs from those that are made again (as in He & Yu, "Transcending
// runtime-memory tradeoffs in checkpointing by being fusion aware", MLSys 2023): one cut for
// each price of a second in bytes at which the answer changes. A budget buys the steps
// between these answers, in all segments together, by seconds a byte: the greedy answer to a
// knapsack of multiple choices (Sinha & Zoltners, 1979).

#ifndef DPC_PASSES_REMAT_REMATPLAN_H
#define DPC_PASSES_REMAT_REMATPLAN_H

#include "planning/PlanError.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace dpc {

/// A value of the forward pass.
struct RematValue {
  /// The op that makes it.
  int64_t maker;
  int64_t bytes;
  /// The first and the last op of the backward pass that reads it; -1 where none does.
  int64_t firstBackward = -1, lastBackward = -1;
};

/// An op of the forward pass.
struct RematOp {
  /// 0: every kernel that reads its result computes it anew. It takes memory only if kept.
  double seconds = 1;
  /// The values that it reads, all made by earlier ops.
  std::vector<int64_t> reads;
  /// Whether it can be computed again.
  bool mayRepeat = true;
};

struct RematProblem {
  std::vector<RematOp> ops;
  std::vector<RematValue> values;
  /// What the backward pass itself keeps at each of its ops.
  std::vector<int64_t> backwardBytes;
  /// How many bytes fewer than without recomputation are wanted.
  int64_t savedBytes = std::numeric_limits<int64_t>::max();
  /// Values that somebody asks to be made again. If there are any, no others are but
  /// those that take no time.
  std::vector<int64_t> asked;

  /// Is the problem sound: reads of values that exist and were made before, readers that
  /// exist, bytes and seconds not negative.
  llvm::Error check() const;
};

struct RematPlan {
  /// Ops with which a segment begins, ascending; the first segment begins with op 0.
  std::vector<int64_t> cuts;
  /// By value: whether it stays from the forward pass to whoever reads it in the backward pass.
  std::vector<bool> kept;
  /// By op: whether the backward pass computes it again, just before it first needs the
  /// result.
  std::vector<bool> repeated;
  /// Of all that is kept.
  int64_t keptBytes = 0;
  /// The most bytes from the end of the forward pass on: what is kept and made again, until
  /// its last reader, and the backward pass's own.
  int64_t peakBytes = 0;
  /// The same without recomputation.
  int64_t plainBytes = 0;

  int64_t segmentOf(int64_t op) const;
  /// Whether `value` is made by the kernels that read it, of values that are kept.
  bool isMadeByReaders(const RematProblem &problem, int64_t value) const;
  /// Ops that are repeated and take time.
  int64_t countRepeated(const RematProblem &problem) const;

  /// Is the answer sound for `problem`: cuts ascending and inside the forward pass; what the
  /// backward pass or a repeated op reads is kept or made again, by the latter in its own
  /// segment; nothing is kept or repeated for nobody; what is asked for is not kept; the
  /// recorded bytes true.
  llvm::Error verify(const RematProblem &problem) const;
};

/// Bytes at the end of the forward pass (first), and at each op of the backward pass.
std::vector<int64_t> replayRemat(const RematProblem &problem, const RematPlan &plan);

/// Keeps nothing that costs no time, and repeats what takes the least time a byte until what
/// is wanted is saved; if that cannot be, whatever saves the most in all segments. Fails
/// only where `problem.check()` does.
llvm::Expected<RematPlan> planRemat(const RematProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATPLAN_H
