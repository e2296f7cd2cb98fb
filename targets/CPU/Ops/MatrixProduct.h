#ifndef DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H
#define DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H

#include "targets/CPU/Ops/ProductBlocks.h"
#include "targets/CPU/Vectors/MatrixPacking.h"

namespace dpc::nn {

/// C = A B with sums in f32 or f64, as a blocked loop nest. Panels of B and tiles
/// of A are packed into scratch memory, and a tile of C is computed in vector
/// registers (Goto and van de Geijn, "Anatomy of high-performance matrix
/// multiplication", TOMS 2008). A factor in memory that only one row or two columns
/// of tiles read is not packed but read in place.
///
/// Factors of a 16-bit type are always packed: bf16 in pairs if the processor
/// multiplies pairs (VectorEmitter::multipliesBf16), else widened to f32. Their
/// sums are f32 through all blocks of the depth, and are rounded once if C is
/// narrower.
struct MatrixProduct {
  using Index = LoopEmitter::Index;

  mlir::Type factorType, resultType; ///< of A and B, of C
  int64_t rows, columns, depth;      // C is rows x columns
  /// Read an element of a factor. Each element is read once per block, so the read
  /// may be a computation.
  llvm::function_ref<mlir::Value(Index row, Index k)> readA;
  llvm::function_ref<mlir::Value(Index k, Index column)> readB;
  /// The place of C: element `first` of the memory at `address`, with rows
  /// `rowStride` elements apart. Without an address C is not stored, and only
  /// `finish` reads it.
  mlir::Value address;
  Index first;
  int64_t rowStride;
  /// The factors as matrices in memory, if they are: a is rows x depth, b is depth
  /// x columns. The product must not write to that memory.
  StridedMatrix a = {}, b = {};
  /// Called once for each tile of C when it is final, to add the code that uses it:
  /// rows [row, row + rows), columns [column, column + columns). `tile` is the
  /// place of the tile in memory during the call. If C is not stored, its elements
  /// have the type of the sums.
  llvm::function_ref<void(Index row, int64_t rows, Index column, int64_t columns,
                          const StridedMatrix &tile)>
      finish = nullptr;

  void emit(VectorEmitter &emitter) const;

  /// The type of the sums.
  mlir::Type getSumType() const;
  ProductShape getShape() const;
  /// Whether packing is worth its cost for a product of this size and these types.
  static bool pays(mlir::Type factorType, mlir::Type resultType, int64_t rows, int64_t columns,
                   int64_t depth);
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H
