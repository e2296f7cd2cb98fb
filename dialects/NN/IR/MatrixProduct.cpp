#include "dialects/NN/IR/MatrixProduct.h"

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
/// Block sizes: KC deep, MC rows of A and NC columns of B are packed at a time.
struct Blocking {
  int64_t lanes, vectors, tileRows; // of a register tile
  int64_t depth, rows, columns;

  int64_t tileColumns() const { return lanes * vectors; }

  Blocking(const MatrixProduct &product, unsigned vectorBytes) {
    unsigned elementBytes = product.elementType.getIntOrFloatBitWidth() / 8;
    lanes = vectorBytes / elementBytes;
    vectors = product.columns <= lanes ? 1 : 2;
    // Accumulators and operands fill the 32 or 16 vector registers.
    tileRows = vectorBytes == 64 ? 8 : 6;
    depth = blockDepth(product.depth,
                       (product.rows <= 128 ? 4096 : 2048) / elementBytes);
    rows = std::min<int64_t>(llvm::alignTo(product.rows, tileRows),
                             96 / tileRows * tileRows);
    int64_t most = std::max<int64_t>(
        1, (int64_t(8) << 20) / (depth * elementBytes) / tileColumns());
    columns = std::min<int64_t>(llvm::alignTo(product.columns, tileColumns()),
                                most * tileColumns());
  }

private:
  /// The largest divisor up to `most` that is not small, else `most`.
  static int64_t blockDepth(int64_t depth, int64_t most) {
    if (depth <= most)
      return depth;
    for (int64_t block = most; block >= most / 4; --block)
      if (depth % block == 0)
        return block;
    return most;
  }
};

class Nest {
public:
  Nest(LoopEmitter &emitter, const MatrixProduct &product)
      : e(emitter), p(product), block(product, emitter.vectorBytes),
        bytes(product.elementType.getIntOrFloatBitWidth() / 8),
        vectorType(VectorType::get({block.lanes}, product.elementType)) {}

  void emit() {
    packedA = e.getScratch(block.rows * block.depth * bytes);
    packedB = e.getScratch(block.columns * block.depth * bytes);
    inBlocks(p.columns, block.columns, [&](Index column, int64_t columns) {
      inBlocks(p.depth, block.depth, [&](Index k, int64_t depth) {
        packB(column, columns, k, depth);
        inBlocks(p.rows, block.rows, [&](Index row, int64_t rows) {
          packA(row, rows, k, depth);
          tiles(row, rows, column, columns, k, depth);
        });
      });
    });
  }

private:
  /// Whole blocks in a loop, then the rest.
  void inBlocks(int64_t extent, int64_t size,
                function_ref<void(Index, int64_t)> body) {
    int64_t whole = extent / size;
    e.sequence(whole, [&](Index i) { body(i * size, size); });
    if (extent % size)
      body(e.constant(whole * size), extent % size);
  }

  Value at(Value base, Index number) {
    return e.make<LLVM::GEPOp>(
        LLVM::LLVMPointerType::get(e.builder.getContext()), p.elementType, base,
        ValueRange(e.materialize(number)), /*inbounds=*/true);
  }
  void put(Value base, Index number, Value element) {
    auto op = e.make<LLVM::StoreOp>(element, at(base, number), bytes);
    op.setAccessGroupsAttr(e.accessGroups);
  }

  /// packed[tile][k][lane] of `lanes` wide tiles; lanes past `extent` are zero.
  void pack(Value packed, int64_t extent, int64_t lanes, int64_t depth,
            function_ref<Value(Index lane, Index k)> read) {
    int64_t whole = extent / lanes, rest = extent % lanes;
    e.forEach({whole, depth, lanes}, [&](ArrayRef<Index> i) {
      put(packed, (i[0] * depth + i[1]) * lanes + i[2],
          read(i[0] * lanes + i[2], i[1]));
    });
    if (!rest)
      return;
    Index base = e.constant(whole * depth * lanes);
    e.forEach({depth, rest}, [&](ArrayRef<Index> i) {
      put(packed, base + i[0] * lanes + i[1], read(i[1] + whole * lanes, i[0]));
    });
    Value zero = e.constantLike(p.elementType, 0);
    e.forEach({depth, lanes - rest}, [&](ArrayRef<Index> i) {
      put(packed, base + i[0] * lanes + i[1] + rest, zero);
    });
  }

  void packB(Index column, int64_t columns, Index k, int64_t depth) {
    pack(packedB, columns, block.tileColumns(), depth,
         [&](Index lane, Index depthIndex) {
           return p.readB(k + depthIndex, column + lane);
         });
  }
  void packA(Index row, int64_t rows, Index k, int64_t depth) {
    pack(packedA, rows, block.tileRows, depth,
         [&](Index lane, Index depthIndex) {
           return p.readA(row + lane, k + depthIndex);
         });
  }

  void tiles(Index row, int64_t rows, Index column, int64_t columns, Index k,
             int64_t depth) {
    int64_t width = block.tileColumns(), height = block.tileRows;
    auto panel = [&](Index panelIndex, int64_t across) {
      e.sequence(rows / height, [&](Index i) {
        tile(i, panelIndex, height, across, row + i * height,
             column + panelIndex * width, k, depth);
      });
      if (rows % height) {
        Index i = e.constant(rows / height);
        tile(i, panelIndex, rows % height, across, row + i * height,
             column + panelIndex * width, k, depth);
      }
    };
    e.sequence(columns / width, [&](Index j) { panel(j, width); });
    if (columns % width)
      panel(e.constant(columns / width), columns % width);
  }

  Value loadVector(Value base, Index number) {
    auto op = e.make<LLVM::LoadOp>(vectorType, at(base, number), bytes);
    op.setAccessGroupsAttr(e.accessGroups);
    return op;
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

  /// `height` x `across` elements of C at (row, column): one tile of the packed
  /// A times one panel of the packed B, in registers.
  void tile(Index tileIndex, Index panelIndex, int64_t height, int64_t across,
            Index row, Index column, Index k, int64_t depth) {
    int64_t vectors = llvm::divideCeil(across, block.lanes);
    int64_t width = block.tileColumns();
    Value zero = e.make<arith::ConstantOp>(DenseElementsAttr::get(
        vectorType, e.builder.getFloatAttr(p.elementType, 0.0)));
    Values sums(height * vectors, zero);
    Index a = tileIndex * (depth * block.tileRows),
          b = panelIndex * (depth * width);
    auto step = [&](Index i, Values sums) {
      Values bs;
      for (int64_t v = 0; v < vectors; ++v)
        bs.push_back(loadVector(packedB, b + i * width + v * block.lanes));
      for (int64_t r = 0; r < height; ++r) {
        auto element = e.make<LLVM::LoadOp>(
            p.elementType, at(packedA, a + i * block.tileRows + r), bytes);
        element.setAccessGroupsAttr(e.accessGroups);
        Value factor = splat(element);
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = sums[r * vectors + v];
          sum = e.make<LLVM::FMAOp>(factor, bs[v], sum);
        }
      }
      return sums;
    };
    const int64_t unroll = 4;
    sums = e.loop(depth / unroll, sums, [&](Index i, ValueRange carried) {
      // One line of the next panel a round: the four rows of tiles that use
      // this panel bring all of it.
      // Behind the last panel the address leaves the memory: not inbounds.
      Value next = e.make<LLVM::GEPOp>(
          LLVM::LLVMPointerType::get(e.builder.getContext()), p.elementType,
          packedB, ValueRange(e.materialize(b + (i * unroll + depth) * width)));
      e.make<LLVM::Prefetch>(next, 0, 3, 1);
      Values now(carried);
      for (int64_t u = 0; u < unroll; ++u)
        now = step(i * unroll + u, now);
      return now;
    });
    for (int64_t i = depth / unroll * unroll; i < depth; ++i)
      sums = step(e.constant(i), sums);

    Value isLater;
    if (p.depth > block.depth)
      isLater =
          e.make<arith::CmpIOp>(arith::CmpIPredicate::ne, e.materialize(k),
                                e.materialize(e.constant(0)));
    for (int64_t r = 0; r < height; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Index number =
            p.first + (row + r) * p.rowStride + column + v * block.lanes;
        Value address = at(p.address, number), sum = sums[r * vectors + v];
        int64_t lanes = std::min(block.lanes, across - v * block.lanes);
        Value mask = lanes < block.lanes ? maskOf(lanes) : Value();
        if (isLater) {
          Value before = e.branch(
              isLater,
              [&]() -> Value {
                if (mask)
                  return e.make<LLVM::MaskedLoadOp>(vectorType, address, mask,
                                                    ValueRange(zero),
                                                    int32_t(bytes));
                return e.make<LLVM::LoadOp>(vectorType, address, bytes);
              },
              [&] { return zero; });
          sum = e.make<arith::AddFOp>(before, sum);
        }
        if (mask)
          e.make<LLVM::MaskedStoreOp>(sum, address, mask, int32_t(bytes));
        else
          e.make<LLVM::StoreOp>(sum, address, bytes);
      }
  }

  LoopEmitter &e;
  const MatrixProduct &p;
  Blocking block;
  unsigned bytes;
  VectorType vectorType;
  Value packedA, packedB;
};
} // namespace

void MatrixProduct::emit(LoopEmitter &emitter) const {
  Nest(emitter, *this).emit();
}
