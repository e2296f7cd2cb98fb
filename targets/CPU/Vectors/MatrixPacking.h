#ifndef DPC_TARGETS_CPU_VECTORS_MATRIXPACKING_H
#define DPC_TARGETS_CPU_VECTORS_MATRIXPACKING_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc {

/// A matrix in memory. Its element (i, j) is first + i * rowStride + j * columnStride
/// elements after `address`. If `address` is null, the matrix is not in memory, and its
/// other members mean nothing.
struct StridedMatrix {
  mlir::Value address;
  LoopEmitter::Index first;
  int64_t rowStride = 0, columnStride = 0;

  explicit operator bool() const { return bool(address); }
  LoopEmitter::Index at(LoopEmitter::Index i, LoopEmitter::Index j) const {
    return first + i * rowStride + j * columnStride;
  }
};

/// Consecutive tiles of a packed factor of a matrix product. A tile has `width`
/// lanes, which are rows of A or columns of B. It has one point for each element
/// along the depth, or for each pair of elements. Lane l of tile t at point k is
/// element (t * points + k) * `stride` + l. Lanes after the width are undefined.
struct TileRun {
  /// The first tile, the lane of the factor with which it begins, and the number of
  /// tiles.
  LoopEmitter::Index tile, lane;
  int64_t count;
  /// The number of lanes of each tile, and the distance in elements from one point
  /// to the next.
  int64_t width, stride;
};

/// Copies factors of matrix products into tiles. If a factor is in memory and its
/// lanes are contiguous, it is copied in vectors. If it is in memory and contiguous
/// along the depth, it is transposed in registers, one square of vectors at a time.
/// This needs a depth of at least a vector. All other factors are copied element by
/// element.
///
/// Factors of a 16-bit type are widened to the type of the sums. If `inPairs` is
/// set, factors of bf16 are stored in pairs instead: a point has two neighbours
/// along the depth in 32 bits, with the first in the lower half. If the depth is
/// odd, the last point has a zero in the upper half.
class MatrixPacker {
public:
  using Index = LoopEmitter::Index;
  using ReadElement = llvm::function_ref<mlir::Value(Index lane, Index k)>;

  explicit MatrixPacker(VectorCode &code) : MatrixPacker(code, code.elementType, false) {}
  MatrixPacker(VectorCode &code, mlir::Type factorType, bool inPairs)
      : code(code), e(code.e), factorType(factorType), inPairs(inPairs) {}

  /// Packs `depth` elements of each lane to the tiles of `run` in `packed`. `from`
  /// has one row per lane and one column per element along the depth. `read` emits the
  /// value of one element; it is called for elements that are not copied in vectors.
  void pack(mlir::Value packed, const TileRun &run, int64_t depth, const StridedMatrix &from,
            ReadElement read);
  /// Writes zeros to a vector of lanes of tile `tile`, from lane `first` on, at all
  /// points.
  void clear(mlir::Value packed, Index tile, int64_t first, int64_t stride, int64_t depth);
  /// The number of elements after the last tile that `pack` may overwrite.
  static int64_t slackOf(const VectorFormat &format) { return format.lanes; }
  /// The number of points for `depth` elements along the depth.
  static int64_t countPoints(int64_t depth, bool inPairs) {
    return inPairs ? (depth + 1) / 2 : depth;
  }
  int64_t getPoints(int64_t depth) const { return countPoints(depth, inPairs); }

private:
  void copy(mlir::Value packed, const TileRun &run, int64_t depth, const StridedMatrix &from);
  void transpose(mlir::Value packed, const TileRun &run, int64_t depth, const StridedMatrix &from,
                 ReadElement read);
  mlir::Value loadElements(const StridedMatrix &from, Index number, int64_t count);
  mlir::Value loadAcross(const StridedMatrix &from, Index lane, Index point, int64_t count,
                         bool isHalf);
  mlir::Value loadAlong(const StridedMatrix &from, Index number, int64_t depth);
  mlir::Value readPoint(ReadElement read, Index lane, Index point, bool isHalf);

  VectorCode &code;
  VectorEmitter &e;
  mlir::Type factorType;
  bool inPairs;
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_MATRIXPACKING_H
