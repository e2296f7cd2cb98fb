// Blocked matrix products on packed panels (Goto and van de Geijn, 2008).

#include "targets/CPU/Ops/MatrixProduct.h"

#include "targets/CPU/Vectors/RegisterTile.h"
#include "targets/CPU/Vectors/TileGrid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

bool MatrixProduct::pays(Type elementType, int64_t rows, int64_t columns, int64_t depth) {
  return (elementType.isF32() || elementType.isF64()) && rows > 1 && columns > 3 && depth > 3 &&
         rows * columns * depth >= 4096;
}

namespace {
/// Block sizes: `rows` of A, `depth` deep, are packed at a time.
struct Blocking {
  Panels panels; // of B
  int64_t tileRows, depth, rows;
  /// A block of B is packed before its tiles are computed, not panel by panel.
  bool packsAhead;
  bool packsA, packsB;

  Blocking(const MatrixProduct &product, const VectorCode &code) : panels(code, product.columns) {
    bool isWide = code.e.vectorBytes == 64;
    int64_t vectors = panels.width / code.lanes,
            mostRows = RegisterTile::packedRowsFor(code, vectors);
    // A panel of B stays in the first cache while its tiles are computed.
    depth = blockDepth(product.depth, vectors == 1 ? 768 : 384);
    // A block of A stays in the second cache, and so does all of B where it is
    // small. A larger B is packed panel by panel, again for each block of A.
    int64_t bytesOfB = llvm::alignTo(product.columns, panels.width) * depth * code.bytes;
    bool isSmall = bytesOfB <= (isWide ? 1024 : 256) << 10;
    int64_t cache = (isWide ? (isSmall ? 512 : 1024) : 224) << 10;
    int64_t most = std::max(mostRows, cache / (depth * code.bytes));
    int64_t blocks = llvm::divideCeil(product.rows, most);
    rows = llvm::divideCeil(product.rows, blocks);
    tileRows = llvm::divideCeil(rows, llvm::divideCeil(rows, mostRows));
    rows = std::min<int64_t>(llvm::alignTo(rows, tileRows), product.rows);
    // What is computed, such as an unfolded image, is packed once all the same.
    packsAhead = rows < product.rows && (isSmall || !product.b);
    packsA = !product.a || product.columns > 2 * panels.width;
    packsB = !product.b || product.b.columnStride != 1 || product.rows > tileRows;
  }

private:
  /// The largest divisor up to `most` that is not small, else equal parts.
  static int64_t blockDepth(int64_t depth, int64_t most) {
    if (depth <= most)
      return depth;
    for (int64_t block = most; block >= most / 2; --block)
      if (depth % block == 0)
        return block;
    int64_t blocks = llvm::divideCeil(depth, most);
    return llvm::alignTo(llvm::divideCeil(depth, blocks), 8);
  }
};

class Nest {
public:
  Nest(VectorEmitter &emitter, const MatrixProduct &product)
      : e(emitter), code(emitter, product.elementType), p(product), block(product, code),
        packer(code) {}

  void emit() {
    int64_t height = block.tileRows, width = block.panels.width;
    if (block.packsA)
      packedA = code.scratch(llvm::divideCeil(block.rows, height) * height * block.depth +
                             packer.getSlack());
    if (block.packsB)
      packedB =
          code.scratch((block.packsAhead ? llvm::alignTo(p.columns, width) : width) * block.depth);
    placeC();
    inDepthBlocks([&](Index k, int64_t depth, bool isLast) {
      if (block.packsB && block.packsAhead)
        packAllOfB(k, depth);
      inBlocks(e, p.rows, block.rows, [&](Index row, int64_t rows) {
        if (block.packsA)
          packA(row, rows, k, depth);
        tiles({row, k, rows, depth, isLast});
      });
    });
  }

private:
  /// Rows of C and a block of the depth, and whether C is final after it.
  struct Part {
    Index row, k;
    int64_t rows, depth;
    bool isLast;
  };
  /// `height` x `across` elements of C: tile `number` of panel `panel` of a
  /// part, whose rows start `row` rows after the part's.
  struct Tile {
    Index number, row, panel;
    int64_t height, across, tilesOfPanel;
  };

  /// Blocks of the depth in order; the last one apart if something follows it.
  void inDepthBlocks(function_ref<void(Index, int64_t, bool)> body) {
    int64_t size = block.depth, rest = p.depth % size, whole = p.depth / size;
    int64_t apart = rest ? 0 : p.finish ? 1 : 0;
    e.sequence(whole - apart, [&](Index i) { body(i * size, size, !p.finish && !rest); });
    if (apart || rest)
      body(e.constant((whole - apart) * size), rest ? rest : size, true);
  }

  /// Where C lies while it is computed: without memory of its own, in one tile,
  /// or whole where sums of several blocks of the depth are added up.
  void placeC() {
    c = {p.address, p.first, p.rowStride, 1};
    if (p.address)
      return;
    bool whole = p.depth > block.depth;
    isTileOfC = !whole;
    int64_t rows = whole ? p.rows : block.tileRows,
            columns = whole ? p.columns : block.panels.width;
    c = {code.scratch(rows * columns), e.constant(0), columns, 1};
  }
  /// C from element (row, column) on.
  StridedMatrix tileOfC(Index row, Index column) const {
    StridedMatrix tile = c;
    if (!isTileOfC)
      tile.first = c.at(row, column);
    return tile;
  }

  void packA(Index row, int64_t rows, Index k, int64_t depth) {
    StridedMatrix from = p.a;
    if (from)
      from.first = p.a.at(row, k);
    TileRows cut(rows, block.tileRows);
    auto read = [&](Index lane, Index i) { return p.readA(row + lane, k + i); };
    TileRun run{e.constant(0), e.constant(0), cut.tall, cut.height + 1, block.tileRows};
    packer.pack(packedA, run, depth, from, read);
    run = {e.constant(cut.tall), e.constant(cut.tall * (cut.height + 1)), cut.low, cut.height,
           block.tileRows};
    packer.pack(packedA, run, depth, from, read);
  }

  /// Packs `count` panels of `width` columns from column `column` on.
  void packB(Index tile, Index column, int64_t count, int64_t width, Index k, int64_t depth) {
    StridedMatrix from;
    if (p.b)
      from = {p.b.address, p.b.at(k, column), p.b.columnStride, p.b.rowStride};
    int64_t stride = block.panels.width, whole = width / code.lanes;
    if (width % code.lanes)
      packer.clear(packedB, tile, whole * code.lanes, stride, depth);
    packer.pack(packedB, {tile, e.constant(0), count, width, stride}, depth, from,
                [&](Index lane, Index i) { return p.readB(k + i, column + lane); });
  }

  void packAllOfB(Index k, int64_t depth) {
    const Panels &panels = block.panels;
    if (panels.whole)
      packB(e.constant(0), e.constant(0), panels.whole, panels.width, k, depth);
    if (panels.rest)
      packB(e.constant(panels.whole), e.constant(panels.whole * panels.width), 1, panels.rest, k,
            depth);
  }

  void tiles(const Part &part) {
    block.panels.forEach(e, [&](Index panel, int64_t across, int64_t) {
      if (block.packsB && !block.packsAhead)
        packB(e.constant(0), panel * block.panels.width, 1, across, part.k, part.depth);
      TileRows cut(part.rows, block.tileRows);
      cut.forEach(e, [&](Index i, Index row, int64_t height) {
        tile(part, {i, row, panel, height, across, cut.count()});
      });
    });
  }

  /// Asks for lines of the next panel, so that all tiles of this one together
  /// bring all of it; `round` counts the calls a tile makes, of `rounds`.
  void prefetchNextPanel(const Part &part, const Tile &tile, Index round, int64_t rounds) {
    int64_t perLine = 64 / code.bytes, width = block.panels.width;
    int64_t lines = llvm::divideCeil(part.depth * width, perLine);
    int64_t each = llvm::divideCeil(lines, rounds * tile.tilesOfPanel);
    bool isPacked = block.packsB && block.packsAhead;
    bool isRows = p.b && p.b.columnStride == 1, isColumns = p.b && p.b.rowStride == 1;
    if (p.columns <= width || (!isPacked && !isRows && !isColumns))
      return;
    Value base = isPacked ? packedB : p.b.address;
    for (int64_t i = 0; i < each; ++i) {
      Value wanted = e.materialize((tile.number * rounds + round) * each + i);
      Value last = e.materialize(e.constant(lines - 1));
      Index line = e.bind(e.make<arith::MinSIOp>(wanted, last), 0, lines - 1);
      Index number;
      if (isPacked) {
        number = (tile.panel + 1) * (part.depth * width) + line * perLine;
      } else {
        // Rows of `pieces` lines, or columns of them.
        int64_t pieces = std::max<int64_t>(1, width / perLine);
        Index column = (tile.panel + 1) * width;
        number =
            isRows
                ? p.b.at(part.k + e.floorDiv(line, pieces), column + e.mod(line, pieces) * perLine)
                : p.b.at(part.k + e.floorDiv(line, width) * perLine, column + e.mod(line, width));
      }
      code.prefetch(base, number, /*locality=*/isPacked ? 3 : 2);
    }
  }

  /// The products of one tile of A and one panel of B, in registers.
  Values multiply(const Part &part, const Tile &tile, int64_t vectors) {
    int64_t width = block.panels.width;
    StridedMatrix a = p.a, b = p.b;
    if (block.packsA)
      a = {packedA, tile.number * (part.depth * block.tileRows), 1, block.tileRows};
    else
      a.first = p.a.at(part.row + tile.row, part.k);
    if (block.packsB)
      b = {packedB, (block.packsAhead ? tile.panel : e.constant(0)) * (part.depth * width), width,
           1};
    else
      b.first = p.b.at(part.k, tile.panel * width);
    Values rows;
    for (int64_t r = 0; r < tile.height; ++r)
      rows.push_back(code.at(a.address, a.at(e.constant(r), e.constant(0))));
    RegisterTile product{rows,
                         code.at(b.address, b.first),
                         RegisterTile::sideBySide(code, vectors),
                         {{part.depth, a.columnStride, b.rowStride}}};
    if (!block.packsB)
      product.lastLanes = tile.across % code.lanes;
    auto prefetch = [&](Index round, int64_t rounds) {
      prefetchNextPanel(part, tile, round, rounds);
    };
    product.eachIteration = prefetch;
    return product.emit(code, Values(tile.height * vectors, code.zero()));
  }

  void tile(const Part &part, const Tile &tile) {
    int64_t vectors = llvm::divideCeil(tile.across, code.lanes);
    Index row = part.row + tile.row, column = tile.panel * block.panels.width;
    StridedMatrix to = tileOfC(row, column);
    auto place = [&](int64_t r, int64_t v) {
      return to.at(e.constant(r), e.constant(v * code.lanes));
    };
    if (!isTileOfC && part.depth >= 32)
      for (int64_t r = 0; r < tile.height; ++r)
        for (int64_t v = 0; v < vectors; ++v)
          code.prefetch(to.address, place(r, v), 3);
    Values sums = multiply(part, tile, vectors);
    Value isLater;
    bool isConstant = isa<AffineConstantExpr>(part.k);
    bool mayBeLater = e.rangeOf(part.k).second > 0;
    if (mayBeLater && !isConstant)
      isLater = e.make<arith::CmpIOp>(arith::CmpIPredicate::ne, e.materialize(part.k),
                                      e.materialize(e.constant(0)));
    for (int64_t r = 0; r < tile.height; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Value address = code.at(to.address, place(r, v)), sum = sums[r * vectors + v];
        int64_t lanes = std::min(code.lanes, tile.across - v * code.lanes);
        if (mayBeLater)
          sum = code.add(
              e.branch(
                  isLater, [&] { return code.load(address, lanes); }, [&] { return code.zero(); }),
              sum);
        code.store(sum, address, lanes);
      }
    if (part.isLast && p.finish)
      p.finish(row, tile.height, column, tile.across, to);
  }

  VectorEmitter &e;
  VectorCode code;
  const MatrixProduct &p;
  Blocking block;
  MatrixPacker packer;
  Value packedA, packedB;
  StridedMatrix c;
  bool isTileOfC = false;
};
} // namespace

void MatrixProduct::emit(VectorEmitter &emitter) const { Nest(emitter, *this).emit(); }
