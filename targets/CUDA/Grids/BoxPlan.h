#ifndef DPC_TARGETS_CUDA_GRIDS_BOXPLAN_H
#define DPC_TARGETS_CUDA_GRIDS_BOXPLAN_H

#include "dialects/NN/IR/Shape.h"
#include "targets/Loops/Kernels/LoopPlan.h"

#include <optional>

namespace dpc {

/// How a launch computes values that are transposed, so that it reads and writes memory in wide
/// accesses to neighbours. The loops of a nest are divided into boxes, one per block. The block
/// first reads the elements of a box in the order of the operand, and keeps them in shared memory.
/// Then it computes and stores the results in their own order. The first step computes the
/// elementwise ops before the transposition, and the second step those after it.
struct BoxPlan {
  /// The bytes of the lines of memory, which a warp should access completely.
  static constexpr int64_t kLine = 128;
  /// The most neighbours that one thread computes.
  static constexpr int64_t kMostNeighbours = 8;
  /// A box has at most so many elements, unless full lines need more. Nests with fewer than
  /// kFewElements have no boxes.
  static constexpr int64_t kManyElements = 2048, kFewElements = 256;
  /// The most threads of a block, and the shared memory that a block may use.
  static constexpr int64_t kMostThreads = 256, kSharedBytes = 47 * 1024;

  /// An order in which the threads of a block go through a box. Each thread takes pieces of
  /// `lanes` neighbours.
  struct Sweep {
    /// The loops, from the outermost to the innermost one.
    llvm::SmallVector<unsigned> order;
    /// The number of outer loops. All other loops together are the run: the elements of a box along
    /// these loops are neighbours in memory. A box has all iterations of each loop of the run but
    /// the first.
    unsigned outer = 0;
    int64_t lanes = 1;
  };

  /// A transposed value that blocks keep in shared memory, in slots of `slotBytes`.
  struct Gathered {
    nn::TransposeOp op;
    /// Per loop: the distance of neighbours in the operand of `op`, in elements.
    llvm::SmallVector<int64_t> strides;
    Sweep sweep;
    int64_t slotBytes = 4;
    /// Per loop: the distance of neighbours. Distances and sizes are in slots, and after every
    /// `period` of them `skew` slots are left out, so that threads which access distant elements
    /// meet in few banks.
    llvm::SmallVector<int64_t> steps;
    int64_t period = 1, skew = 0;

    /// The slot of the element at `at`, a position in the box.
    int64_t slotOf(llvm::ArrayRef<int64_t> at) const;
  };

  /// The extents of the nest, and those of a box.
  llvm::SmallVector<int64_t> extents, box;
  /// The order in which results are stored.
  Sweep stores;
  llvm::SmallVector<Gathered, 1> gathered;

  /// The number of boxes along each loop.
  llvm::SmallVector<int64_t> getCounts() const;
  int64_t countBlocks() const { return mlir::ShapedType::getNumElements(getCounts()); }
  int64_t countThreads() const;
  int64_t countPieces(const Sweep &sweep) const {
    return mlir::ShapedType::getNumElements(box) / sweep.lanes;
  }
  /// The number of elements of the run in a box, and in the complete nest.
  int64_t getRun(const Sweep &sweep) const;
  int64_t getWholeRun(const Sweep &sweep) const;
  /// The bytes of shared memory that a block needs for `value`, and for all values.
  int64_t getBytes(const Gathered &value) const;
  int64_t getSharedBytes() const;
  /// The position in a box of element `n` of piece `piece`.
  llvm::SmallVector<int64_t> locate(const Sweep &sweep, int64_t piece, int64_t n) const;
  /// The passes through shared memory that the first warps of a block need for their accesses, and
  /// the fewest that these accesses need in any placement.
  std::pair<int64_t, int64_t> countWavefronts() const;

  /// Checks the plan for the results of `stage`: boxes fill the nest, the pieces of a sweep are
  /// neighbours, and each element of a box has a slot of its own.
  llvm::Error verify(const LoopGroup::Stage &stage) const;
};

/// Plans the boxes of `stage`, whose loops are in no loop over rows. Null if it transposes nothing,
/// or if its innermost loop reads and writes neighbours anyway.
std::optional<BoxPlan> planBoxes(const KernelGraph &graph, const LoopGroup::Stage &stage);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_BOXPLAN_H
