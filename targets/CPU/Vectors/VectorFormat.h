#ifndef DPC_TARGETS_CPU_VECTORS_VECTORFORMAT_H
#define DPC_TARGETS_CPU_VECTORS_VECTORFORMAT_H

#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc {

/// The vectors of a processor.
struct VectorUnit {
  /// Width in bytes of the floating-point vectors for which kernels are blocked: 32 or 64.
  unsigned vectorBytes = 32;
  /// Whether the processor has instructions that multiply bf16 and add in f32
  /// (VectorCode::multiplyAddPairs).
  bool multipliesBf16 = false;
};

namespace nn {

/// Vectors of elements of a type. Block sizes depend on them, without code.
struct VectorFormat {
  /// Vectors of `lanes` elements; 0 stands for the processor's vector width.
  VectorFormat(unsigned vectorBytes, mlir::Type elementType, int64_t lanes = 0)
      : vectorBytes(vectorBytes), elementType(elementType),
        bytes(elementType.getIntOrFloatBitWidth() / 8), lanes(lanes ? lanes : vectorBytes / bytes) {
  }

  unsigned vectorBytes; ///< of the processor's vectors
  mlir::Type elementType;
  int64_t bytes; ///< of an element
  int64_t lanes; ///< elements of a vector

  /// The bytes of pieces of memory with these numbers of elements, without those of
  /// kNone elements.
  static constexpr int64_t kNone = -1;
  llvm::SmallVector<int64_t> bytesOf(llvm::ArrayRef<int64_t> pieces) const {
    llvm::SmallVector<int64_t> sizes;
    for (int64_t elements : pieces)
      if (elements != kNone)
        sizes.push_back(elements * bytes);
    return sizes;
  }
};

/// The surroundings of a vector fill rule: the processor, and the values in memory.
struct VectorSite {
  VectorUnit unit;
  /// Whether all elements of a value are in memory that the rule can address.
  llvm::function_ref<bool(mlir::Value)> isInMemory;
};

/// The bytes of each piece of scratch memory of a rule, in the order in which it takes
/// them.
using ScratchSizes = llvm::SmallVector<int64_t>;

} // namespace nn
} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_VECTORFORMAT_H
