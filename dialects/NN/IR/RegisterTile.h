#ifndef DPC_DIALECTS_NN_IR_REGISTERTILE_H
#define DPC_DIALECTS_NN_IR_REGISTERTILE_H

#include "dialects/NN/IR/VectorCode.h"

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

  /// Adds to `sums`, row by row.
  VectorCode::Values emit(VectorCode &code, VectorCode::Values sums) const;

  /// Offsets of `count` vectors side by side.
  static llvm::SmallVector<int64_t> sideBySide(const VectorCode &code,
                                               int64_t count) {
    llvm::SmallVector<int64_t> offsets;
    for (int64_t v = 0; v < count; ++v)
      offsets.push_back(v * code.lanes);
    return offsets;
  }
  /// Rows for which accumulators and operands fill the registers: 32 with
  /// 64-byte vectors, else 16.
  static int64_t rowsFor(const VectorCode &code) {
    return code.e.vectorBytes == 64 ? 8 : 6;
  }
};

/// Rows cut into tiles of two heights that differ by one: no short last tile.
struct TileRows {
  int64_t tall, low, height; // number of tall and low tiles, height of a low

  TileRows(int64_t rows, int64_t most);
  int64_t count() const { return tall + low; }
  /// `body(tile, first row, rows)`: the tall ones in a loop, then the low ones.
  void forEach(LoopEmitter &e,
               llvm::function_ref<void(LoopEmitter::Index tile,
                                       LoopEmitter::Index first, int64_t rows)>
                   body) const;
};

/// Loops without those of one round; neighbours that are one loop, joined.
llvm::SmallVector<RegisterTile::Loop>
simplify(llvm::ArrayRef<RegisterTile::Loop> loops);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_REGISTERTILE_H
