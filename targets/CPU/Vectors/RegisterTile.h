#ifndef DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H
#define DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc {

/// A tile of a matrix product that is summed in registers. Element (r, lane) is a
/// sum over the points of a loop nest. Each term is a scalar at an offset from
/// `rows[r]`, times a lane of a vector at an offset from `panel`.
struct RegisterTile {
  /// One loop of the nest: its number of iterations, and the distances in elements
  /// from one iteration to the next, of the scalars and of the vectors.
  struct Loop {
    int64_t extent, scalarStep, vectorStep;
  };

  llvm::ArrayRef<mlir::Value> rows;   // the address of the scalars of each row
  mlir::Value panel;                  // the address of the vectors
  llvm::SmallVector<int64_t> vectors; // their offsets from `panel`
  llvm::SmallVector<Loop> loops;      // outermost first
  /// The number of lanes of the last vector that are in memory. 0 means all lanes.
  int64_t lastLanes = 0;
  /// Whether scalars and lanes are pairs of bf16 (VectorCode::multiplyAddPairs).
  bool isOfPairs = false;
  /// If set, adds code to each iteration of a long innermost loop, e.g. a prefetch.
  /// `count` is the number of iterations.
  llvm::function_ref<void(LoopEmitter::Index iteration, int64_t count)> eachIteration = nullptr;

  /// Emits code that adds the products to `sums`, and returns the new sums. `sums`
  /// has the vectors of row 0, then those of row 1, and so on.
  VectorCode::Values emit(VectorCode &code, VectorCode::Values sums) const;
  /// Emits the tile and stores it. `results` has one address per row; the vectors
  /// of a row are consecutive. If `adds` is set, adds the tile to the elements at
  /// these addresses.
  void emitTo(VectorCode &code, llvm::ArrayRef<mlir::Value> results, bool adds) const;

  /// The offsets of `count` consecutive vectors.
  static llvm::SmallVector<int64_t> sideBySide(const VectorCode &code, int64_t count) {
    llvm::SmallVector<int64_t> offsets;
    for (int64_t v = 0; v < count; ++v)
      offsets.push_back(v * code.lanes);
    return offsets;
  }
  /// The number of rows of a tile whose sums and operands fit the registers. The
  /// processor has 32 registers if vectors have 64 bytes, otherwise 16. rowsFor is
  /// for rows with separate addresses, and packedRowsFor is for rows that are
  /// packed next to each other.
  static int64_t rowsFor(const VectorFormat &format) { return format.vectorBytes == 64 ? 8 : 6; }
  static int64_t packedRowsFor(const VectorFormat &format, int64_t vectors) {
    return vectors == 1 ? 12 : format.vectorBytes == 64 ? 14 : 6;
  }

private:
  /// Adds the products at one point of the loop nest to `sums`. The operands are at
  /// constant offsets from the addresses `scalars` and `vectorBase`, which the
  /// enclosing loops have computed.
  VectorCode::Values addPoint(VectorCode &code, llvm::ArrayRef<mlir::Value> scalars,
                              mlir::Value vectorBase, int64_t scalarConstant,
                              int64_t vectorConstant, VectorCode::Values sums) const;
};

/// Removes loops with one iteration, and joins neighbouring loops that are
/// equivalent to one loop.
llvm::SmallVector<RegisterTile::Loop> simplify(llvm::ArrayRef<RegisterTile::Loop> loops);

} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_REGISTERTILE_H
