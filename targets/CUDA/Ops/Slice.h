#ifndef DPC_TARGETS_CUDA_OPS_SLICE_H
#define DPC_TARGETS_CUDA_OPS_SLICE_H

#include "targets/CUDA/Grids/GridEmitter.h"
#include "targets/CUDA/Ops/SliceLayout.h"

namespace dpc {

/// Slices of a factor in the shared memory of the block: one per stage. While threads
/// multiply the slice of one stage, they fill those of others.
class Slice {
public:
  using Index = LoopEmitter::Index;

  Slice(GridEmitter &emitter, mlir::Type type, const SliceLayout &layout, int64_t stages = 1);

  /// As above, in memory that code allocated before, from byte `offset` on. `memory` is an
  /// address in shared memory.
  Slice(GridEmitter &emitter, mlir::Type type, const SliceLayout &layout, mlir::Value memory,
        int64_t offset);

  /// Loads or stores one element of the first stage.
  mlir::Value load(Index k, Index i) const;
  void store(mlir::Value element, Index k, Index i) const {
    storeAt(element, nullptr, addressOf(k, i));
  }

  /// The bytes from the first stage to stage number `stage`, a constant if `stage` is one. A null
  /// offset means the first stage.
  mlir::Value offsetOfStage(mlir::Value stage) const;

  /// The address of an element in bytes, relative to a stage. It is the sum of three parts: the
  /// start of the line without its constant term, the swizzled position in the line, and this term.
  /// So addresses that differ by a constant have the same values.
  struct Address {
    mlir::Value line, inLine;
    int64_t constant = 0;
  };
  Address addressOf(Index k, Index i) const;
  /// A pointer to the element that is `k` elements after `address` along the depth and `i`
  /// elements along the extent. The sum of the positions in the line must have no carry.
  /// The swizzle of both lines must be equal. It is if they are some periods of the swizzle apart.
  /// With less than one of its steps between them, the caller knows that no step begins there.
  mlir::Value pointerTo(mlir::Value stageOffset, const Address &address, int64_t k = 0,
                        int64_t i = 0) const;
  void storeAt(mlir::Value element, mlir::Value stageOffset, const Address &address, int64_t k = 0,
               int64_t i = 0) const;
  /// Loads `count` neighbours, whose first one is at `address` and a multiple of `count`.
  mlir::Value loadVector(int64_t count, mlir::Value stageOffset, const Address &address,
                         int64_t k = 0, int64_t i = 0) const;
  /// As above, for elements of 32 bits, as integers of 64 bits that have two elements each.
  llvm::SmallVector<mlir::Value> loadPairs(int64_t count, mlir::Value stageOffset,
                                           const Address &address, int64_t k = 0,
                                           int64_t i = 0) const;

  const mlir::Type type;
  const SliceLayout layout;

private:
  GridEmitter &e;
  mlir::Value memory;
  int64_t offset = 0; // of the first stage in `memory`, in bytes
};

/// The part of a slice that one multiplication takes: its stage, and the first index along
/// the depth.
struct SlicePart {
  const Slice &slice;
  mlir::Value stageOffset;
  LoopEmitter::Index k;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_SLICE_H
