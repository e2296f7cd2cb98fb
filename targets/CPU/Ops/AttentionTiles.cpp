// Code that the kernels of attention and of its gradient share: copies of
// operands, products of blocks, visible keys, and masks.

#include "targets/CPU/Ops/AttentionTiles.h"

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/SumTypes.h"
#include "targets/CPU/Vectors/RegisterTile.h"
#include "targets/CPU/Vectors/TileGrid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

AttentionTiles::AttentionTiles(VectorEmitter &emitter, Type factorType, const AttentionShape &shape,
                               Value mask, ArrayRef<int64_t> maskDimensions, double scale)
    : AttentionSizes(emitter, factorType, shape, mask, maskDimensions,
                     [&](Value value) { return emitter.isInMemory(value); }),
      e(emitter), factorType(factorType), code(emitter, format.elementType), scale(scale),
      mask(mask), maskDimensions(maskDimensions) {
  if (maskElements != VectorFormat::kNone)
    maskCopy = code.scratch(maskElements);
  else if (mask)
    maskAddress = e.getBuffer(mask);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void AttentionTiles::setBatch(Index number) { batch = e.delinearize(number, shape.batch); }

StridedMatrix AttentionTiles::matrixOf(Value tensor) const {
  ArrayRef<int64_t> extents = typeOf(tensor).getShape();
  SmallVector<Index> first(batch);
  first.insert(first.begin() + shape.rows, e.constant(0));
  first.push_back(e.constant(0));
  return {e.getBuffer(tensor), e.linearize(first, extents), rowMajorStrides(extents)[shape.rows],
          1};
}

Value AttentionTiles::readElement(Value tensor, Index row, Index element) {
  SmallVector<Index> at(batch);
  at.insert(at.begin() + shape.rows, row);
  at.push_back(element);
  return e.read(tensor, at);
}

AttentionTiles::Rows AttentionTiles::makeRows(int64_t count, int64_t elements, bool isOfPairs) {
  int64_t points = MatrixPacker::countPoints(elements, isOfPairs), all = countOfRows(count, points);
  Rows rows{code.scratch(all), rowStride(points), isOfPairs};
  code.fillZero(rows.address, all);
  return rows;
}

void AttentionTiles::copyRows(const Rows &to, Value tensor, int64_t count, int64_t elements,
                              double factor) {
  StridedMatrix from = matrixOf(tensor);
  if (to.isOfPairs)
    return copyPairs(to, tensor, count, elements);
  if (!from) {
    Value scalar = e.constantLike(code.elementType, factor);
    e.forEach({count, elements}, [&](ArrayRef<Index> i) {
      Value element = code.widened(readElement(tensor, i[0], i[1]));
      e.storeAt(to.address, multiplied(element, scalar), i[0] * to.stride + i[1]);
    });
    return;
  }
  Value vector = splatOf(factor);
  e.sequence(count, [&](Index row) {
    auto copy = [&](Index element, int64_t lanes) {
      Value x =
          code.loadAs(factorType, code.at(from.address, from.at(row, element), factorType), lanes);
      code.store(factor == 1 ? x : multiplied(x, vector),
                 code.at(to.address, row * to.stride + element));
    };
    int64_t whole = elements / code.lanes;
    e.sequence(whole, [&](Index i) { copy(i * code.lanes, code.lanes); });
    if (elements % code.lanes)
      copy(e.constant(whole * code.lanes), elements % code.lanes);
  });
}

void AttentionTiles::copyPairs(const Rows &to, Value tensor, int64_t count, int64_t elements) {
  StridedMatrix from = matrixOf(tensor);
  if (!from) {
    auto copy = [&](Index row, Index point, bool isHalf) {
      Value lower = readElement(tensor, row, point * 2);
      Value upper = isHalf ? Value() : readElement(tensor, row, point * 2 + 1);
      e.storeAt(to.address, code.pairOf(lower, upper), row * to.stride + point);
    };
    e.forEach({count, elements / 2}, [&](ArrayRef<Index> i) { copy(i[0], i[1], false); });
    if (elements % 2)
      e.forEach({count}, [&](ArrayRef<Index> i) { copy(i[0], e.constant(elements / 2), true); });
    return;
  }
  e.sequence(count, [&](Index row) {
    inBlocks(e, elements, 2 * code.lanes, [&](Index element, int64_t some) {
      Value address = code.at(from.address, from.at(row, element), factorType);
      Value pairs =
          e.make<LLVM::BitcastOp>(code.type, code.loadBits(address, some, 2 * code.lanes));
      code.store(pairs, code.at(to.address, row * to.stride + e.floorDiv(element, 2)));
    });
  });
}

Value AttentionTiles::makePanels(int64_t elements) {
  Value address = code.scratch(countOfPackedPanels(elements));
  code.fillZero(address, countOfPanels(elements));
  return address;
}

void AttentionTiles::packPanels(Value to, Value tensor, int64_t elements) {
  MatrixPacker packer(code, factorType, inPairs);
  StridedMatrix from = matrixOf(tensor);
  auto read = [&](Index key, Index element) { return readElement(tensor, key, element); };
  int64_t whole = shape.keys / width, rest = shape.keys % width;
  packer.pack(to, {e.constant(0), e.constant(0), whole, width, width}, elements, from, read);
  if (rest)
    packer.pack(to, {e.constant(whole), e.constant(whole * width), 1, rest, width}, elements, from,
                read);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Values AttentionTiles::multiply(const Rows &rows, Index first, int64_t height, Value panelsOf,
                                Index panel, int64_t elements) {
  Value address = code.at(rows.address, first * rows.stride);
  Values addresses;
  for (int64_t r = 0; r < height; ++r)
    addresses.push_back(code.at(address, e.constant(r * rows.stride)));
  int64_t vectors = width / code.lanes;
  RegisterTile tile{addresses,
                    code.at(panelsOf, panel * (width * pointsOf(elements))),
                    RegisterTile::sideBySide(code, vectors),
                    {{pointsOf(elements), 1, width}}};
  tile.isOfPairs = inPairs;
  return tile.emit(code, Values(height * vectors, code.zero()));
}

Values AttentionTiles::multiplyScaled(const Rows &rows, Index first, int64_t height, Value panelsOf,
                                      Index panel, int64_t elements) {
  Values tile = multiply(rows, first, height, panelsOf, panel, elements);
  if (!inPairs || scale == 1)
    return tile;
  Value factor = splatOf(scale);
  for (Value &scores : tile)
    scores = multiplied(scores, factor);
  return tile;
}

Values AttentionTiles::addPoints(const Sum &sum, int64_t count, Values sums) {
  Values addresses;
  for (int64_t r = 0; r < sum.height; ++r)
    addresses.push_back(code.at(sum.weights, e.constant(r * sum.rowStep)));
  RegisterTile tile{addresses,
                    sum.vectors,
                    RegisterTile::sideBySide(code, sum.vectorCount),
                    {{count, sum.pointStep, sum.stride}}};
  return tile.emit(code, std::move(sums));
}

Values AttentionTiles::addUnits(const Sum &sum, Value first, Value end, int64_t most, Values sums) {
  return e.loopBetween(first, end, most, sums, [&](Index i, ValueRange now) {
    Sum part = sum;
    part.weights = code.at(sum.weights, i * (unit * sum.pointStep));
    part.vectors = code.at(sum.vectors, i * (unit * sum.stride));
    return addPoints(part, unit, Values(now));
  });
}

//===----------------------------------------------------------------------===//
// Visible keys
//===----------------------------------------------------------------------===//

AttentionTiles::Seen AttentionTiles::keysSeenBy(Index query, int64_t count) const {
  if (!shape.causal)
    return {e.constant(shape.keys / width), e.constant(panels)};
  Index first = query + shape.offset() + 1, last = first + (count - 1);
  return {e.floorDiv(first, width), e.floorDiv(last + (width - 1), width)};
}

void AttentionTiles::forEachPanel(const Seen &seen, function_ref<void(Index, bool)> body) {
  auto between = [&](Index first, Index end, bool isCut) {
    e.loopBetween(e.materialize(first), e.materialize(end), panels, {},
                  [&](Index panel, ValueRange) {
                    body(panel, isCut);
                    return Values();
                  });
  };
  if (e.rangeOf(seen.whole).second > 0)
    between(e.constant(0), seen.whole, false);
  if (shape.causal)
    between(seen.whole, seen.end, true);
  else if (shape.keys % width)
    body(e.constant(shape.keys / width), true);
}

Value AttentionTiles::sees(Index query, Index key) {
  auto type = VectorType::get({code.lanes}, e.builder.getI32Type());
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, code.lanes));
  Value lanes = e.make<arith::ConstantOp>(DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  Index last = shape.causal ? query + shape.offset() - key : e.constant(shape.keys - 1) - key;
  Value limit = e.make<arith::TruncIOp>(e.builder.getI32Type(), e.materialize(last));
  Value none = e.make<LLVM::PoisonOp>(type);
  Value first = e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(0));
  Value limits = e.make<LLVM::ShuffleVectorOp>(e.make<LLVM::InsertElementOp>(none, limit, first),
                                               none, SmallVector<int32_t>(code.lanes, 0));
  return e.make<arith::CmpIOp>(arith::CmpIPredicate::sle, lanes, limits);
}

//===----------------------------------------------------------------------===//
// The mask
//===----------------------------------------------------------------------===//

Index AttentionTiles::maskNumber(Index query, Index key) const {
  SmallVector<Index> at(batch), own;
  at.append({query, key});
  for (int64_t d : maskDimensions)
    own.push_back(at[d]);
  return e.linearize(own, typeOf(mask).getShape());
}

void AttentionTiles::prepareMask(Index query, int64_t count) {
  if (!maskCopy)
    return;
  firstOfCopy = query;
  e.forEach({count, shape.keys}, [&](ArrayRef<Index> i) {
    ElementIndex at(e, typeOf(mask).getShape(), maskNumber(query + i[0], i[1]));
    e.storeAt(maskCopy, code.widened(e.read(mask, at)), i[0] * scoreStride + i[1]);
  });
}

Value AttentionTiles::addMask(Value scores, Index query, Index key) {
  if (!mask)
    return scores;
  if (!maskAddress)
    return code.add(scores,
                    code.load(code.at(maskCopy, (query - firstOfCopy) * scoreStride + key)));
  Type type = typeOf(mask).getElementType();
  Value address = code.at(maskAddress, maskNumber(query, key), type);
  return code.add(scores, code.loadAs(type, address, code.lanes));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value AttentionTiles::splatOf(double value) {
  return e.make<arith::ConstantOp>(
      DenseElementsAttr::get(code.type, e.builder.getFloatAttr(code.elementType, value)));
}

// Only the exponential of f32 has vector code. The exponentials of f64 are computed
// lane by lane.
Value AttentionTiles::exponential(Value x) {
  if (code.elementType.isF32())
    return e.make<math::ExpOp>(x);
  Value result = e.make<LLVM::PoisonOp>(code.type);
  for (int64_t lane = 0; lane < code.lanes; ++lane) {
    Value number = e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(lane));
    Value element = e.make<LLVM::ExtractElementOp>(x, number);
    result = e.make<LLVM::InsertElementOp>(result, e.make<math::ExpOp>(element), number);
  }
  return result;
}

Value AttentionTiles::multiplied(Value x, Value y) { return e.make<arith::MulFOp>(x, y); }

Value AttentionTiles::subtracted(Value x, Value y) { return e.make<arith::SubFOp>(x, y); }
