// Chooses the block sizes of matrix products (Goto and van de Geijn, 2008).

#include "targets/CPU/Ops/ProductBlocks.h"

#include "dialects/NN/IR/SumTypes.h"
#include "targets/CPU/Vectors/MatrixPacking.h"
#include "targets/CPU/Vectors/RegisterTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

/// The depth of a block. If `depth` is at most `most`, there is one block. If `depth` is
/// larger, each block has as its depth the largest divisor of `depth` in [most / 2, most].
/// If there is no such divisor, blocks have about equal depths of at most `most`.
static int64_t blockDepth(int64_t depth, int64_t most) {
  if (depth <= most)
    return depth;
  for (int64_t block = most; block >= most / 2; --block)
    if (depth % block == 0)
      return block;
  int64_t blocks = llvm::divideCeil(depth, most);
  return llvm::alignTo(llvm::divideCeil(depth, blocks), 8);
}

ProductBlocks::ProductBlocks(const ProductShape &product, const VectorUnit &unit)
    : format(unit.vectorBytes, accumulatorType(product.factorType)),
      inPairs(unit.multipliesPairsOf(product.factorType)),
      isNarrowed(product.resultType != format.elementType),
      points(MatrixPacker::countPoints(product.depth, inPairs)), panels(format, product.columns),
      allRows(product.rows), columns(product.columns), isStored(product.isStored) {
  bool isWide = format.vectorBytes == 64;
  int64_t vectors = panels.width / format.lanes,
          mostRows = RegisterTile::packedRowsFor(format, vectors);
  // A panel of B must stay in the first-level cache while its tiles are computed.
  // A deeper panel, which only fits the second-level cache, is better if C is narrower
  // than the sums: several blocks of less depth would store and load the sums in scratch
  // memory.
  int64_t deepest = vectors == 1 ? 768 : 384;
  if (isNarrowed && points <= 2 * deepest)
    deepest = points;
  depth = blockDepth(points, deepest);
  // A block of A must stay in the second-level cache, together with all of B if B
  // is small. A larger B is packed panel by panel, and again for each block of A.
  int64_t bytesOfB = llvm::alignTo(product.columns, panels.width) * depth * format.bytes;
  bool isSmall = bytesOfB <= (isWide ? 1024 : 256) << 10;
  int64_t cache = (isWide ? (isSmall ? 512 : 1024) : 224) << 10;
  int64_t most = std::max(mostRows, cache / (depth * format.bytes));
  int64_t blocks = llvm::divideCeil(product.rows, most);
  rows = llvm::divideCeil(product.rows, blocks);
  tileRows = llvm::divideCeil(rows, llvm::divideCeil(rows, mostRows));
  rows = std::min<int64_t>(llvm::alignTo(rows, tileRows), product.rows);
  // If B is computed and not in memory, e.g. an unfolded image, it is packed only
  // once, even if it is large.
  packsAhead = rows < product.rows && (isSmall || !product.hasB);
  bool isNarrow = product.factorType != format.elementType;
  packsA = isNarrow || !product.hasA || product.columns > 2 * panels.width;
  packsB = isNarrow || !product.hasB || !product.hasRowsOfB || product.rows > tileRows;
}

int64_t ProductBlocks::countOfA() const {
  return llvm::divideCeil(rows, tileRows) * tileRows * depth + MatrixPacker::slackOf(format);
}

int64_t ProductBlocks::countOfB() const {
  return (packsAhead ? llvm::alignTo(columns, panels.width) : panels.width) * depth;
}

int64_t ProductBlocks::countTileKinds() const {
  int64_t heights = TileRows(rows, tileRows).countKinds();
  if (int64_t rest = allRows % rows)
    heights += TileRows(rest, tileRows).countKinds();
  return heights * panels.countKinds();
}
