// Loop rules of nn.dot: a blocked product, or for small products and integers
// a sum for each element.

#include "dialects/NN/IR/Contraction.h"
#include "dialects/NN/IR/Loops.h"
#include "dialects/NN/IR/MatrixProduct.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

static int64_t elementsAlong(Value tensor, ArrayRef<int64_t> dimensions) {
  int64_t count = 1;
  for (int64_t d : dimensions)
    count *= typeOf(tensor).getDimSize(d);
  return count;
}

static int64_t contractedElements(DotOp op) {
  return elementsAlong(op.getLhs(), op.getLhsContract());
}

int64_t DotOp::getElementCost() {
  return std::max<int64_t>(1, contractedElements(*this));
}

int64_t DotOp::getReadsPerElement(unsigned operand) {
  int64_t reads = 1;
  if (operand == 0)
    for (int64_t d : getRhsFree())
      reads *= typeOf(getRhs()).getDimSize(d);
  else
    for (int64_t d : getLhsFree())
      reads *= typeOf(getLhs()).getDimSize(d);
  return reads;
}

bool DotOp::isPushed() {
  return MatrixProduct::pays(typeOf(getResult()).getElementType(),
                             elementsAlong(getLhs(), getLhsFree()),
                             elementsAlong(getRhs(), getRhsFree()),
                             contractedElements(*this));
}

static SmallVector<int64_t> extentsOf(Value tensor,
                                      ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> extents;
  for (int64_t d : dimensions)
    extents.push_back(typeOf(tensor).getDimSize(d));
  return extents;
}

/// The distance in memory of neighbours when `dimensions` of `tensor` are
/// counted as one, row-major; nullopt when there is no one distance.
static std::optional<int64_t> strideAlong(Value tensor,
                                          ArrayRef<int64_t> dimensions) {
  ArrayRef<int64_t> shape = typeOf(tensor).getShape();
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  std::optional<int64_t> innermost;
  int64_t next = 0;
  for (int64_t d : llvm::reverse(dimensions)) {
    if (shape[d] == 1)
      continue;
    if (innermost && strides[d] != next)
      return std::nullopt;
    if (!innermost)
      innermost = strides[d];
    next = strides[d] * shape[d];
  }
  return innermost.value_or(1);
}

/// The matrix that `tensor` is in memory, if it is one: the element where the
/// batch dimensions have `positions` and the others are 0 is its first.
static StridedMatrix matrixIn(LoopEmitter &e, Value tensor,
                              ArrayRef<Index> positions, ArrayRef<int64_t> rows,
                              ArrayRef<int64_t> columns) {
  std::optional<int64_t> rowStride = strideAlong(tensor, rows),
                         columnStride = strideAlong(tensor, columns);
  Value address = e.getBuffer(tensor);
  if (!address || !rowStride || !columnStride)
    return {};
  SmallVector<Index> first(positions);
  for (ArrayRef<int64_t> dims : {rows, columns})
    for (int64_t d : dims)
      first[d] = e.constant(0);
  return {address, e.linearize(first, typeOf(tensor).getShape()), *rowStride,
          *columnStride};
}

LogicalResult DotOp::emitLoops(LoopEmitter &e) { return emitTiles(e, nullptr); }

// One matrix product a batch; several dimensions of a kind count as one.
LogicalResult DotOp::emitTiles(LoopEmitter &e, FinishTile finishTile) {
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  SmallVector<int64_t> batch = extentsOf(getLhs(), getLhsBatch()),
                       rowShape = extentsOf(getLhs(), lhsFree),
                       columnShape = extentsOf(getRhs(), rhsFree),
                       depthShape = extentsOf(getLhs(), getLhsContract());
  int64_t rows = elementsAlong(getLhs(), lhsFree),
          columns = elementsAlong(getRhs(), rhsFree),
          depth = contractedElements(*this),
          batches = elementsAlong(getLhs(), getLhsBatch());
  Value address = e.getBuffer(getResult());
  MatrixProduct product{typeOf(getResult()).getElementType(),
                        rows,
                        columns,
                        depth,
                        nullptr,
                        nullptr,
                        address,
                        e.constant(0),
                        columns};
  e.sequence(batches, [&](Index i) {
    SmallVector<Index> left(typeOf(getLhs()).getRank()),
        right(typeOf(getRhs()).getRank());
    auto place = [&](SmallVector<Index> &positions, ArrayRef<int64_t> dims,
                     Index number, ArrayRef<int64_t> shape) {
      for (auto [d, position] :
           llvm::zip_equal(dims, e.delinearize(number, shape)))
        positions[d] = position;
    };
    place(left, getLhsBatch(), i, batch);
    place(right, getRhsBatch(), i, batch);
    auto readA = [&](Index row, Index k) {
      place(left, lhsFree, row, rowShape);
      place(left, getLhsContract(), k, depthShape);
      return e.read(getLhs(), left);
    };
    auto readB = [&](Index k, Index column) {
      place(right, rhsFree, column, columnShape);
      place(right, getRhsContract(), k, depthShape);
      return e.read(getRhs(), right);
    };
    Index first = i * (rows * columns);
    auto finish = [&](Index row, int64_t height, Index column, int64_t across,
                      const StridedMatrix &tile) {
      finishTile({height, across}, [&](ArrayRef<Index> at) {
        Index number = first + (row + at[0]) * columns + column + at[1];
        if (!address)
          e.store(getResult(),
                  e.loadAt(tile.address, product.elementType,
                           tile.at(at[0], at[1])),
                  number);
        return number;
      });
    };
    product.readA = readA;
    product.readB = readB;
    product.first = first;
    product.a = matrixIn(e, getLhs(), left, lhsFree, getLhsContract());
    product.b = matrixIn(e, getRhs(), right, getRhsContract(), rhsFree);
    if (finishTile)
      product.finish = finish;
    product.emit(e);
  });
  return success();
}

Value DotOp::emitElementAt(LoopEmitter &e, unsigned,
                           const ElementIndex &index) {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  SmallVector<Index> left(lhs.getRank()), right(rhs.getRank());
  unsigned next = 0;
  for (auto [l, r] : llvm::zip_equal(getLhsBatch(), getRhsBatch()))
    left[l] = right[r] = index[next++];
  for (int64_t d : getLhsFree())
    left[d] = index[next++];
  for (int64_t d : getRhsFree())
    right[d] = index[next++];
  SmallVector<int64_t> extents;
  for (int64_t d : getLhsContract())
    extents.push_back(lhs.getDimSize(d));
  Combiner combiner(e, ReduceKind::sum, lhs.getElementType());
  Value sum = e.fold(
      extents, combiner.identity(), [&](ArrayRef<Index> k, ValueRange carried) {
        for (auto [i, l] : llvm::enumerate(getLhsContract()))
          left[l] = k[i];
        for (auto [i, r] : llvm::enumerate(getRhsContract()))
          right[r] = k[i];
        Value x = combiner.widen(e.read(getLhs(), left)),
              y = combiner.widen(e.read(getRhs(), right));
        return Values{combiner.accumulateProduct(carried[0], x, y)};
      })[0];
  return combiner.narrow(sum);
}
