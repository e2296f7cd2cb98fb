// Splits the rows and columns of a product into register tiles.

#include "targets/CPU/Vectors/TileGrid.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

void dpc::inBlocks(VectorEmitter &e, int64_t extent, int64_t size,
                   function_ref<void(Index, int64_t)> body) {
  int64_t whole = extent / size;
  e.sequence(whole, [&](Index i) { body(i * size, size); });
  if (extent % size)
    body(e.constant(whole * size), extent % size);
}

TileRows::TileRows(int64_t rows, int64_t most) {
  int64_t tiles = llvm::divideCeil(rows, most);
  height = rows / tiles;
  tall = rows % tiles;
  low = tiles - tall;
}

void TileRows::forEach(VectorEmitter &e, function_ref<void(Index, Index, int64_t)> body) const {
  e.sequence(tall, [&](Index i) { body(i, i * (height + 1), height + 1); });
  e.sequence(low, [&](Index i) { body(i + tall, i * height + tall * (height + 1), height); });
}

Panels::Panels(const VectorFormat &format, int64_t columns) : lanes(format.lanes) {
  width = columns <= lanes ? lanes : 2 * lanes;
  whole = columns / width;
  rest = columns % width;
}

int64_t Panels::lanesTotal() const { return whole * width + llvm::alignTo(rest, lanes); }

void Panels::forEach(VectorEmitter &e, function_ref<void(Index, int64_t, int64_t)> body) const {
  e.sequence(whole, [&](Index i) { body(i, width, width / lanes); });
  if (rest)
    body(e.constant(whole), rest, llvm::divideCeil(rest, lanes));
}
