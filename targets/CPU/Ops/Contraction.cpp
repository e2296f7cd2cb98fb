// Fill rule of nn.dot, as one blocked matrix product per batch element.

#include "dialects/NN/IR/Contraction.h"
#include "targets/CPU/Ops/MatrixProduct.h"
#include "targets/CPU/Ops/Ops.h"
#include "targets/CPU/Vectors/VectorFill.h"
#include "targets/Loops/Combiner.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

static int64_t elementsAlong(Value tensor, ArrayRef<int64_t> dimensions) {
  return ShapedType::getNumElements(extentsOf(tensor, dimensions));
}

/// Loads an element of a tile of C in scratch memory, and rounds it to the type of
/// the result.
static Value elementOf(VectorEmitter &e, const MatrixProduct &product, const StridedMatrix &tile,
                       ArrayRef<Index> at) {
  Value sum = e.loadAt(tile.address, product.getSumType(), tile.at(at[0], at[1]));
  if (product.resultType == product.getSumType())
    return sum;
  return e.make<arith::TruncFOp>(product.resultType, sum);
}

namespace {
/// The strides of `tensor` as a matrix in memory. A stride exists if its dimensions
/// can be treated as one dimension. Whether the tensor is in memory is not checked.
struct MatrixStrides {
  std::optional<int64_t> row, column;

  MatrixStrides(Value tensor, ArrayRef<int64_t> rows, ArrayRef<int64_t> columns)
      : row(strideAlong(tensor, rows)), column(strideAlong(tensor, columns)) {}
  explicit operator bool() const { return row && column; }
};
} // namespace

/// `tensor` as a matrix in memory, whose rows are the dimensions `rows` and whose
/// columns are the dimensions `columns`. `positions` has one position per dimension;
/// only those along batch dimensions matter. No address if the tensor is not in memory,
/// or if several dimensions cannot be treated as one.
static StridedMatrix matrixIn(VectorEmitter &e, Value tensor, ArrayRef<Index> positions,
                              ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) {
  MatrixStrides strides(tensor, rows, columns);
  Value address = e.getBuffer(tensor);
  if (!address || !strides)
    return {};
  SmallVector<Index> first(positions);
  for (ArrayRef<int64_t> dims : {rows, columns})
    for (int64_t d : dims)
      first[d] = e.constant(0);
  return {address, e.linearize(first, typeOf(tensor).getShape()), *strides.row, *strides.column};
}

namespace {
struct DotFill : VectorFillRule<DotFill, DotOp> {
  bool pays(Operation *self) const {
    auto op = cast<DotOp>(self);
    return MatrixProduct::pays(
        typeOf(op.getLhs()).getElementType(), typeOf(op.getResult()).getElementType(),
        elementsAlong(op.getLhs(), op.getLhsFree()), elementsAlong(op.getRhs(), op.getRhsFree()),
        elementsAlong(op.getLhs(), op.getLhsContract()));
  }
  bool makesTiles(Operation *) const { return true; }

  static ProductBlocks blocksOf(DotOp op, const VectorSite &site) {
    SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
    MatrixStrides a(op.getLhs(), lhsFree, op.getLhsContract()),
        b(op.getRhs(), op.getRhsContract(), rhsFree);
    bool hasA = a && site.isInMemory(op.getLhs()), hasB = b && site.isInMemory(op.getRhs());
    ProductShape product{typeOf(op.getLhs()).getElementType(),
                         typeOf(op.getResult()).getElementType(),
                         elementsAlong(op.getLhs(), lhsFree),
                         elementsAlong(op.getRhs(), rhsFree),
                         elementsAlong(op.getLhs(), op.getLhsContract()),
                         hasA,
                         hasB,
                         hasB && *b.column == 1,
                         site.isInMemory(op.getResult())};
    return ProductBlocks(product, site.unit);
  }
  ScratchSizes scratch(DotOp op, const VectorSite &site) const {
    return blocksOf(op, site).getScratch();
  }
  int64_t tileKinds(DotOp op, const VectorSite &site) const {
    return blocksOf(op, site).countTileKinds();
  }

  void fill(DotOp op, VectorEmitter &e) const { tiles(op, e, nullptr); }

  // Emits one matrix product per batch element. Several dimensions of rows are treated
  // as one dimension; so are several of columns, and several contracted dimensions.
  void tiles(DotOp op, VectorEmitter &e, FinishTile finishTile) const {
    SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
    SmallVector<int64_t> batch = extentsOf(op.getLhs(), op.getLhsBatch()),
                         rowShape = extentsOf(op.getLhs(), lhsFree),
                         columnShape = extentsOf(op.getRhs(), rhsFree),
                         depthShape = extentsOf(op.getLhs(), op.getLhsContract());
    int64_t rows = elementsAlong(op.getLhs(), lhsFree),
            columns = elementsAlong(op.getRhs(), rhsFree),
            depth = elementsAlong(op.getLhs(), op.getLhsContract()),
            batches = elementsAlong(op.getLhs(), op.getLhsBatch());
    Value address = e.getBuffer(op.getResult());
    MatrixProduct product{typeOf(op.getLhs()).getElementType(),
                          typeOf(op.getResult()).getElementType(),
                          rows,
                          columns,
                          depth,
                          nullptr,
                          nullptr,
                          address,
                          e.constant(0),
                          columns};
    e.sequence(batches, [&](Index i) {
      SmallVector<Index> left(typeOf(op.getLhs()).getRank()), right(typeOf(op.getRhs()).getRank());
      auto place = [&](SmallVector<Index> &positions, ArrayRef<int64_t> dims, Index number,
                       ArrayRef<int64_t> shape) {
        for (auto [d, position] : llvm::zip_equal(dims, e.delinearize(number, shape)))
          positions[d] = position;
      };
      place(left, op.getLhsBatch(), i, batch);
      place(right, op.getRhsBatch(), i, batch);
      auto readA = [&](Index row, Index k) {
        place(left, lhsFree, row, rowShape);
        place(left, op.getLhsContract(), k, depthShape);
        return e.read(op.getLhs(), left);
      };
      auto readB = [&](Index k, Index column) {
        place(right, rhsFree, column, columnShape);
        place(right, op.getRhsContract(), k, depthShape);
        return e.read(op.getRhs(), right);
      };
      Index first = i * (rows * columns);
      auto finish = [&](Index row, int64_t height, Index column, int64_t across,
                        const StridedMatrix &tile) {
        finishTile({height, across}, [&](ArrayRef<Index> at) {
          Index number = first + (row + at[0]) * columns + column + at[1];
          if (!address)
            e.store(op.getResult(), elementOf(e, product, tile, at), number);
          return number;
        });
      };
      product.readA = readA;
      product.readB = readB;
      product.first = first;
      product.a = matrixIn(e, op.getLhs(), left, lhsFree, op.getLhsContract());
      product.b = matrixIn(e, op.getRhs(), right, op.getRhsContract(), rhsFree);
      if (finishTile)
        product.finish = finish;
      product.emit(e);
    });
  }
};
} // namespace

void dpc::attachContractionFills(MLIRContext &context) { DotOp::attachInterface<DotFill>(context); }
