#ifndef DPC_TARGETS_CPU_VECTORS_TILEGRID_H
#define DPC_TARGETS_CPU_VECTORS_TILEGRID_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc {

/// Divides [0, extent) into blocks of `size`. Calls `body(first, count)` for the
/// complete blocks in a loop, then for the remainder if there is one.
void inBlocks(VectorEmitter &e, int64_t extent, int64_t size,
              llvm::function_ref<void(LoopEmitter::Index, int64_t)> body);

/// Splits rows into tiles whose heights differ by at most one, so that no tile is
/// much shorter than the others. For example, 13 rows in tiles of at most 6 rows
/// give one tile of 5 rows and two of 4 rows.
struct TileRows {
  int64_t tall, low, height; // the numbers of tall and of low tiles, the height of a low tile

  TileRows(int64_t rows, int64_t most);
  int64_t count() const { return tall + low; }
  /// The number of different heights of tiles.
  int64_t countKinds() const { return (tall > 0) + (low > 0); }
  /// Calls `body(tile, first row, rows)` for the tall tiles in a loop, then for the
  /// low tiles in a loop.
  void
  forEach(VectorEmitter &e,
          llvm::function_ref<void(LoopEmitter::Index tile, LoopEmitter::Index first, int64_t rows)>
              body) const;
};

/// Splits columns into panels of one or two vectors.
struct Panels {
  int64_t width, whole, rest, lanes;

  Panels(const VectorFormat &format, int64_t columns);
  /// The number of columns, rounded up to a multiple of the lanes of a vector.
  int64_t lanesTotal() const;
  /// The number of different widths of panels.
  int64_t countKinds() const { return (whole > 0) + (rest > 0); }
  void forEach(VectorEmitter &e,
               llvm::function_ref<void(LoopEmitter::Index panel, int64_t columns, int64_t vectors)>
                   body) const;
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_TILEGRID_H
