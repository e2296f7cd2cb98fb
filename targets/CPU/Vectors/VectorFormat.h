#ifndef DPC_TARGETS_CPU_VECTORS_VECTORFORMAT_H
#define DPC_TARGETS_CPU_VECTORS_VECTORFORMAT_H

#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc {

/// The vector unit of a processor.
struct VectorUnit {
  /// The size in bytes of floating-point vectors: 32 or 64.
  unsigned vectorBytes = 32;
  /// Whether the processor has an instruction that multiplies bf16 and adds in f32
  /// (VectorCode::multiplyAddPairs).
  bool multipliesBf16 = false;

  /// Whether factors of this type are multiplied in pairs.
  bool multipliesPairsOf(mlir::Type factorType) const {
    return multipliesBf16 && factorType.isBF16();
  }
};

/// Vectors of elements of one type. Block sizes, which are chosen before code is
/// generated, depend on this.
struct VectorFormat {
  /// For vectors of `lanes` elements. 0 means as many as the vectors of the processor
  /// have.
  VectorFormat(unsigned vectorBytes, mlir::Type elementType, int64_t lanes = 0)
      : vectorBytes(vectorBytes), elementType(elementType),
        bytes(elementType.getIntOrFloatBitWidth() / 8), lanes(lanes ? lanes : vectorBytes / bytes) {
  }

  unsigned vectorBytes; ///< size of the processor's vectors
  mlir::Type elementType;
  int64_t bytes; ///< of an element
  int64_t lanes; ///< number of elements of a vector

  /// The sizes in bytes of pieces of memory. `pieces` has the sizes in elements. Pieces
  /// with kNone elements are omitted.
  static constexpr int64_t kNone = -1;
  llvm::SmallVector<int64_t> bytesOf(llvm::ArrayRef<int64_t> pieces) const {
    llvm::SmallVector<int64_t> sizes;
    for (int64_t elements : pieces)
      if (elements != kNone)
        sizes.push_back(elements * bytes);
    return sizes;
  }
};

/// The facts that a vector fill rule needs besides its op: the vector unit, and which
/// values are in memory.
struct VectorSite {
  VectorUnit unit;
  /// Whether all elements of a value are in memory, at an address that the rule can use.
  llvm::function_ref<bool(mlir::Value)> isInMemory;
};

/// The sizes in bytes of the pieces of scratch memory of a rule, in the order in which the
/// rule takes them.
using ScratchSizes = llvm::SmallVector<int64_t>;

} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_VECTORFORMAT_H
