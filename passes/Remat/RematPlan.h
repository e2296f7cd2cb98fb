// Chooses the values of a forward pass that are rematerialized for the backward pass.
//
// The ops of the forward pass, in program order, are cut into segments (Chen et al., "Training deep
// nets with sublinear memory cost", 2016). The chosen cuts need the fewest bytes if all segments
// but the last are repeated as far as possible: the bytes of the kept values plus the bytes that
// the repetition of the largest segment makes. A repeated op reads values that are kept in its
// segment or in an earlier one, or that are made again in its segment.
//
// The values kept within a segment form a minimum cut (as in He & Yu, "Transcending runtime-memory
// tradeoffs in checkpointing by being fusion aware", MLSys 2023). The cost of a minimum cut is the
// bytes of the kept values plus the time of the repeated ops. To add them, time is converted to
// bytes: each second has a price in bytes. Different prices give different minimum cuts, so each
// segment has a list of answers, from fast to small. The planner moves from answer to answer, in
// all segments together, in the order of seconds per saved byte, until enough bytes are saved. This
// is the greedy method for the multiple-choice knapsack problem (Sinha & Zoltners, 1979).

#ifndef DPC_PASSES_REMAT_REMATPLAN_H
#define DPC_PASSES_REMAT_REMATPLAN_H

#include "planning/PlanError.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace dpc {

/// A value that an op of the forward pass computes and that takes memory if it is kept.
struct RematValue {
  /// The index of the op that computes the value.
  int64_t maker;
  int64_t bytes;
  /// The first and the last op of the backward pass that reads the value, as indices into
  /// RematProblem::backwardBytes; both are -1 if no op does.
  int64_t firstBackward = -1, lastBackward = -1;
};

/// An op of the forward pass.
struct RematOp {
  /// The time of the op. It is 0 if every kernel that reads the result computes the result for
  /// itself. Such a result takes memory only if it is kept.
  double seconds = 1;
  /// The values that the op reads, all of them made by earlier ops.
  std::vector<int64_t> reads;
  /// Whether the backward pass may repeat the op.
  bool mayRepeat = true;
};

struct RematProblem {
  std::vector<RematOp> ops;
  std::vector<RematValue> values;
  /// By op of the backward pass: the bytes that the pass itself keeps while the op runs.
  std::vector<int64_t> backwardBytes;
  /// The bytes to save, compared with the same program without rematerialization.
  int64_t savedBytes = std::numeric_limits<int64_t>::max();
  /// Values that the user asks to rematerialize. If there are any, only these values, and values
  /// that take no time, are rematerialized.
  std::vector<int64_t> asked;

  /// Checks that the problem is sound: ops read values that exist and that earlier ops made,
  /// readers in the backward pass exist, and bytes and seconds are not negative.
  llvm::Error check() const;
};

struct RematPlan {
  /// The ops with which segments begin, ascending; the first segment begins with op 0, which is not
  /// listed.
  std::vector<int64_t> cuts;
  /// By value: whether it is kept from the forward pass until its last reader in the backward pass.
  std::vector<bool> kept;
  /// By op: whether the backward pass repeats the op. The repeated op runs just before the backward
  /// pass first needs one of its results.
  std::vector<bool> repeated;
  /// The bytes of all kept values.
  int64_t keptBytes = 0;
  /// The most bytes in use at any moment from the end of the forward pass on. Counts kept values
  /// and repeated values, each until its last reader, and the bytes of the backward pass itself.
  int64_t peakBytes = 0;
  /// The same as `peakBytes`, but without rematerialization.
  int64_t plainBytes = 0;

  int64_t segmentOf(int64_t op) const;
  /// Whether the kernels that read `value` compute it for themselves, from values that are kept.
  bool isMadeByReaders(const RematProblem &problem, int64_t value) const;
  /// The number of repeated ops that take time.
  int64_t countRepeated(const RematProblem &problem) const;

  /// Checks that the answer is sound for `problem`:
  /// - Cuts ascend and lie inside the forward pass.
  /// - Every value that the backward pass reads is kept or made again. Every value that a repeated
  ///   op reads is kept, or made again in the segment of that op.
  /// - No value is kept without a reader, and no op is repeated without a reader of a result.
  /// - No value that the user asks to rematerialize is kept.
  /// - The recorded bytes are true.
  llvm::Error verify(const RematProblem &problem) const;
};

/// Returns the bytes in use at the end of the forward pass (first element), and at each op of the
/// backward pass.
std::vector<int64_t> replayRemat(const RematProblem &problem, const RematPlan &plan);

/// Finds a plan. If `asked` is not empty, rematerializes the values in `asked`, and values that
/// take no time. If `asked` is empty, starts with ops that take no time, and adds the ops that take
/// the least time per saved byte until `savedBytes` are saved. If so many bytes cannot be saved,
/// takes the answer of each segment that saves the most. Fails only if `problem.check()` does.
llvm::Expected<RematPlan> planRemat(const RematProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATPLAN_H
