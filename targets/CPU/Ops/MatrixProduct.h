#ifndef DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H
#define DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H

#include "targets/CPU/Vectors/MatrixPacking.h"

namespace dpc::nn {

/// C = A B with sums of f32 or f64, as a blocked loop nest: panels of B and tiles
/// of A are packed into scratch memory and a tile of C is computed in vector
/// registers (Goto and van de Geijn, "Anatomy of high-performance matrix
/// multiplication", TOMS 2008). A factor that lies in memory and is used by one
/// row or two columns of tiles is read where it is.
///
/// Factors of a 16-bit type are always packed: bf16 in pairs where the processor
/// multiplies these (VectorEmitter::multipliesBf16), else widened to f32. Sums of
/// them are f32, through all blocks of the depth, and rounded once where C is
/// narrower.
struct MatrixProduct {
  using Index = LoopEmitter::Index;

  mlir::Type factorType, resultType; ///< of A and B, of C
  int64_t rows, columns, depth;      // C is rows x columns
  /// Elements of the factors. Both are read once a block: they may compute.
  llvm::function_ref<mlir::Value(Index row, Index k)> readA;
  llvm::function_ref<mlir::Value(Index k, Index column)> readB;
  /// Where C lies: element `first` of the memory at `address`, rows `rowStride`
  /// elements apart. Without an address C lies nowhere and only `finish` sees
  /// it.
  mlir::Value address;
  Index first;
  int64_t rowStride;
  /// The factors, where they lie in memory as matrices: a is rows x depth, b is
  /// depth x columns. Nothing else may be written there.
  StridedMatrix a = {}, b = {};
  /// Called once for each tile of C when it is final, to add the code that uses
  /// it: rows [row, row + rows), columns [column, column + columns), which lie
  /// in memory as `tile` says, for now: where C lies nowhere as the sums.
  llvm::function_ref<void(Index row, int64_t rows, Index column, int64_t columns,
                          const StridedMatrix &tile)>
      finish = nullptr;

  void emit(VectorEmitter &emitter) const;

  /// The type in which it is summed.
  mlir::Type getSumType() const;
  /// Whether a product of this size and these types is worth the packing.
  static bool pays(mlir::Type factorType, mlir::Type resultType, int64_t rows, int64_t columns,
                   int64_t depth);
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_MATRIXPRODUCT_H
