#ifndef DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H
#define DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H

#include "targets/CPU/Ops/ProductBlocks.h"
#include "targets/CPU/Vectors/MatrixPacking.h"

namespace dpc {

/// The product C = A B with sums in f32 or f64, as a blocked loop nest. Panels of B
/// (groups of columns) and tiles of A (groups of rows) are packed into scratch
/// memory, and each tile of C is computed in vector registers. Source: Goto and van
/// de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008. A
/// factor that is in memory is read in place, without packing, if few tiles read
/// it. This holds for A if C has at most two columns of tiles. It holds for B if C has
/// only one row of tiles and the elements of each row of B are contiguous.
///
/// Factors of a 16-bit type are always packed. They are packed in pairs if they are
/// bf16 and the processor multiplies pairs (VectorUnit::multipliesBf16),
/// otherwise they are widened to f32. Sums are f32 until the complete depth is
/// added. If C has a 16-bit type, they are then rounded once.
struct MatrixProduct {
  using Index = LoopEmitter::Index;

  mlir::Type factorType, resultType; ///< element types of A and B, and of C
  int64_t rows, columns, depth;      // C is rows x columns
  /// Emit the value of an element of a factor. The code may compute the element,
  /// because each block reads an element only once.
  llvm::function_ref<mlir::Value(Index row, Index k)> readA;
  llvm::function_ref<mlir::Value(Index k, Index column)> readB;
  /// The place of C: its first element is `first` elements after `address`, and its
  /// rows are `rowStride` elements apart. If `address` is null, C is not stored, and
  /// only `finish` uses the elements of C.
  mlir::Value address;
  Index first;
  int64_t rowStride;
  /// The factors as matrices in memory: `a` is rows x depth, `b` is depth x
  /// columns. The matrix of a factor that is not in memory has no address. C must not
  /// overlap the factors.
  StridedMatrix a = {}, b = {};
  /// If set, called at the points of the code where a tile of C is final, to add
  /// code that uses the tile. The tile has rows [row, row + rows) and columns
  /// [column, column + columns) of C. `tile` says where the tile is in memory. If C
  /// is not stored, the elements of the tile have the type of the sums.
  llvm::function_ref<void(Index row, int64_t rows, Index column, int64_t columns,
                          const StridedMatrix &tile)>
      finish = nullptr;

  void emit(VectorEmitter &emitter) const;

  /// The type of the sums.
  mlir::Type getSumType() const;
  ProductShape getShape() const;
  /// Whether this blocked product is faster than plain loops for the given types
  /// and size.
  static bool pays(mlir::Type factorType, mlir::Type resultType, int64_t rows, int64_t columns,
                   int64_t depth);
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H
