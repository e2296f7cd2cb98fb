#ifndef DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H
#define DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H

#include "targets/CUDA/Grids/PlannedProduct.h"
#include "targets/Loops/Rules.h"

#include <vector>

namespace dpc {

/// Which of the launches of a fill rule one is.
struct LaunchPhase {
  unsigned number = 0, count = 1;
  bool isLast() const { return number + 1 == count; }
};

/// A grid of threads that runs the loops of one group. Launches run one after
/// the other: what one has written, all threads of the next can read.
struct Launch {
  /// Who runs which iterations.
  enum class Kind {
    elements, ///< a thread each element; where there are rows, each row
    results,  ///< a block each element, whose threads share its reduction
    rows,     ///< a block each row, whose threads share the elements of a stage
    squares,  ///< a block each square of a transposition's elements, a thread each
    tiles     ///< a block each tile of an op, and what is elementwise over it
  };

  Kind kind = Kind::elements;
  LoopGroup group;
  int64_t blocks = 1, threads = 1;
  /// Of a group that an op fills: its parts are what elements are of others.
  FillParts parts;
  /// Of kind `rows`, for each stage: its elements are made one after the other,
  /// each by all threads of the block, since each is a long reduction.
  llvm::SmallVector<bool> together;
  /// Of kind `rows`: values whose current row lies in the block's shared
  /// memory.
  llvm::SmallVector<mlir::Value> shared;
  /// Of kind `tiles`: launches of the same group follow each other, of which the
  /// last one makes what is more than the filled op.
  LaunchPhase phase;
  /// Of kind `tiles`: how a library makes all of the group.
  std::optional<PlannedProduct> product;

  /// Whether one thread fills the results of an op, as it has one part.
  bool isLone() const { return kind == Kind::elements && group.isFilled && parts.count == 1; }
};

/// Squares of elements, along the innermost loop of a nest and the one along which
/// a transposition reads (`LoopNest::strided`): a block of one writes and reads
/// memory in pieces that follow each other.
struct Squares {
  static constexpr int64_t kSide = 16;
  /// Their number along each loop.
  llvm::SmallVector<int64_t> counts;

  explicit Squares(const LoopNest &nest);
  int64_t getTotal() const { return mlir::ShapedType::getNumElements(counts); }
};

/// The launches of a kernel, in their order.
struct LaunchPlan {
  /// Threads that agree on a value by shuffles.
  static constexpr int64_t kWarp = 32;
  static constexpr int64_t kMaxThreads = 256;
  /// Shared memory that a block may have on any device without asking for more,
  /// less what reductions use.
  static constexpr int64_t kSharedBytes = 47 * 1024;

  std::vector<Launch> launches;

  /// Is the answer sound for `graph`: every root in one launch, after what it
  /// reads; grids that a device takes and that have a thread for everything;
  /// shared memory that a block has.
  llvm::Error verify(const KernelGraph &graph) const;
};

/// What decides about launches beside the kernel.
struct LaunchOptions {
  /// Which products are for a library.
  ProductMaker maker = ProductMaker::generated;
  /// Whether every sum adds its terms in their order.
  bool keepsOrder = false;
};

/// Divides the loops of `plan` among threads. Groups without elements have no
/// launch. A group of few and long rows is divided into one for each stage, and one
/// of tiles where a library makes the first stage alone.
LaunchPlan planLaunches(const KernelGraph &graph, const LoopPlan &plan,
                        const LaunchOptions &options = {});

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_LAUNCHPLAN_H
