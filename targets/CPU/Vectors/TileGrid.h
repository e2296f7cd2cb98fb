#ifndef DPC_TARGETS_CPU_VECTORS_TILEGRID_H
#define DPC_TARGETS_CPU_VECTORS_TILEGRID_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc::nn {

/// `body(first, count)` for whole blocks in a loop, then for the rest.
void inBlocks(VectorEmitter &e, int64_t extent, int64_t size,
              llvm::function_ref<void(LoopEmitter::Index, int64_t)> body);

/// Rows cut into tiles of two heights that differ by one: no short last tile.
struct TileRows {
  int64_t tall, low, height; // number of tall and low tiles, height of a low

  TileRows(int64_t rows, int64_t most);
  int64_t count() const { return tall + low; }
  /// `body(tile, first row, rows)`: the tall ones in a loop, then the low ones.
  void
  forEach(VectorEmitter &e,
          llvm::function_ref<void(LoopEmitter::Index tile, LoopEmitter::Index first, int64_t rows)>
              body) const;
};

/// Columns in panels of one or two vectors.
struct Panels {
  int64_t width, whole, rest, lanes;

  Panels(const VectorCode &code, int64_t columns);
  /// Columns with those that fill the last vector.
  int64_t lanesTotal() const;
  void forEach(VectorEmitter &e,
               llvm::function_ref<void(LoopEmitter::Index panel, int64_t columns, int64_t vectors)>
                   body) const;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_VECTORS_TILEGRID_H
