#ifndef DPC_TARGETS_CPU_VECTORS_MATRIXPACKING_H
#define DPC_TARGETS_CPU_VECTORS_MATRIXPACKING_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc::nn {

/// A matrix in memory: element (i, j) is element `first` + i * `rowStride` + j *
/// `columnStride` at `address`. A matrix without an address is absent.
struct StridedMatrix {
  mlir::Value address;
  LoopEmitter::Index first;
  int64_t rowStride = 0, columnStride = 0;

  explicit operator bool() const { return bool(address); }
  LoopEmitter::Index at(LoopEmitter::Index i, LoopEmitter::Index j) const {
    return first + i * rowStride + j * columnStride;
  }
};

/// Consecutive tiles of a packed factor. Lane l of tile t at point k is element (t
/// * `points` + k) * `stride` + l. Lanes past the width of a tile are undefined. A
/// point is one element along the depth, or a pair of them.
struct TileRun {
  /// The first tile, the lane of the factor at which it begins, and the number of
  /// tiles.
  LoopEmitter::Index tile, lane;
  int64_t count;
  /// Number of lanes of each tile, and distance in elements from one point to the
  /// next.
  int64_t width, stride;
};

/// Copies factors of matrix products into tiles. A factor in memory with unit
/// stride along the lanes is copied in vectors. A factor in memory with unit stride
/// along the depth is transposed in registers, one square of vectors at a time,
/// unless its depth is less than a vector. Other factors are copied by element.
///
/// Factors of a 16-bit type are widened to the type of the sums, or, for bf16, laid
/// out in pairs. A point of a factor in pairs has the 32 bits of two neighbours
/// along the depth, with the first one in the lower half. If the depth is odd, the
/// last point has a zero in the upper half.
class MatrixPacker {
public:
  using Index = LoopEmitter::Index;
  using ReadElement = llvm::function_ref<mlir::Value(Index lane, Index k)>;

  explicit MatrixPacker(VectorCode &code) : MatrixPacker(code, code.elementType, false) {}
  MatrixPacker(VectorCode &code, mlir::Type factorType, bool inPairs)
      : code(code), e(code.e), factorType(factorType), inPairs(inPairs) {}

  /// Packs `depth` elements of each lane. `from` has one row per lane and one
  /// column per k; `read` gives the elements if `from` is absent.
  void pack(mlir::Value packed, const TileRun &run, int64_t depth, const StridedMatrix &from,
            ReadElement read);
  /// Writes zeros to lanes [first, first + lanes of a vector) of a tile.
  void clear(mlir::Value packed, Index tile, int64_t first, int64_t stride, int64_t depth);
  /// Number of elements after the last tile that `pack` may overwrite.
  static int64_t slackOf(const VectorFormat &format) { return format.lanes; }
  /// Number of points for `depth` elements.
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

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_VECTORS_MATRIXPACKING_H
