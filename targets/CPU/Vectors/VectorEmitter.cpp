// Emits loops that LLVM may vectorize, and calls the vector fill rules that pay. After
// each tile of a fill rule, emits prefetches of the next tile.

#include "targets/CPU/Vectors/VectorEmitter.h"

#include "targets/CPU/Vectors/VectorFill.h"

using namespace mlir;
using namespace dpc;

#include "targets/CPU/Vectors/VectorFillOpInterface.cpp.inc"

VectorEmitter::VectorEmitter(OpBuilder &builder, Location loc, const KernelGraph &graph,
                             const VectorUnit &unit)
    : KernelEmitter(builder, loc, graph), VectorUnit(unit) {
  MLIRContext *context = builder.getContext();
  auto accessGroup =
      LLVM::AccessGroupAttr::get(context, DistinctAttr::create(builder.getUnitAttr()));
  accessGroups = builder.getArrayAttr({accessGroup});
  parallelLoop = LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                               {}, {}, {}, accessGroup);
  auto vectorize = LLVM::LoopVectorizeAttr::get(context, /*disable=*/builder.getBoolAttr(false), {},
                                                {}, {}, {}, {}, {});
  vectorLoop = LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, {}, {}, {}, {}, {}, {}, {},
                                             {}, {}, {}, {}, accessGroup);
}

void VectorEmitter::emitFill(Operation *op) {
  auto rule = dyn_cast<VectorFillOpInterface>(op);
  if (rule && rule.pays())
    return rule.emitFill(*this);
  KernelEmitter::emitFill(op);
}

void VectorEmitter::emitTiles(Operation *op, FinishTile finish) {
  cast<VectorFillOpInterface>(op).emitTiles(*this, finish);
}

/// The largest power of two in [4, most] that divides `extent`; 1 if none does.
static int64_t tileOf(int64_t extent, int64_t most) {
  for (int64_t tile = most; tile >= 4; tile /= 2)
    if (extent % tile == 0)
      return tile;
  return 1;
}

namespace {
/// The loops that visit a nest. For a transposition they are tiled, so that the elements
/// that a tile reads and writes stay in the first-level cache.
struct TiledLoops {
  explicit TiledLoops(const LoopNest &nest) : strided(nest.strided), extents(nest.extents) {
    if (!strided)
      return;
    last = nest.extents.size() - 1;
    rows = tileOf(nest.extents[*strided], 16);
    columns = tileOf(nest.extents[last], 64);
    extents[*strided] /= rows;
    extents[last] /= columns;
    extents.append({rows, columns});
  }

  /// The multi-index of the nest, computed from the multi-index of the loops.
  SmallVector<AffineExpr> indexOf(ArrayRef<AffineExpr> i) const {
    if (!strided)
      return SmallVector<AffineExpr>(i);
    SmallVector<AffineExpr> index(i.drop_back(2));
    index[*strided] = index[*strided] * rows + i[last + 1];
    index[last] = index[last] * columns + i[last + 2];
    return index;
  }

  std::optional<unsigned> strided;
  SmallVector<int64_t> extents;

private:
  unsigned last = 0;
  int64_t rows = 1, columns = 1;
};
} // namespace

void VectorEmitter::forEachElement(const LoopNest &nest, function_ref<void(ArrayRef<Index>)> body) {
  TiledLoops loops(nest);
  forEach(loops.extents, [&](ArrayRef<Index> i) { body(loops.indexOf(i)); });
}

int64_t VectorWalk::countFinishes(Operation *op) const {
  auto isInMemory = [&](Value value) { return places.isInMemory(value); };
  return cast<VectorFillOpInterface>(op).countTileKinds({unit, isInMemory});
}

void VectorWalk::forEachElement(const LoopNest &nest, Body body) {
  TiledLoops loops(nest);
  forEach(loops.extents, [&](ArrayRef<Index> i) { body(loops.indexOf(i)); });
}

/// Prefetches an element of a buffer. Its number may be outside of the buffer. Therefore the GEP
/// is not `inbounds`.
void VectorEmitter::prefetch(const Buffer &buffer, Index number) {
  Value address =
      make<LLVM::GEPOp>(LLVM::LLVMPointerType::get(builder.getContext()), buffer.elementType,
                        buffer.address, ValueRange(materialize(number)));
  make<LLVM::Prefetch>(address, /*write=*/0, /*locality=*/3, /*data=*/1);
}

static int64_t elementsPerLine(const KernelEmitter::Buffer &buffer) {
  return 512 / buffer.elementType.getIntOrFloatBitWidth();
}

/// Prefetches the next piece of the row, which is far from this one.
void VectorEmitter::beginPiece(Index number, const LoopRows &rows, int64_t elements,
                               ArrayRef<Buffer> streams) {
  const int64_t run = rows.runOf(elements);
  for (const Buffer &buffer : streams) {
    const int64_t line = elementsPerLine(buffer);
    sequence(llvm::divideCeil(run, line),
             [&](Index i) { prefetch(buffer, number + (rows.count * run + i * line)); });
  }
}

/// Prefetches the memory that the next tile, in the rows after this tile, will read and
/// write. The hardware prefetcher does not do it, because the rows of tiles are short
/// and far apart.
void VectorEmitter::endTile(ArrayRef<int64_t> shape, function_ref<Index(ArrayRef<Index>)> number,
                            ArrayRef<Buffer> streams) {
  if (shape.size() != 2)
    return;
  sequence(shape[0], [&](Index row) {
    for (const Buffer &buffer : streams) {
      for (int64_t column = 0; column < shape[1]; column += elementsPerLine(buffer))
        prefetch(buffer, number({row + shape[0], constant(column)}));
    }
  });
}
