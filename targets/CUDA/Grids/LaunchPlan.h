#ifndef DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H
#define DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H

#include "targets/CUDA/Calls/Calls.h"
#include "targets/CUDA/Grids/BoxPlan.h"
#include "targets/CUDA/Grids/ColumnSums.h"
#include "targets/Loops/Rules.h"

#include <vector>

namespace dpc {

/// The number of a launch among the launches of a fill rule.
struct LaunchPhase {
  unsigned number = 0, count = 1;
  bool isLast() const { return number + 1 == count; }
};

/// A launch: a grid of threads that runs the loops of one group. Launches run one
/// after the other, so all threads of a launch can read the results of earlier
/// launches.
struct Launch {
  /// How iterations are mapped to threads.
  enum class Kind {
    elements, ///< one thread per element, or per row if the group has rows
    results,  ///< one block per element, or per some elements (`teams`); threads share a reduction
    rows,     ///< one block per row, or per some rows if the launch has sums over columns; the
              ///< threads share the elements of a stage
    sums,     ///< adds up the partial sums of the launch before, one block per some columns
    joint,    ///< several launches of the kind `elements`, one after the other in the grid
    boxes,    ///< one block per box of elements that are transposed (BoxPlan)
    tiles     ///< one block per tile of an op and of the elementwise ops on its result, or of
              ///< several ops of one shape
  };

  Kind kind = Kind::elements;
  LoopGroup group;
  int64_t blocks = 1, threads = 1;
  /// For a group with a fill rule: its parts. The kinds `elements` and `results`
  /// then mean parts, not elements.
  FillParts parts;
  /// For the kind `rows`, per stage: whether all threads of the block compute each
  /// element together, one element after the other. This is faster if each element
  /// is a long reduction.
  llvm::SmallVector<bool> together;
  /// Neighbours that a thread computes or adds up together, so that its accesses to memory are
  /// wide.
  struct Pieces {
    int64_t elements = 1; ///< of the results, along the innermost loop
    int64_t terms = 1;    ///< of reductions that the threads of a block share
    /// Where pieces end whose elements are read under one condition, along the innermost loop, if
    /// that is before the loop ends: a pad has elements of its operand up to there.
    std::optional<int64_t> end = std::nullopt;
    /// For the kind `elements`: the pieces of a thread, in different iterations of the loop around
    /// the innermost one. What depends on the innermost loop alone, such as numbers per channel, is
    /// read once for all of them.
    int64_t rows = 1;
  };
  /// One entry per stage; none if all pieces are single elements.
  llvm::SmallVector<Pieces> pieces = {};
  /// For the kind `results`: the number of elements that a block computes. A team is consecutive
  /// threads that share the terms of one of them. Teams of a larger number are parts of warps.
  int64_t teams = 1;
  /// For the kind `rows`: sums over columns that the launch computes too. For the kind `sums`:
  /// those of the launch before.
  std::optional<ColumnSums> sums = std::nullopt;
  /// For the kind `rows`: the values whose current row is in the shared memory of
  /// the block.
  llvm::SmallVector<mlir::Value> shared;
  /// For the kind `rows`: the values of which the block copies the current row to dynamic shared
  /// memory, because its loops read it several times.
  llvm::SmallVector<mlir::Value> copied = {};
  /// For the kind `boxes`: how they are computed.
  std::optional<BoxPlan> boxes = std::nullopt;
  /// For the kind `tiles`: the number of this launch among those of the fill rule,
  /// which are consecutive. The last launch also computes the ops that follow the
  /// filled op.
  LaunchPhase phase;
  /// The blocks for which a multiprocessor must have enough registers (TileGrid::residentBlocks).
  /// With 0 the assembler decides, and may spill registers so that more blocks run at once.
  int64_t residentBlocks = 0;
  /// For the kind `tiles`: the library call that may compute the group instead.
  std::optional<PlannedCall> call;

  /// For the kind `joint`: the launches. `group` has the stages of all of them.
  std::vector<Launch> joined;

  int64_t getThreadsOfTeam() const { return threads / teams; }

  /// The bytes of shared memory for one row, if `value` is divided into `rows` rows.
  static int64_t bytesOfRow(mlir::Value value, int64_t rows);
  /// The bytes of dynamic shared memory of a block.
  int64_t getCopiedBytes() const;
  /// The pieces of stage `stage`.
  Pieces getPieces(unsigned stage) const {
    return stage < pieces.size() ? pieces[stage] : Pieces();
  }

  /// Whether one thread fills all results of an op, because its fill rule has only
  /// one part.
  bool isLone() const { return kind == Kind::elements && group.isFilled && parts.count == 1; }
};

/// Reductions with fewer terms run completely in each thread, because distributing
/// them would cost more than it saves.
inline constexpr int64_t kShortReduction = 32;

/// The options on which the launches of a kernel depend.
struct LaunchPlanOptions {
  /// The options that decide which groups become library calls.
  CallOptions calls;
  /// Whether every sum adds its terms in order.
  bool keepsOrder = false;
  /// The most shared memory that a block may ask for, in bytes. With 0, it gets what every device
  /// allows without a request.
  int64_t mostSharedBytes = 0;
};

/// The launches of a kernel, in order.
struct LaunchPlan {
  /// The number of threads of a warp. These threads can exchange values by
  /// shuffles.
  static constexpr int64_t kWarp = 32;
  static constexpr int64_t kMaxThreads = 256;
  /// The most threads of a block that copies rows to shared memory: few such blocks run at once.
  static constexpr int64_t kMostThreadsOfCopies = 1024;
  /// The bytes of shared memory that a launch may use: the 48 KiB that every device
  /// allows without a special request, less the memory that reductions use.
  static constexpr int64_t kSharedBytes = 47 * 1024;
  /// The bytes that reductions use at most in a block.
  static constexpr int64_t kReservedBytes = 2048;
  /// The least bytes of an asynchronous copy to shared memory.
  static constexpr int64_t kLeastCopy = 4;

  std::vector<Launch> launches;

  /// Checks the plan for `graph`, which was made with `options`. Every root must be in one launch,
  /// after the launches whose results it reads. Grids must be valid for a device, and must have as
  /// many threads or blocks as the kind of the launch requires. A block must have enough shared
  /// memory.
  llvm::Error verify(const KernelGraph &graph, const LaunchPlanOptions &options = {}) const;
};

/// The launch that copies `value` to the buffer of a result. `value` is an operand, a
/// constant, or a value that is stored in the buffer of another result.
Launch copyLaunch(mlir::Value value);

/// Plans the launches that run the loops of `plan`. A group without elements gets
/// no launch. A group with few but long rows becomes one launch per stage. A group
/// of tiles becomes two launches if a library can compute only its first stage.
LaunchPlan planLaunches(const KernelGraph &graph, const LoopPlan &plan,
                        const LaunchPlanOptions &options = {});

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H
