#ifndef DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H
#define DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H

#include "targets/CUDA/Calls/Calls.h"
#include "targets/Loops/Rules.h"

#include <vector>

namespace dpc {

/// The position of a launch among the launches of a fill rule.
struct LaunchPhase {
  unsigned number = 0, count = 1;
  bool isLast() const { return number + 1 == count; }
};

/// A grid of threads that runs the loops of one group. Launches run one after the
/// other, so all threads of a launch can read the results of earlier launches.
struct Launch {
  /// The mapping of iterations to threads.
  enum class Kind {
    elements, ///< one thread per element, or per row if there are rows
    results,  ///< one block per element, whose threads share its reduction
    rows,     ///< one block per row, whose threads share the elements of a stage
    squares,  ///< one block per square of a transposition's elements, one thread per element
    tiles     ///< one block per tile of an op and of elementwise ops on its result
  };

  Kind kind = Kind::elements;
  LoopGroup group;
  int64_t blocks = 1, threads = 1;
  /// For a group that a fill rule fills: its parts, which replace elements.
  FillParts parts;
  /// For kind `rows`, per stage: whether its elements are computed one after the
  /// other, each by all threads of the block, because each one is a long reduction.
  llvm::SmallVector<bool> together;
  /// For kind `rows`: the values whose current row is kept in the block's shared
  /// memory.
  llvm::SmallVector<mlir::Value> shared;
  /// For kind `tiles`: the launches of one group are consecutive. The last one also
  /// makes the ops that follow the filled op.
  LaunchPhase phase;
  /// For kind `tiles`: the way in which a library computes the group instead.
  std::optional<PlannedCall> call;

  /// Whether one thread fills all results of an op, because its rule has only one
  /// part.
  bool isLone() const { return kind == Kind::elements && group.isFilled && parts.count == 1; }
};

/// Squares of elements, along the innermost loop of a nest and along the loop in
/// which a transposition reads (`LoopNest::strided`). A block that computes one
/// square writes and reads memory in contiguous pieces.
struct Squares {
  static constexpr int64_t kSide = 16;
  /// Number of squares along each loop.
  llvm::SmallVector<int64_t> counts;

  explicit Squares(const LoopNest &nest);
  int64_t getTotal() const { return mlir::ShapedType::getNumElements(counts); }
};

/// Reductions with fewer terms run in each thread, because distributing them costs
/// more than it saves.
inline constexpr int64_t kShortReduction = 32;

/// The launches of a kernel, in their order.
struct LaunchPlan {
  /// Threads of a warp, which exchange values by shuffles.
  static constexpr int64_t kWarp = 32;
  static constexpr int64_t kMaxThreads = 256;
  /// Shared memory in bytes that a block may use on any device without a special
  /// request, less the memory that reductions use.
  static constexpr int64_t kSharedBytes = 47 * 1024;

  std::vector<Launch> launches;

  /// Checks the plan for `graph`: every root is in one launch, after the launches
  /// whose results it reads; the grids are valid for a device and have a thread for
  /// every element; a block has enough shared memory.
  llvm::Error verify(const KernelGraph &graph) const;
};

/// The options that decide about launches, in addition to the kernel.
struct LaunchOptions {
  /// The choice of groups that libraries compute.
  CallOptions calls;
  /// Whether every sum adds its terms in order.
  bool keepsOrder = false;
};

/// The launch that copies `value`, which is inlined or an operand, into a result.
Launch copyLaunch(mlir::Value value);

/// Distributes the loops of `plan` over threads. A group without elements gets no
/// launch. A group of few and long rows is split into one launch per stage. A group
/// of tiles is split if a library can compute only its first stage.
LaunchPlan planLaunches(const KernelGraph &graph, const LoopPlan &plan,
                        const LaunchOptions &options = {});

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H
