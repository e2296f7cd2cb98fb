#ifndef DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H
#define DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc::nn {

/// A tile of a matrix product that is summed in registers. Element (r, lane) is the
/// sum over the points of a loop nest of a scalar, read relative to `rows[r]`,
/// times that lane of a vector, read relative to `panel`.
struct RegisterTile {
  /// One loop of the nest: its steps to the next scalar and to the next vector, in
  /// elements.
  struct Loop {
    int64_t extent, scalarStep, vectorStep;
  };

  llvm::ArrayRef<mlir::Value> rows;   // addresses
  mlir::Value panel;                  // address
  llvm::SmallVector<int64_t> vectors; // their offsets from `panel`
  llvm::SmallVector<Loop> loops;      // outermost first
  /// Number of lanes of the last vector that exist in memory; 0: all lanes.
  int64_t lastLanes = 0;
  /// Scalars and lanes are pairs of bf16 (VectorCode::multiplyAddPairs).
  bool isOfPairs = false;
  /// Adds code to each iteration of a long innermost loop, such as a prefetch.
  llvm::function_ref<void(LoopEmitter::Index iteration, int64_t count)> eachIteration = nullptr;

  /// Adds the products to `sums`, which are in the order of rows.
  VectorCode::Values emit(VectorCode &code, VectorCode::Values sums) const;
  /// Stores the tile at `results`, one address per row with consecutive vectors.
  /// With `adds`, adds it to the elements there.
  void emitTo(VectorCode &code, llvm::ArrayRef<mlir::Value> results, bool adds) const;

  /// Offsets of `count` consecutive vectors.
  static llvm::SmallVector<int64_t> sideBySide(const VectorCode &code, int64_t count) {
    llvm::SmallVector<int64_t> offsets;
    for (int64_t v = 0; v < count; ++v)
      offsets.push_back(v * code.lanes);
    return offsets;
  }
  /// The number of rows for which accumulators and operands fill the registers: 32
  /// registers with 64-byte vectors, else 16. rowsFor is for rows with separate
  /// addresses, packedRowsFor for rows that are packed side by side.
  static int64_t rowsFor(const VectorFormat &format) { return format.vectorBytes == 64 ? 8 : 6; }
  static int64_t packedRowsFor(const VectorFormat &format, int64_t vectors) {
    return vectors == 1 ? 12 : format.vectorBytes == 64 ? 14 : 6;
  }

private:
  /// `sums` plus the products at one point of the loop nest. The point is at
  /// constant distances from `scalars` and `vectorBase`, addresses that a loop has
  /// advanced.
  VectorCode::Values addPoint(VectorCode &code, llvm::ArrayRef<mlir::Value> scalars,
                              mlir::Value vectorBase, int64_t scalarConstant,
                              int64_t vectorConstant, VectorCode::Values sums) const;
};

/// Removes loops of one iteration, and joins neighbours that are equivalent to one
/// loop.
llvm::SmallVector<RegisterTile::Loop> simplify(llvm::ArrayRef<RegisterTile::Loop> loops);

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H
