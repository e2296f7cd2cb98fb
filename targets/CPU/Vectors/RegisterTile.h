#ifndef DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H
#define DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc::nn {

/// A tile of a matrix product that is summed in registers. Element (r, lane)
/// is the sum over the points of a loop nest of a scalar after `rows[r]` times
/// the lane of a vector after `panel`.
struct RegisterTile {
  /// One loop of the nest: elements to the next scalar and to the next vector.
  struct Loop {
    int64_t extent, scalarStep, vectorStep;
  };

  llvm::ArrayRef<mlir::Value> rows;   // addresses
  mlir::Value panel;                  // address
  llvm::SmallVector<int64_t> vectors; // where they lie after it
  llvm::SmallVector<Loop> loops;      // outermost first
  /// Lanes of the last vector that exist in memory; 0: all of them.
  int64_t lastLanes = 0;
  /// Scalars and lanes are pairs of bf16 (VectorCode::multiplyAddPairs).
  bool isOfPairs = false;
  /// Adds code to each iteration of a long innermost loop, such as a prefetch.
  llvm::function_ref<void(LoopEmitter::Index iteration, int64_t count)> eachIteration = nullptr;

  /// Adds to `sums`, row by row.
  VectorCode::Values emit(VectorCode &code, VectorCode::Values sums) const;
  /// Stores the tile at `results`, an address a row with vectors side by side,
  /// or with `adds` adds it to what is there.
  void emitTo(VectorCode &code, llvm::ArrayRef<mlir::Value> results, bool adds) const;

  /// Offsets of `count` vectors side by side.
  static llvm::SmallVector<int64_t> sideBySide(const VectorCode &code, int64_t count) {
    llvm::SmallVector<int64_t> offsets;
    for (int64_t v = 0; v < count; ++v)
      offsets.push_back(v * code.lanes);
    return offsets;
  }
  /// Rows for which accumulators and operands fill the registers, 32 with
  /// 64-byte vectors, else 16: when each row has an address of its own, and
  /// when rows are packed side by side.
  static int64_t rowsFor(const VectorCode &code) { return code.e.vectorBytes == 64 ? 8 : 6; }
  static int64_t packedRowsFor(const VectorCode &code, int64_t vectors) {
    return vectors == 1 ? 12 : code.e.vectorBytes == 64 ? 14 : 6;
  }

private:
  /// `sums` with one point of the loop nest added: that at constant distances
  /// from scalars and vectors whose addresses a loop has moved.
  VectorCode::Values addPoint(VectorCode &code, llvm::ArrayRef<mlir::Value> scalars,
                              mlir::Value vectorBase, int64_t scalarConstant,
                              int64_t vectorConstant, VectorCode::Values sums) const;
};

/// Loops without those of one iteration; neighbours that are one loop, joined.
llvm::SmallVector<RegisterTile::Loop> simplify(llvm::ArrayRef<RegisterTile::Loop> loops);

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H
