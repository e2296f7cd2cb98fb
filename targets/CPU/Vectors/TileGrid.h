#ifndef DPC_TARGETS_CPU_VECTORS_TILEGRID_H
#define DPC_TARGETS_CPU_VECTORS_TILEGRID_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc::nn {

/// Calls `body(first, count)` for complete blocks in a loop, then for the
/// remainder.
void inBlocks(VectorEmitter &e, int64_t extent, int64_t size,
              llvm::function_ref<void(LoopEmitter::Index, int64_t)> body);

/// Splits rows into tiles of two heights that differ by one, so that no last tile
/// is short.
struct TileRows {
  int64_t tall, low, height; // number of tall and of low tiles, height of a low tile

  TileRows(int64_t rows, int64_t most);
  int64_t count() const { return tall + low; }
  /// Number of heights that occur.
  int64_t countKinds() const { return (tall > 0) + (low > 0); }
  /// Calls `body(tile, first row, rows)` for the tall tiles in a loop, then for the
  /// low ones.
  void
  forEach(VectorEmitter &e,
          llvm::function_ref<void(LoopEmitter::Index tile, LoopEmitter::Index first, int64_t rows)>
              body) const;
};

/// Splits columns into panels of one or two vectors.
struct Panels {
  int64_t width, whole, rest, lanes;

  Panels(const VectorFormat &format, int64_t columns);
  /// The number of columns, rounded up to complete vectors.
  int64_t lanesTotal() const;
  /// Number of widths that occur.
  int64_t countKinds() const { return (whole > 0) + (rest > 0); }
  void forEach(VectorEmitter &e,
               llvm::function_ref<void(LoopEmitter::Index panel, int64_t columns, int64_t vectors)>
                   body) const;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_VECTORS_TILEGRID_H
