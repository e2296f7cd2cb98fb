// Copies the factors of matrix products into tiles.

#include "targets/CPU/Vectors/MatrixPacking.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

void MatrixPacker::clear(Value packed, Index tile, int64_t first, int64_t stride, int64_t depth) {
  Value zero = code.zero();
  int64_t points = getPoints(depth);
  e.sequence(points, [&](Index k) {
    code.store(zero, code.at(packed, (tile * points + k) * stride + first));
  });
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// Loads a vector of `count` neighbouring elements, and converts it to the type
/// of the sums.
Value MatrixPacker::loadElements(const StridedMatrix &from, Index number, int64_t count) {
  Value address = code.at(from.address, number, factorType);
  if (factorType == code.elementType)
    return code.loadShort(address, count);
  Value vector = code.loadAs(factorType, address, count);
  return count < code.lanes ? code.firstLanes(vector, count) : vector;
}

/// Loads point `point` of `count` neighbouring lanes. `isHalf` says that the
/// point is a pair without a second element.
Value MatrixPacker::loadAcross(const StridedMatrix &from, Index lane, Index point, int64_t count,
                               bool isHalf) {
  if (!inPairs)
    return loadElements(from, from.at(lane, point), count);
  auto address = [&](Index k) { return code.at(from.address, from.at(lane, k), factorType); };
  Value vector =
      code.loadPairs(address(point * 2), isHalf ? Value() : address(point * 2 + 1), count);
  return count < code.lanes ? code.firstLanes(vector, count) : vector;
}

/// Loads the points that `depth` elements of one lane form, from element `number` on.
/// Loads at most a vector.
Value MatrixPacker::loadAlong(const StridedMatrix &from, Index number, int64_t depth) {
  if (!inPairs)
    return loadElements(from, number, depth);
  Value address = code.at(from.address, number, factorType);
  return e.make<LLVM::BitcastOp>(code.type, code.loadBits(address, depth, 2 * code.lanes));
}

Value MatrixPacker::readPoint(ReadElement read, Index lane, Index point, bool isHalf) {
  if (!inPairs) {
    Value element = read(lane, point);
    return factorType == code.elementType ? element
                                          : e.make<arith::ExtFOp>(code.elementType, element);
  }
  Value lower = read(lane, point * 2);
  return code.pairOf(lower, isHalf ? Value() : read(lane, point * 2 + 1));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void MatrixPacker::pack(Value packed, const TileRun &run, int64_t depth, const StridedMatrix &from,
                        ReadElement read) {
  if (run.count <= 0)
    return;
  if (from && from.rowStride == 1)
    return copy(packed, run, depth, from);
  if (from && from.columnStride == 1 && depth >= code.lanes)
    return transpose(packed, run, depth, from, read);
  int64_t points = getPoints(depth), whole = inPairs ? depth / 2 : depth;
  e.forEach({run.count, whole, run.width}, [&](ArrayRef<Index> i) {
    Index number = ((run.tile + i[0]) * points + i[1]) * run.stride + i[2];
    e.storeAt(packed, readPoint(read, run.lane + i[0] * run.width + i[2], i[1], false), number);
  });
  if (whole < points)
    e.forEach({run.count, run.width}, [&](ArrayRef<Index> i) {
      Index number = ((run.tile + i[0]) * points + whole) * run.stride + i[1];
      Index lane = run.lane + i[0] * run.width + i[1];
      e.storeAt(packed, readPoint(read, lane, e.constant(whole), true), number);
    });
}

// Copies a factor whose lanes are contiguous. Each iteration of the outer loop copies
// one or four points of all tiles. Tiles that share a cache line of the factor are
// therefore copied shortly after each other, while the line is in cache.
void MatrixPacker::copy(Value packed, const TileRun &run, int64_t depth,
                        const StridedMatrix &from) {
  int64_t points = getPoints(depth), whole = inPairs ? depth / 2 : depth;
  int64_t together = whole % 4 == 0 ? 4 : 1, each = inPairs ? 2 : 1;
  auto copyPoint = [&](Index tile, Index k, bool isHalf) {
    for (int64_t lane = 0; lane < run.width; lane += code.lanes) {
      Value vector = loadAcross(from, run.lane + tile * run.width + lane, k,
                                std::min(code.lanes, run.width - lane), isHalf);
      code.store(vector, code.at(packed, ((run.tile + tile) * points + k) * run.stride + lane));
    }
  };
  e.sequence(whole / together, [&](Index group) {
    e.sequence(run.count, [&](Index tile) {
      for (int64_t u = 0; u < together; ++u) {
        Index k = group * together + u;
        // Rows may be in different pages, so each row is prefetched.
        for (int64_t i = 0; i < each; ++i)
          code.prefetch(from.address, from.at(run.lane + tile * run.width, k * each + i + 12), 3,
                        factorType);
        copyPoint(tile, k, /*isHalf=*/false);
      }
    });
  });
  if (whole < points)
    e.sequence(run.count, [&](Index tile) { copyPoint(tile, e.constant(whole), /*isHalf=*/true); });
}

void MatrixPacker::transpose(Value packed, const TileRun &run, int64_t depth,
                             const StridedMatrix &from, ReadElement read) {
  int64_t lanes = code.lanes, points = getPoints(depth), each = inPairs ? 2 : 1;
  // If a tile is at most as wide as a vector, stores overlap. A store may then write
  // wrong elements after the width of the tile, which the next store overwrites with
  // the right values.
  bool overlap = run.width <= lanes;
  Value zero = code.zero();
  int64_t squares = depth / (lanes * each), whole = squares * lanes;
  auto square = [&](Index lane, Index to, Index first, int64_t elements) {
    int64_t height = getPoints(elements);
    for (int64_t left = 0; left < run.width; left += lanes) {
      int64_t count = std::min(lanes, run.width - left);
      Values rows(lanes, zero);
      for (int64_t r = 0; r < count; ++r)
        rows[r] = loadAlong(from, from.at(lane + left + r, first * each), elements);
      Values columns = code.transposed(rows);
      for (int64_t k = 0; k < height; ++k)
        code.store(count < lanes && !overlap ? code.firstLanes(columns[k], count) : columns[k],
                   code.at(packed, (to + first + k) * run.stride + left));
    }
  };
  e.sequence(run.count, [&](Index tile) {
    Index lane = run.lane + tile * run.width, to = (run.tile + tile) * points;
    e.sequence(squares, [&](Index i) { square(lane, to, i * lanes, lanes * each); });
    if (points == whole)
      return;
    if (inPairs)
      return square(lane, to, e.constant(whole), depth - whole * each);
    e.forEach({points - whole, run.width}, [&](ArrayRef<Index> i) {
      e.storeAt(packed, readPoint(read, lane + i[1], i[0] + whole, false),
                (to + whole + i[0]) * run.stride + i[1]);
    });
  });
}
