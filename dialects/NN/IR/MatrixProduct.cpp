#include "dialects/NN/IR/MatrixProduct.h"

#include "dialects/NN/IR/RegisterTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

bool MatrixProduct::pays(Type elementType, int64_t rows, int64_t columns,
                         int64_t depth) {
  return (elementType.isF32() || elementType.isF64()) && rows > 1 &&
         columns > 3 && depth > 3 && rows * columns * depth >= 4096;
}

namespace {
/// Block sizes: `rows` of A, `depth` deep, are packed at a time.
struct Blocking {
  int64_t lanes, vectors, tileRows; // of a register tile
  int64_t depth, rows;
  /// A block of B is packed before its tiles are computed, not panel by panel.
  bool packsAhead;
  bool packsA, packsB;

  int64_t tileColumns() const { return lanes * vectors; }

  Blocking(const MatrixProduct &product, unsigned vectorBytes) {
    unsigned elementBytes = product.elementType.getIntOrFloatBitWidth() / 8;
    bool isWide = vectorBytes == 64;
    lanes = vectorBytes / elementBytes;
    vectors = product.columns <= lanes ? 1 : 2;
    // Accumulators and operands fill the 32 or 16 vector registers.
    int64_t mostRows = vectors == 1 ? 12 : isWide ? 14 : 6;
    // A panel of B stays in the first cache while its tiles are computed.
    depth = blockDepth(product.depth, vectors == 1 ? 768 : 384);
    // A block of A stays in the second cache, and so does all of B where it is
    // small. A larger B is packed panel by panel, again for each block of A.
    int64_t bytesOfB =
        llvm::alignTo(product.columns, tileColumns()) * depth * elementBytes;
    bool isSmall = bytesOfB <= (isWide ? 1024 : 256) << 10;
    int64_t cache = (isWide ? (isSmall ? 512 : 1024) : 224) << 10;
    int64_t most = std::max(mostRows, cache / (depth * elementBytes));
    int64_t blocks = llvm::divideCeil(product.rows, most);
    rows = llvm::divideCeil(product.rows, blocks);
    tileRows = llvm::divideCeil(rows, llvm::divideCeil(rows, mostRows));
    rows = std::min<int64_t>(llvm::alignTo(rows, tileRows), product.rows);
    // What is computed, such as an unfolded image, is packed once all the same.
    packsAhead = rows < product.rows && (isSmall || !product.b);
    packsA = !product.a || product.columns > 2 * tileColumns();
    packsB =
        !product.b || product.b.columnStride != 1 || product.rows > tileRows;
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
  Nest(LoopEmitter &emitter, const MatrixProduct &product)
      : e(emitter), p(product), block(product, emitter.vectorBytes),
        packer(emitter, product.elementType),
        bytes(product.elementType.getIntOrFloatBitWidth() / 8),
        vectorType(VectorType::get({block.lanes}, product.elementType)) {}

  void emit() {
    int64_t height = block.tileRows, width = block.tileColumns();
    if (block.packsA)
      packedA = e.getScratch(
          (llvm::divideCeil(block.rows, height) * height * block.depth +
           packer.getSlack()) *
          bytes);
    if (block.packsB)
      packedB = e.getScratch(
          (block.packsAhead ? llvm::alignTo(p.columns, width) : width) *
          block.depth * bytes);
    placeC();
    inDepthBlocks([&](Index k, int64_t depth, bool isLast) {
      if (block.packsB && block.packsAhead)
        packAllOfB(k, depth);
      inBlocks(p.rows, block.rows, [&](Index row, int64_t rows) {
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

  /// Whole blocks in a loop, then the rest.
  void inBlocks(int64_t extent, int64_t size,
                function_ref<void(Index, int64_t)> body) {
    int64_t whole = extent / size;
    e.sequence(whole, [&](Index i) { body(i * size, size); });
    if (extent % size)
      body(e.constant(whole * size), extent % size);
  }

  /// The same for the depth; the last block apart if something follows it.
  void inDepthBlocks(function_ref<void(Index, int64_t, bool)> body) {
    int64_t size = block.depth, rest = p.depth % size, whole = p.depth / size;
    int64_t apart = rest ? 0 : p.finish ? 1 : 0;
    e.sequence(whole - apart,
               [&](Index i) { body(i * size, size, !p.finish && !rest); });
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
            columns = whole ? p.columns : block.tileColumns();
    c = {e.getScratch(rows * columns * bytes), e.constant(0), columns, 1};
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
    TileRun run{e.constant(0), e.constant(0), cut.tall, cut.height + 1,
                block.tileRows};
    packer.pack(packedA, run, depth, from, read);
    run = {e.constant(cut.tall), e.constant(cut.tall * (cut.height + 1)),
           cut.low, cut.height, block.tileRows};
    packer.pack(packedA, run, depth, from, read);
  }

  /// Packs `count` panels of `width` columns from column `column` on.
  void packB(Index tile, Index column, int64_t count, int64_t width, Index k,
             int64_t depth) {
    StridedMatrix from;
    if (p.b)
      from = {p.b.address, p.b.at(k, column), p.b.columnStride, p.b.rowStride};
    int64_t stride = block.tileColumns(), whole = width / block.lanes;
    if (width % block.lanes)
      packer.clear(packedB, tile, whole * block.lanes, stride, depth);
    packer.pack(
        packedB, {tile, e.constant(0), count, width, stride}, depth, from,
        [&](Index lane, Index i) { return p.readB(k + i, column + lane); });
  }

  void packAllOfB(Index k, int64_t depth) {
    int64_t width = block.tileColumns(), whole = p.columns / width;
    if (whole)
      packB(e.constant(0), e.constant(0), whole, width, k, depth);
    if (p.columns % width)
      packB(e.constant(whole), e.constant(whole * width), 1, p.columns % width,
            k, depth);
  }

  void tiles(const Part &part) {
    int64_t width = block.tileColumns();
    auto panel = [&](Index number, int64_t across) {
      if (block.packsB && !block.packsAhead)
        packB(e.constant(0), number * width, 1, across, part.k, part.depth);
      TileRows cut(part.rows, block.tileRows);
      cut.forEach(e, [&](Index i, Index row, int64_t height) {
        tile(part, {i, row, number, height, across, cut.count()});
      });
    };
    e.sequence(p.columns / width, [&](Index j) { panel(j, width); });
    if (p.columns % width)
      panel(e.constant(p.columns / width), p.columns % width);
  }

  Value splat(Value scalar) {
    Value none = e.make<LLVM::PoisonOp>(vectorType);
    Value zero = e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(0));
    Value one = e.make<LLVM::InsertElementOp>(none, scalar, zero);
    SmallVector<int32_t> mask(block.lanes, 0);
    return e.make<LLVM::ShuffleVectorOp>(one, none, mask);
  }
  /// Mask of the first `count` lanes.
  Value maskOf(int64_t count) {
    SmallVector<bool> lanes(block.lanes, false);
    std::fill_n(lanes.begin(), count, true);
    auto type = VectorType::get({block.lanes}, e.builder.getI1Type());
    return e.make<LLVM::ConstantOp>(type, DenseElementsAttr::get(type, lanes));
  }
  Value zeros() {
    return e.make<arith::ConstantOp>(DenseElementsAttr::get(
        vectorType, e.builder.getFloatAttr(p.elementType, 0.0)));
  }
  Value loadMasked(Value address, int64_t count) {
    return e.make<LLVM::MaskedLoadOp>(vectorType, address, maskOf(count),
                                      ValueRange(zeros()), int32_t(bytes));
  }

  Value loadA(const Part &part, const Tile &tile, int64_t row, Index k) {
    Value from = block.packsA ? packedA : p.a.address;
    Index number = block.packsA
                       ? (tile.number * part.depth + k) * block.tileRows + row
                       : p.a.at(part.row + tile.row + row, part.k + k);
    auto op = e.make<LLVM::LoadOp>(p.elementType, packer.address(from, number),
                                   bytes);
    op.setAccessGroupsAttr(e.accessGroups);
    return op;
  }

  Value loadB(const Part &part, const Tile &tile, int64_t vector, Index k) {
    int64_t width = block.tileColumns(), lane = vector * block.lanes;
    if (block.packsB) {
      Index panel = block.packsAhead ? tile.panel : e.constant(0);
      return packer.load(packedB, (panel * part.depth + k) * width + lane,
                         block.lanes);
    }
    Index number = p.b.at(part.k + k, tile.panel * width + lane);
    if (tile.across - lane >= block.lanes)
      return packer.load(p.b.address, number, block.lanes);
    return loadMasked(packer.address(p.b.address, number), tile.across - lane);
  }

  /// Asks for lines of the next panel, so that all tiles of this one together
  /// bring all of it; `round` counts the calls a tile makes, of `rounds`.
  void prefetchNextPanel(const Part &part, const Tile &tile, Index round,
                         int64_t rounds) {
    int64_t perLine = 64 / bytes, width = block.tileColumns();
    int64_t lines = llvm::divideCeil(part.depth * width, perLine);
    int64_t each = llvm::divideCeil(lines, rounds * tile.tilesOfPanel);
    bool isPacked = block.packsB && block.packsAhead;
    bool isRows = p.b && p.b.columnStride == 1,
         isColumns = p.b && p.b.rowStride == 1;
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
        number = isRows ? p.b.at(part.k + e.floorDiv(line, pieces),
                                 column + e.mod(line, pieces) * perLine)
                        : p.b.at(part.k + e.floorDiv(line, width) * perLine,
                                 column + e.mod(line, width));
      }
      packer.prefetch(base, number, /*locality=*/isPacked ? 3 : 2);
    }
  }

  /// The products of one tile of A and one panel of B, in registers.
  Values multiply(const Part &part, const Tile &tile, int64_t vectors) {
    auto step = [&](Index k, Values sums) {
      Values bs;
      for (int64_t v = 0; v < vectors; ++v)
        bs.push_back(loadB(part, tile, v, k));
      for (int64_t r = 0; r < tile.height; ++r) {
        Value factor = splat(loadA(part, tile, r, k));
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = sums[r * vectors + v];
          sum = e.make<LLVM::FMAOp>(factor, bs[v], sum);
        }
      }
      return sums;
    };
    const int64_t unroll = 4;
    int64_t rounds = part.depth / unroll;
    Values sums(tile.height * vectors, zeros());
    sums = e.loop(rounds, sums, [&](Index i, ValueRange carried) {
      prefetchNextPanel(part, tile, i, rounds);
      Values now(carried);
      for (int64_t u = 0; u < unroll; ++u)
        now = step(i * unroll + u, now);
      return now;
    });
    for (int64_t i = rounds * unroll; i < part.depth; ++i)
      sums = step(e.constant(i), sums);
    return sums;
  }

  void tile(const Part &part, const Tile &tile) {
    int64_t vectors = llvm::divideCeil(tile.across, block.lanes);
    Index row = part.row + tile.row, column = tile.panel * block.tileColumns();
    StridedMatrix to = tileOfC(row, column);
    if (!isTileOfC && part.depth >= 32)
      for (int64_t r = 0; r < tile.height; ++r)
        for (int64_t v = 0; v < vectors; ++v)
          packer.prefetch(to.address,
                          to.at(e.constant(r), e.constant(v * block.lanes)), 3);
    Values sums = multiply(part, tile, vectors);
    Value isLater;
    bool isConstant = isa<AffineConstantExpr>(part.k);
    bool mayBeLater = e.rangeOf(part.k).second > 0;
    if (mayBeLater && !isConstant)
      isLater =
          e.make<arith::CmpIOp>(arith::CmpIPredicate::ne, e.materialize(part.k),
                                e.materialize(e.constant(0)));
    for (int64_t r = 0; r < tile.height; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Value address = packer.address(
                  to.address,
                  to.at(e.constant(r), e.constant(v * block.lanes))),
              sum = sums[r * vectors + v];
        int64_t lanes = std::min(block.lanes, tile.across - v * block.lanes);
        if (mayBeLater) {
          auto load = [&]() -> Value {
            if (lanes < block.lanes)
              return loadMasked(address, lanes);
            return e.make<LLVM::LoadOp>(vectorType, address, bytes);
          };
          Value before = e.branch(isLater, load, [&] { return zeros(); });
          sum = e.make<arith::AddFOp>(before, sum);
        }
        if (lanes < block.lanes)
          e.make<LLVM::MaskedStoreOp>(sum, address, maskOf(lanes),
                                      int32_t(bytes));
        else
          e.make<LLVM::StoreOp>(sum, address, bytes);
      }
    if (part.isLast && p.finish)
      p.finish(row, tile.height, column, tile.across, to);
  }

  LoopEmitter &e;
  const MatrixProduct &p;
  Blocking block;
  MatrixPacker packer;
  unsigned bytes;
  VectorType vectorType;
  Value packedA, packedB;
  StridedMatrix c;
  bool isTileOfC = false;
};
} // namespace

void MatrixProduct::emit(LoopEmitter &emitter) const {
  Nest(emitter, *this).emit();
}
