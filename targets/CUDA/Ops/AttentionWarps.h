#ifndef DPC_TARGETS_CUDA_OPS_ATTENTIONWARPS_H
#define DPC_TARGETS_CUDA_OPS_ATTENTIONWARPS_H

#include "dialects/NN/IR/Attention.h"
#include "targets/CUDA/Ops/AttentionOperands.h"
#include "targets/CUDA/Ops/AttentionTiles.h"
#include "targets/CUDA/Ops/WarpProduct.h"

namespace dpc {

/// The work of one block, for kernels of attention and of its gradient whose scores stay in
/// registers. A warp has 16 own rows, and all scores of these rows with a tile of other
/// rows (AttentionTiles). Two stages of slices hold other rows of two operands: while
/// threads multiply a tile, they copy the next one. Source: Dao, "FlashAttention-2: Faster
/// Attention with Better Parallelism and Work Partitioning", 2023.
class AttentionWarps : public AttentionOperands {
public:
  AttentionWarps(GridEmitter &emitter, const nn::AttentionShape &shape, mlir::Type factorType,
                 const AttentionTiles &tiles, mlir::Value mask,
                 llvm::ArrayRef<int64_t> maskDimensions, double scale);

  /// Emits `body` for the own rows and the columns of results of this block. Sets `batch` and
  /// `thread`.
  void forEachBlock(llvm::function_ref<void(Index firstRow, Index columnTile)> body);

  /// Loads the own rows of the operands in AttentionTiles::getOwnDepths. All threads of the block
  /// must run this code.
  void loadOwn(mlir::ValueRange operands, Index firstRow);
  /// Adds the products of own rows of operand number `own` and other rows of operand number
  /// `other` in a stage.
  Values multiply(int64_t own, int64_t other, mlir::Value stage) const;
  /// Adds the product of `weights`, one for each own row and other row, and the other rows of
  /// operand number `other`. The result has `columns` columns, which are those from
  /// `firstColumn` on.
  Values addWeighted(mlir::ValueRange weights, int64_t other, Index firstColumn, int64_t columns,
                     mlir::Value stage, mlir::ValueRange sums) const;

  /// What a loop over tiles of other rows does.
  struct Loop {
    /// The operands with other rows, and the first element of each that slices hold.
    mlir::Value operands[2];
    Index firstElements[2];
    /// Emits code for a tile whose rows of the first operand, or of both, are in the slices of a
    /// stage. `addSecond` may use values of `addFirst`.
    std::function<void(Index firstRow, mlir::Value stage, mlir::ValueRange)> addFirst;
    std::function<Values(Index firstRow, mlir::Value stage, mlir::ValueRange)> addSecond;
    /// Loads numbers of the rows of a tile, and stores them in a stage. May be null.
    std::function<void(Index firstRow, mlir::Value isNeeded)> begin;
    std::function<void(mlir::Value stage)> end;
  };
  /// Emits a loop over the tiles of other rows that the own rows from `firstRow` on see. Tiles of
  /// which all own rows see all rows have a loop of their own, without comparisons of positions.
  Values loop(const Loop &work, Index firstRow, mlir::ValueRange before);

  /// The own row of the sums with WarpProduct::rowOf(n) = `number`, which is 0 or 1.
  Index ownRow(Index firstRow, int64_t number) const;
  /// Whether this thread stores what its quad has in common.
  mlir::Value isFirstOfQuad() { return e.inRange(e.mod(thread, 4), 0, 1); }
  /// Combines the numbers that the lanes of a quad have for a row.
  mlir::Value combineQuad(mlir::Value mine,
                          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine) {
    return e.combineLanes(mine, 4, combine);
  }
  /// Stores sums of addWeighted as rows of `result`, which has rows of `elements` elements.
  /// `finish` computes an element from a sum, and `row` is 0 or 1. Lanes exchange elements so
  /// that each stores 16 bytes, if the rows have such pieces.
  void store(mlir::Value result, Index firstRow, Index firstColumn, int64_t elements,
             mlir::ValueRange sums,
             llvm::function_ref<mlir::Value(int64_t row, mlir::Value sum)> finish);
  /// The row or column number `index` of `count` if it is there.
  Index known(Index index, int64_t count) {
    return e.isInRange(index, 0, count) ? index : bound(index, count);
  }

  /// A score as an exponent: e^score = 2^(unit * exponent). The exponent is -infinity where the
  /// query does not see the key. Code need not use the exponents of rows that are not there.
  mlir::Value exponentOf(mlir::Value product, Index query, Index key);
  double getUnit() const;
  /// The form in which `power` subtracts an exponent, or the logarithm of a sum.
  mlir::Value baseOf(mlir::Value exponent);
  mlir::Value baseOfLogarithm(mlir::Value logarithm);
  /// 2^(unit * (exponent - base)).
  mlir::Value power(mlir::Value exponent, mlir::Value base);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value subtract(mlir::Value x, mlir::Value y);
  mlir::Value times(mlir::Value x, mlir::Value y);
  mlir::Value largest(mlir::Value x, mlir::Value y);
  mlir::Value inverse(mlir::Value x);

  const AttentionTiles tiles;
  Index thread;
  /// Shared memory with numbers of the other rows, for AttentionTiles::Work::keyGrads: a line for
  /// each number.
  std::optional<Slice> numbers;
  std::optional<WarpProduct> products;

private:
  int64_t countOwn() const { return isKeyWork() ? shape.keys : shape.queries; }
  int64_t countOthers() const { return isKeyWork() ? shape.queries : shape.keys; }
  bool isKeyWork() const { return tiles.work == AttentionTiles::Work::keyGrads; }
  /// Whether products themselves are exponents.
  bool hasPlainExponents() const { return !mask && scale > 0; }
  int64_t lengthOf(mlir::Value operand) const;
  SliceFill fillOf(const Loop &work, int64_t number, Index firstRow);
  /// The tiles of a loop, in order: the tiles [first, middle), then the tiles [middle, end). If
  /// `middle` is null, there is one part.
  struct Range {
    mlir::Value first, middle, end;
    /// Whether own rows see all rows of the tiles before `middle`, or of those after it.
    bool isFirstWhole;
  };
  Range rangeOf(Index firstRow);

  /// Whether own rows see all rows of the current tile.
  bool isWhole = false;

  llvm::SmallVector<Slice> own, others;
  llvm::SmallVector<WarpProduct::Source> ownSources;
  llvm::SmallVector<WarpProduct::Fragments> ownFragments;
};

/// Emit the kernels of ops that have tiles.
void emitWarpAttention(GridEmitter &emitter, nn::AttentionOp op, const AttentionTiles &tiles);
void emitWarpQueryGrads(GridEmitter &emitter, nn::AttentionGradOp op, const AttentionTiles &tiles);
void emitWarpKeyGrads(GridEmitter &emitter, nn::AttentionGradOp op, const AttentionTiles &tiles);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_ATTENTIONWARPS_H
