// Emits blocked matrix products on packed panels (Goto and van de Geijn, 2008).

#include "targets/CPU/Ops/MatrixProduct.h"

#include "dialects/NN/IR/SumTypes.h"
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

bool MatrixProduct::pays(Type factorType, Type resultType, int64_t rows, int64_t columns,
                         int64_t depth) {
  Type sum = accumulatorType(factorType);
  return (sum.isF32() || sum.isF64()) && (resultType == factorType || resultType == sum) &&
         rows > 1 && columns > 3 && depth > 3 && rows * columns * depth >= 4096;
}

Type MatrixProduct::getSumType() const { return accumulatorType(factorType); }

ProductShape MatrixProduct::getShape() const {
  return {factorType, resultType,          rows,         columns, depth, bool(a),
          bool(b),    b.columnStride == 1, bool(address)};
}

namespace {
class Nest {
public:
  Nest(VectorEmitter &emitter, const MatrixProduct &product)
      : e(emitter), code(emitter, product.getSumType()), p(product),
        block(product.getShape(), emitter), inPairs(block.inPairs), isNarrowed(block.isNarrowed),
        packer(code, product.factorType, inPairs) {}

  void emit() {
    if (block.packsA)
      packedA = code.scratch(block.countOfA());
    if (block.packsB)
      packedB = code.scratch(block.countOfB());
    placeC();
    inDepthBlocks([&](Index k, int64_t depth, bool isLast) {
      const Index place = placeOf(k);
      const int64_t places = countPlaces(depth, isLast);
      if (block.packsB && block.packsAhead)
        packAllOfB(place, places);
      inBlocks(e, p.rows, block.rows, [&](Index row, int64_t rows) {
        if (block.packsA)
          packA(row, rows, place, places);
        tiles({row, k, rows, depth, isLast});
      });
    });
  }

private:
  /// `rows` rows of C from `row` on, and `depth` points from point `k` on. A point is
  /// an element along the depth, or a pair of them. `isLast` says that this is the
  /// last block of the depth, after which these rows are final.
  struct Part {
    Index row, k;
    int64_t rows, depth;
    bool isLast;
  };
  struct PlaceOfC {
    StridedMatrix matrix;
    Type elementType;
  };
  /// A tile of `height` x `across` elements of C: tile `number` of panel `panel` in
  /// a part. Its first row is `row` rows after the first row of the part.
  struct Tile {
    Index number, row, panel;
    int64_t height, across, tilesOfPanel;
  };

  /// Emits the blocks of the depth in order. The last block gets separate code if it is
  /// smaller than the others, if `finish` follows it, if C is rounded after it, or if it
  /// ends in half a pair.
  void inDepthBlocks(function_ref<void(Index, int64_t, bool)> body) {
    int64_t points = packer.getPoints(p.depth), size = block.depth, rest = points % size,
            whole = points / size;
    bool isOther = p.finish || isNarrowed || (inPairs && p.depth % 2);
    int64_t apart = !rest && isOther ? 1 : 0;
    e.sequence(whole - apart, [&](Index i) { body(i * size, size, false); });
    if (apart || rest)
      body(e.constant((whole - apart) * size), rest ? rest : size, true);
  }
  /// The index along the depth of the first element of a point.
  Index placeOf(Index point) const { return inPairs ? point * 2 : point; }
  /// The number of elements along the depth in `points` points. `isLast` says that
  /// these are the last points.
  int64_t countPlaces(int64_t points, bool isLast) const {
    return inPairs ? 2 * points - (isLast && p.depth % 2) : points;
  }

  /// Chooses the memory in which C is summed. Usually it is the memory of C. It is
  /// scratch memory if C is not stored, or if C is narrower than the sums and there
  /// are several blocks of the depth. With one block, scratch memory for one tile
  /// is enough; with several blocks, all of C must be kept.
  void placeC() {
    final = c = {{p.address, p.first, p.rowStride, 1}, p.resultType};
    if (!block.keepsSums())
      return;
    isTileOfC = !block.sumsAreWhole();
    c = {{code.scratch(block.countOfSums()), e.constant(0), block.columnsOfSums(), 1},
         code.elementType};
    if (!p.address)
      final = c;
  }
  /// The place of element (row, column) of C. `tile` is `c`, for the sums, or
  /// `final`, for the final elements.
  PlaceOfC tileOfC(PlaceOfC tile, Index row, Index column) const {
    if (!isTileOfC)
      tile.matrix.first = tile.matrix.at(row, column);
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

  /// Packs `count` panels of `width` columns of B, from column `column` on, as
  /// tiles from `tile` on.
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
        packB(e.constant(0), panel * block.panels.width, 1, across, placeOf(part.k),
              countPlaces(part.depth, part.isLast));
      TileRows cut(part.rows, block.tileRows);
      cut.forEach(e, [&](Index i, Index row, int64_t height) {
        tile(part, {i, row, panel, height, across, cut.count()});
      });
    });
  }

  /// Prefetches some of the cache lines of the next panel, so that all tiles of
  /// this panel together prefetch the next panel. For each tile, the emitted code runs
  /// `rounds` times, and `round` is the number of the run.
  void prefetchNextPanel(const Part &part, const Tile &tile, Index round, int64_t rounds) {
    bool isPacked = block.packsB && block.packsAhead;
    Type type = isPacked ? code.elementType : p.factorType;
    int64_t perLine = 512 / type.getIntOrFloatBitWidth(), width = block.panels.width;
    int64_t places = isPacked ? part.depth : countPlaces(part.depth, part.isLast);
    int64_t lines = llvm::divideCeil(places * width, perLine);
    int64_t each = llvm::divideCeil(lines, rounds * tile.tilesOfPanel);
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
        // If the panel's rows are contiguous, each row has `pieces` cache lines.
        // Otherwise its columns are contiguous.
        int64_t pieces = std::max<int64_t>(1, width / perLine);
        Index column = (tile.panel + 1) * width;
        Index k = placeOf(part.k);
        number = isRows
                     ? p.b.at(k + e.floorDiv(line, pieces), column + e.mod(line, pieces) * perLine)
                     : p.b.at(k + e.floorDiv(line, width) * perLine, column + e.mod(line, width));
      }
      code.prefetch(base, number, /*locality=*/isPacked ? 3 : 2, type);
    }
  }

  /// Computes the products of one tile of A with one panel of B, in registers.
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
    product.isOfPairs = inPairs;
    auto prefetch = [&](Index round, int64_t rounds) {
      prefetchNextPanel(part, tile, round, rounds);
    };
    product.eachIteration = prefetch;
    return product.emit(code, Values(tile.height * vectors, code.zero()));
  }

  void tile(const Part &part, const Tile &tile) {
    int64_t vectors = llvm::divideCeil(tile.across, code.lanes);
    Index row = part.row + tile.row, column = tile.panel * block.panels.width;
    const PlaceOfC from = tileOfC(c, row, column),
                   to = part.isLast ? tileOfC(final, row, column) : from;
    auto place = [&](const PlaceOfC &tile, int64_t r, int64_t v) {
      return tile.matrix.at(e.constant(r), e.constant(v * code.lanes));
    };
    auto addressOf = [&](const PlaceOfC &tile, int64_t r, int64_t v) {
      return code.at(tile.matrix.address, place(tile, r, v), tile.elementType);
    };
    if (!isTileOfC && part.depth >= 32)
      for (int64_t r = 0; r < tile.height; ++r)
        for (int64_t v = 0; v < vectors; ++v)
          code.prefetch(from.matrix.address, place(from, r, v), 3, from.elementType);
    Values sums = multiply(part, tile, vectors);
    Value isLater;
    bool isConstant = isa<AffineConstantExpr>(part.k);
    bool mayBeLater = e.rangeOf(part.k).second > 0;
    if (mayBeLater && !isConstant)
      isLater = e.make<arith::CmpIOp>(arith::CmpIPredicate::ne, e.materialize(part.k),
                                      e.materialize(e.constant(0)));
    for (int64_t r = 0; r < tile.height; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Value sum = sums[r * vectors + v];
        int64_t lanes = std::min(code.lanes, tile.across - v * code.lanes);
        if (mayBeLater)
          sum = code.add(e.branch(
                             isLater, [&] { return code.load(addressOf(from, r, v), lanes); },
                             [&] { return code.zero(); }),
                         sum);
        code.storeAs(to.elementType, sum, addressOf(to, r, v), lanes);
      }
    if (part.isLast && p.finish)
      p.finish(row, tile.height, column, tile.across, to.matrix);
  }

  VectorEmitter &e;
  VectorCode code;
  const MatrixProduct &p;
  const ProductBlocks block;
  const bool inPairs, isNarrowed;
  MatrixPacker packer;
  Value packedA, packedB;
  /// The place of the sums, and the place of the final C.
  PlaceOfC c, final;
  bool isTileOfC = false;
};
} // namespace

void MatrixProduct::emit(VectorEmitter &emitter) const { Nest(emitter, *this).emit(); }
