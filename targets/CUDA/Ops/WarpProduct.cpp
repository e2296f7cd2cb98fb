// Emits products of a warp whose factor A and whose sums are in registers.

#include "targets/CUDA/Ops/WarpProduct.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

WarpProduct::WarpProduct(GridEmitter &emitter, TileUnit unit, Type factor, Index thread)
    : e(emitter), unit(unit), factor(factor), matrix(emitter, unit, factor), thread(thread) {}

SliceLayout WarpProduct::layoutOf(int64_t lines, int64_t elements) const {
  return SliceLayout::forRows(lines, elements, factor.getIntOrFloatBitWidth() / 8);
}

Value WarpProduct::round(Value element) const {
  return unit == TileUnit::tf32 ? matrix.roundToTf32(element) : element;
}

Values WarpProduct::toFactors(ValueRange fragment) const {
  return roundsCopies() ? Values(fragment) : matrix.toFactors(fragment);
}

Values WarpProduct::getZeros(int64_t columns) const {
  return Values(static_cast<size_t>(countSums(columns)), e.constantLike(e.builder.getF32Type(), 0));
}

//===----------------------------------------------------------------------===//
// Addresses and fragments of A
//===----------------------------------------------------------------------===//

// Four matrices are loaded at once, and each group of eight lanes has the addresses of one of
// them. The matrices of A are neighbours along the rows first, then along the depth.
WarpProduct::Source WarpProduct::rowsOf(const Slice &slice, Index firstRow) const {
  const Index lane = matrix.lane(thread);
  return {slice,
          addressOf(slice, firstRow + e.mod(lane, kRows), e.floorDiv(lane, kRows) * chunk())};
}

// Those of B are neighbours along the depth first, then along the columns.
WarpProduct::Source WarpProduct::columnsOf(const Slice &slice) const {
  const Index lane = matrix.lane(thread);
  return {slice, addressOf(slice, e.mod(lane, 8) + e.floorDiv(lane, 16) * 8,
                           e.mod(e.floorDiv(lane, 8), 2) * chunk())};
}

WarpProduct::Source WarpProduct::depthOf(const Slice &slice, Index firstColumn,
                                         int64_t columns) const {
  const Index lane = matrix.lane(thread);
  // The elements of f32 are no pairs that ldmatrix could transpose, so each lane loads its own
  // ones: from lines 2 inQuad and 2 inQuad + 1, where it has sums of the same columns.
  if (isTf32(unit))
    return {slice, addressOf(slice, matrix.inQuad(thread) * 2,
                             firstColumn + matrix.quad(thread) * neighboursOf(columns))};
  return {slice, addressOf(slice, e.mod(lane, kRows), firstColumn + e.floorDiv(lane, kRows) * 8)};
}

Values WarpProduct::loadRows(const Source &rows, int64_t step) const {
  return matrix.loadMatrices(rows.slice.pointerTo(nullptr, rows.address, step * matrix.depth, 0), 4,
                             /*isTransposed=*/false);
}

WarpProduct::Fragments WarpProduct::loadRows(const Source &rows) const {
  Fragments fragments;
  for (int64_t step = 0; step < countSteps(rows.slice); ++step)
    fragments.push_back(loadRows(rows, step));
  return fragments;
}

// A lane has sums of row quad and of row quad + 8, in columns 2 inQuad and 2 inQuad + 1 of each
// matrix of 8 columns.
WarpProduct::Fragments WarpProduct::toFactor(ValueRange sums) const {
  Fragments fragments;
  const auto count = static_cast<int64_t>(sums.size());
  auto sum = [&](int64_t number) { return sums[static_cast<size_t>(number)]; };
  if (isTf32(unit)) {
    // Elements inQuad and inQuad + 4 along the depth stand for columns 2 inQuad and 2 inQuad + 1.
    for (int64_t first = 0; first < count; first += 4) {
      Values fragment;
      for (int64_t number : {0, 2, 1, 3})
        fragment.push_back(round(sum(first + number)));
      fragments.push_back(fragment);
    }
    return fragments;
  }
  for (int64_t first = 0; first < count; first += 8) {
    Values fragment;
    for (int64_t number = 0; number < 8; number += 2)
      fragment.push_back(
          MatrixUnit::packHalves(e, factor, sum(first + number), sum(first + number + 1)));
    fragments.push_back(fragment);
  }
  return fragments;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void WarpProduct::multiplyInto(MutableArrayRef<Value> sums, int64_t column, ValueRange left,
                               ValueRange right, bool isShort) const {
  MutableArrayRef<Value> own =
      sums.slice(static_cast<size_t>(column * matrix.sums), static_cast<size_t>(matrix.sums));
  llvm::copy(matrix.multiply(left, right, ValueRange(ArrayRef<Value>(own)), isShort), own.begin());
}

Values WarpProduct::addColumns(function_ref<Values(int64_t)> fragmentOf, const Source &columns,
                               Value stage, ValueRange before) const {
  Values sums(before);
  for (int64_t step = 0; step < countSteps(columns.slice); ++step) {
    const Values left = toFactors(fragmentOf(step));
    for (int64_t column = 0; column < columns.slice.layout.extent; column += kAlignment) {
      Values words = matrix.loadMatrices(
          columns.slice.pointerTo(stage, columns.address, step * matrix.depth, column), 4,
          /*isTransposed=*/false);
      for (int64_t n = 0; n < 2; ++n)
        multiplyInto(sums, column / matrix.columns + n, left,
                     toFactors(ArrayRef(words).slice(static_cast<size_t>(2 * n), 2)),
                     /*isShort=*/true);
    }
  }
  return sums;
}

int64_t WarpProduct::neighboursOf(int64_t columns) const {
  return !isTf32(unit) ? 1 : columns % 32 == 0 ? 4 : 2;
}

Values WarpProduct::addDepth(const Fragments &a, const Source &depth, Value stage,
                             ValueRange before) const {
  Values sums(before);
  const int64_t columns = static_cast<int64_t>(sums.size()) * LaunchPlan::kWarp / kRows,
                neighbours = neighboursOf(columns);
  for (auto [number, fragment] : llvm::enumerate(a)) {
    const Values left = toFactors(fragment);
    const int64_t line = static_cast<int64_t>(number) * matrix.depth;
    if (!isTf32(unit)) {
      for (int64_t column = 0; column < columns; column += kAlignment) {
        Values words =
            matrix.loadMatrices(depth.slice.pointerTo(stage, depth.address, column, line), 4,
                                /*isTransposed=*/true);
        for (int64_t n = 0; n < 2; ++n)
          multiplyInto(sums, column / matrix.columns + n, left,
                       ValueRange(ArrayRef(words).slice(static_cast<size_t>(2 * n), 2)));
      }
      continue;
    }
    // Column `quad` of matrix number n stands for column quad * neighbours + n, so that a lane
    // loads vectors.
    for (int64_t column = 0; column < columns; column += neighbours * matrix.columns) {
      Value vectors[2];
      for (int64_t n : {0, 1})
        vectors[n] = depth.slice.loadVector(neighbours, stage, depth.address, column, line + n);
      for (int64_t n = 0; n < neighbours; ++n) {
        Values right;
        for (Value vector : vectors)
          right.push_back(e.make<LLVM::ExtractElementOp>(vector, e.materialize(e.constant(n))));
        multiplyInto(sums, column / matrix.columns + n, left, toFactors(right));
      }
    }
  }
  return sums;
}

void WarpProduct::forEachPiece(int64_t columns, ValueRange sums,
                               function_ref<void(int64_t, Index, ValueRange)> body) const {
  const int64_t neighbours = neighboursOf(columns);
  // Columns 2 inQuad and 2 inQuad + 1 of `neighbours` matrices are neighbours.
  for (int64_t row : {0, 1})
    for (int64_t column = 0; column < columns; column += neighbours * matrix.columns) {
      Values piece;
      for (int64_t n = 0; n < 2 * neighbours; ++n)
        piece.push_back(sums[static_cast<size_t>(
            (column / matrix.columns + n % neighbours) * matrix.sums + row * 2 + n / neighbours)]);
      body(row, matrix.inQuad(thread) * (2 * neighbours) + column, piece);
    }
}
