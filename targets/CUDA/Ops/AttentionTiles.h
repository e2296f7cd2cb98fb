#ifndef DPC_TARGETS_CUDA_OPS_ATTENTIONTILES_H
#define DPC_TARGETS_CUDA_OPS_ATTENTIONTILES_H

#include "dialects/NN/IR/AttentionShape.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Ops/TileShape.h"

#include <optional>

namespace dpc {

/// The sizes of the tiles of an attention whose scores stay in registers (AttentionWarps).
/// A block has 64 rows of its own, 16 for each warp, and loops over tiles of the
/// others: a block with queries loops over keys, and a block with keys loops over
/// queries.
struct AttentionTiles {
  /// What a launch computes.
  enum class Work {
    result,    ///< rows of the result; own rows are queries
    queryGrad, ///< rows of dq; own rows are queries
    keyGrads   ///< rows of dk and dv; own rows are keys
  };

  static constexpr int64_t kWarps = 4, kThreads = kWarps * LaunchPlan::kWarp;
  static constexpr int64_t kRows = 64;
  static constexpr int64_t kStages = 2;

  Work work = Work::result;
  TileUnit unit = TileUnit::halves;
  int64_t bytes = 2; // of an element of a factor
  /// The lengths of the rows of q and k, and of the rows of v, rounded up to complete matrices.
  int64_t depth = 0, valueDepth = 0;
  /// The number of other rows in a tile.
  int64_t others = 0;
  /// The number of columns of results that a block computes. Several blocks share longer rows.
  int64_t columns = 0;
  /// How many of the operands with own rows stay in shared memory. The fragments of the others stay
  /// in registers.
  int64_t kept = 0;
  /// The blocks for which a multiprocessor has registers: three or two.
  int64_t residentBlocks = 3;
  /// Whether the last tiles are incomplete, so that pieces of slices may not be there.
  bool isUneven = false;

  /// The tiles for a launch. There are none if no unit multiplies factors of this type, or if rows
  /// are too long. It chooses the fewest columns of blocks, then the most resident blocks, then the
  /// largest tiles. Split factors need so many registers that two resident blocks with larger tiles
  /// execute fewer instructions than three.
  static std::optional<AttentionTiles> of(const nn::AttentionShape &shape, mlir::Type factor,
                                          Work work, const GridOptions &options);

  /// The number of columns of blocks.
  int64_t countColumns() const;
  TileGrid getGrid(const nn::AttentionShape &shape) const;

  /// The operands with own rows: q, or k and v, or q and the gradient of the result. The lengths of
  /// their rows.
  llvm::SmallVector<int64_t> getOwnDepths() const;
  /// The lengths of the lines of the slices with other rows.
  llvm::SmallVector<int64_t> getOtherDepths() const;
  /// The bytes of shared memory: of own operands that stay there, of the stages of other rows, and
  /// of numbers per query. Own operands that do not stay there use the memory of the stages.
  int64_t getKeptBytes() const;
  int64_t getNumberBytes() const;
  int64_t getStageBytes() const;
  int64_t getSharedBytes() const;
  /// About the registers that a thread needs, and those that it may have.
  int64_t countRegisters() const;
  int64_t getMostRegisters() const { return residentBlocks == 2 ? 255 : 168; }

  /// Checks that tiles consist of complete matrices, and that a block has enough registers and
  /// shared memory.
  llvm::Error verify() const;

private:
  int64_t getLongestResult() const;
  int64_t bytesOf(int64_t lines, int64_t elements) const;
  int64_t getOwnBytes(int64_t first, int64_t last) const;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_ATTENTIONTILES_H
