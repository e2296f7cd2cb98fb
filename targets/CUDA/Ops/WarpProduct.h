#ifndef DPC_TARGETS_CUDA_OPS_WARPPRODUCT_H
#define DPC_TARGETS_CUDA_OPS_WARPPRODUCT_H

#include "targets/CUDA/Ops/MatrixUnit.h"
#include "targets/CUDA/Ops/SliceElements.h"

namespace dpc {

/// Products A B that a warp sums in registers, with 16 rows of A. The fragments of A are in
/// registers, and a slice in shared memory has B. The sums of a product can become the factor A of
/// another one without leaving the lanes that have them, because the order of the depth is free: a
/// lane holds sums of the columns that it needs as elements along the depth.
class WarpProduct : public SliceElements {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;
  /// The fragments of A, one for each step along the depth.
  using Fragments = llvm::SmallVector<Values>;

  static constexpr int64_t kRows = 16;
  /// The extents of slices and the lengths of their lines are multiples of this number.
  static constexpr int64_t kAlignment = 16;

  /// `unit` is TileUnit::halves, TileUnit::tf32 or TileUnit::tf32x3. `thread` is the number of the
  /// thread.
  WarpProduct(GridEmitter &emitter, TileUnit unit, mlir::Type factor, Index thread);

  /// A slice with `lines` lines of `elements` elements.
  SliceLayout layoutOf(int64_t lines, int64_t elements) const;
  mlir::Type getSliceType() const override { return factor; }
  mlir::Value prepare(mlir::Value element) const override { return round(element); }
  bool holdsFactors() const override { return true; }
  bool roundsCopies() const override { return unit == TileUnit::tf32; }
  mlir::Value round(mlir::Value element) const override;

  /// Where a lane loads from a slice: the address of its part of the first matrices.
  struct Source {
    const Slice &slice;
    Slice::Address address;
  };
  /// The sources of lines as rows of A, from `firstRow` on; of lines as columns of B; and of
  /// lines as the depth of B, which has `columns` columns: the elements from `firstColumn` on.
  Source rowsOf(const Slice &slice, Index firstRow) const;
  Source columnsOf(const Slice &slice) const;
  Source depthOf(const Slice &slice, Index firstColumn, int64_t columns) const;

  /// The fragment of A in step number `step` along the depth.
  Values loadRows(const Source &rows, int64_t step) const;
  /// The fragments of all elements of lines.
  Fragments loadRows(const Source &rows) const;
  int64_t countSteps(const Slice &slice) const { return slice.layout.depth / matrix.depth; }

  /// The number of sums of a lane for a product with `columns` columns.
  static int64_t countSums(int64_t columns) { return columns * kRows / LaunchPlan::kWarp; }
  Values getZeros(int64_t columns) const;
  /// Adds a product to `sums`. The lines of the slice are columns of B, or its depth.
  /// `fragmentOf` returns the fragment of A in a step.
  Values addColumns(llvm::function_ref<Values(int64_t step)> fragmentOf, const Source &columns,
                    mlir::Value stage, mlir::ValueRange sums) const;
  Values addDepth(const Fragments &a, const Source &depth, mlir::Value stage,
                  mlir::ValueRange sums) const;

  /// Sums of addColumns as the factor A of addDepth. They are rounded to the type of factors,
  /// unless that is f32.
  Fragments toFactor(mlir::ValueRange sums) const;

  /// The places of sums. Sum number n of a lane is in row `rowOf(n)` of two rows that a lane has,
  /// which are `getRow(0)` and `getRow(1)`.
  static int64_t rowOf(int64_t number) { return number / 2 % 2; }
  Index getRow(int64_t number) const { return matrix.quad(thread) + number * 8; }
  /// The column of a sum of addColumns.
  Index columnOf(int64_t number) const {
    return number / 4 * 8 + matrix.inQuad(thread) * 2 + number % 2;
  }
  /// Emits `body` for pieces of sums of addDepth that are neighbours in a row: the row (0 or 1),
  /// the column of the first one, and the sums. There are `columns` columns.
  void
  forEachPiece(int64_t columns, mlir::ValueRange sums,
               llvm::function_ref<void(int64_t row, Index column, mlir::ValueRange)> body) const;

private:
  /// The columns that a lane loads as a vector by addDepth if the factors are f32, or 1.
  int64_t neighboursOf(int64_t columns) const;
  int64_t chunk() const { return SliceLayout::kChunk / (factor.getIntOrFloatBitWidth() / 8); }
  Slice::Address addressOf(const Slice &slice, Index line, Index inLine) const {
    return slice.addressOf(inLine, line);
  }
  /// The factors in a fragment. Slices of tf32 have factors already.
  Values toFactors(mlir::ValueRange fragment) const;
  void multiplyInto(llvm::MutableArrayRef<mlir::Value> sums, int64_t column, mlir::ValueRange left,
                    mlir::ValueRange right, bool isShort = false) const;

  GridEmitter &e;
  const TileUnit unit;
  const mlir::Type factor;
  const MatrixUnit matrix;
  const Index thread;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_WARPPRODUCT_H
