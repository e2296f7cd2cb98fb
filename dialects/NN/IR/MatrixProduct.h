#ifndef DPC_DIALECTS_NN_IR_MATRIXPRODUCT_H
#define DPC_DIALECTS_NN_IR_MATRIXPRODUCT_H

#include "dialects/Interfaces/LoopEmitter.h"

namespace dpc::nn {

/// C = A B of f32 or f64, as a blocked loop nest: panels of B and tiles of A
/// are packed into scratch memory, in zeros up to whole tiles, and a tile of C
/// is computed in vector registers (Goto and van de Geijn, "Anatomy of
/// high-performance matrix multiplication", TOMS 2008).
struct MatrixProduct {
  using Index = LoopEmitter::Index;

  mlir::Type elementType;
  int64_t rows, columns, depth; // C is rows x columns
  /// Elements of the factors. Both are read once a block: they may compute.
  llvm::function_ref<mlir::Value(Index row, Index k)> readA;
  llvm::function_ref<mlir::Value(Index k, Index column)> readB;
  /// Where C lies: element `first` of the memory at `address`, rows `rowStride`
  /// elements apart.
  mlir::Value address;
  Index first;
  int64_t rowStride;

  void emit(LoopEmitter &emitter) const;

  /// Whether a product of this size and type is worth the packing.
  static bool pays(mlir::Type elementType, int64_t rows, int64_t columns,
                   int64_t depth);
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_MATRIXPRODUCT_H
