#ifndef DPC_TARGETS_CUDA_OPS_MATRIXUNIT_H
#define DPC_TARGETS_CUDA_OPS_MATRIXUNIT_H

#include "targets/CUDA/Ops/Slice.h"
#include "targets/CUDA/Ops/TileShape.h"

namespace dpc {

/// Emits the instructions of a unit that multiplies small matrices (NVIDIA, "PTX ISA",
/// "Matrix Fragments"). All lanes of a warp execute an instruction together. A lane holds
/// some elements of each matrix, its fragment.
class MatrixUnit {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  /// `unit` is not TileUnit::scalar. `factor` is the type of the factors in memory.
  MatrixUnit(GridEmitter &emitter, TileUnit unit, mlir::Type factor);

  /// The factors in a fragment of numbers as they lie in memory. Numbers of tf32 are rounded. For
  /// TileUnit::tf32x3, the factors are the rounded numbers, followed by their rounding errors.
  Values toFactors(mlir::ValueRange numbers) const;
  /// Adds the product of the factors `left` of A and `right` of B to `sums`. `isShort`: whether a
  /// sum gets few products, so that the unit may add them.
  Values multiply(mlir::ValueRange left, mlir::ValueRange right, mlir::ValueRange sums,
                  bool isShort = false) const;

  /// Loads `count` matrices of 8 lines of one chunk by ldmatrix. Each group of eight lanes
  /// gives the addresses of the lines of a matrix; `pointer` is that of this lane.
  /// `isTransposed`: the matrices have elements of 16 bits, and lanes get them transposed.
  Values loadMatrices(mlir::Value pointer, int64_t count, bool isTransposed) const;

  /// The f32 numbers in pairs of Slice::loadPairs.
  Values unpack(mlir::ValueRange pairs) const;

  /// Rounds f32 numbers to bf16 or f16, two by one instruction: to a vector, or to as many
  /// numbers. Their number is even.
  static mlir::Value packHalves(GridEmitter &emitter, mlir::Type type, mlir::Value low,
                                mlir::Value high);
  static Values roundToHalves(GridEmitter &emitter, mlir::Type type, mlir::ValueRange numbers);
  static bool isHalf(mlir::Type type) { return type.isBF16() || type.isF16(); }

  /// Rounds an f32 number to tf32. The result is f32, and its last bits are zeros. Without
  /// it, the instruction would drop these bits.
  mlir::Value roundToTf32(mlir::Value number) const;

  mlir::Type getF32Type() const { return e.builder.getF32Type(); }

  /// A lane and the quad that it is in: a group of four lanes. `quad` is the number of
  /// the quad, and `inQuad` is the position of the lane in it.
  Index lane(Index thread) const { return e.mod(thread, LaunchPlan::kWarp); }
  Index quad(Index thread) const { return e.floorDiv(lane(thread), 4); }
  Index inQuad(Index thread) const { return e.mod(thread, 4); }

  /// The rows of A, the columns of B, the length of the depth, and the sums of a lane. Sum
  /// number n of a lane is in row quad + n / 2 * 8 and in column 2 inQuad + n % 2.
  int64_t rows = 0, columns = 0, depth = 0, sums = 0;

private:
  Values multiplyOnce(mlir::ValueRange left, mlir::ValueRange right, mlir::ValueRange sums) const;

  GridEmitter &e;
  const TileUnit unit;
  llvm::StringRef intrinsic;
  mlir::Type registerType; // of a fragment's factors
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_MATRIXUNIT_H
