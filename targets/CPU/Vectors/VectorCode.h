#ifndef DPC_TARGETS_CPU_VECTORS_VECTORCODE_H
#define DPC_TARGETS_CPU_VECTORS_VECTORCODE_H

#include "targets/CPU/Vectors/VectorEmitter.h"

namespace dpc::nn {

/// Emits vectors of f32 or f64 and their loads and stores. Fill rules that block
/// for registers are written with it.
class VectorCode : public VectorFormat {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  /// Vectors of `lanes` elements; 0 stands for the target's vector width.
  VectorCode(VectorEmitter &emitter, mlir::Type elementType, int64_t lanes = 0);

  VectorEmitter &e;
  mlir::VectorType type;

  /// Address of element `number` after `base`.
  mlir::Value at(mlir::Value base, Index number) { return at(base, number, elementType); }
  /// The same for elements of type `memoryType`.
  mlir::Value at(mlir::Value base, Index number, mlir::Type memoryType);
  /// Scratch memory for `elements` elements.
  mlir::Value scratch(int64_t elements) { return e.getScratch(elements * bytes); }
  mlir::Value zero();
  /// The first `count` lanes at `address`, zero in the others.
  mlir::Value load(mlir::Value address, int64_t count);
  mlir::Value load(mlir::Value address) { return load(address, lanes); }
  /// Stores the first `count` lanes.
  void store(mlir::Value vector, mlir::Value address, int64_t count);
  void store(mlir::Value vector, mlir::Value address) { store(vector, address, lanes); }
  /// Loads a vector of only `count` elements, which `store` accepts too. Use it if
  /// a masked load would be slow.
  mlir::Value loadShort(mlir::Value address, int64_t count) {
    return loadShort(address, count, elementType);
  }
  mlir::Value loadShort(mlir::Value address, int64_t count, mlir::Type memoryType);
  /// `count` elements of a 16-bit type as integers, with zeros in the remaining
  /// lanes up to `width`. This is one instruction if the processor masks 16-bit
  /// lanes, as with 64-byte vectors.
  mlir::Value loadBits(mlir::Value address, int64_t count, int64_t width);
  /// `load` and `store` for memory of type `memoryType`, which is this code's type
  /// or a 16-bit type. Elements are widened on load and rounded on store.
  mlir::Value loadAs(mlir::Type memoryType, mlir::Value address, int64_t count);
  void storeAs(mlir::Type memoryType, mlir::Value vector, mlir::Value address, int64_t count);
  /// A scalar of a 16-bit type widened to this code's type. A scalar of this code's
  /// type stays as it is.
  mlir::Value widened(mlir::Value element);
  /// A vector converted to another float type.
  mlir::Value converted(mlir::Value vector, mlir::Type to);
  mlir::Value firstLanes(mlir::Value vector, int64_t count);
  /// Prefetches the cache line of an element, which need not exist. `locality` 3 is
  /// the first-level cache, 2 the second-level cache.
  void prefetch(mlir::Value base, Index number, int locality, mlir::Type memoryType = {});
  mlir::Value loadScalar(mlir::Value address);
  /// The scalar in every lane.
  mlir::Value splat(mlir::Value scalar);
  /// x * y + sum, rounded once.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  /// The same for pairs of bf16: each 32 bits of x and y hold two, and the products
  /// of both halves are added to the f32 sum. Rounds after each product and treats
  /// denormals as 0. Only available if VectorEmitter::multipliesBf16.
  mlir::Value multiplyAddPairs(mlir::Value x, mlir::Value y, mlir::Value sum);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sumOfLanes(mlir::Value vector);
  /// Combines the lanes into a scalar, one half with the other first.
  mlir::Value combineLanes(mlir::Value vector,
                           llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  /// Writes `elements` zeros from `address` on.
  void fillZero(mlir::Value address, int64_t elements);
  /// Copies `count` elements and appends zeros up to `width`, which is a multiple
  /// of the lanes.
  void copyPadded(mlir::Value from, int64_t count, mlir::Value to, int64_t width);

  /// A matrix in memory with rows `stride` elements apart. `elementType` null
  /// stands for this code's type; otherwise it is a 16-bit type.
  struct Matrix {
    mlir::Value address;
    int64_t stride;
    mlir::Type elementType = {};
  };
  /// to[j][i] = from[i][j] for i < rows, j < columns. With `padded`, the rows of
  /// `to` are padded with zeros to complete vectors.
  void transpose(Matrix from, int64_t rows, int64_t columns, Matrix to, bool padded = false);
  /// Transposes a square: as many vectors as each has lanes. Vectors are 16, 32 or
  /// 64 bytes wide.
  Values transposed(Values rows);

private:
  mlir::Value maskOf(int64_t count) { return maskOf(count, lanes); }
  mlir::Value maskOf(int64_t count, int64_t width);
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_VECTORS_VECTORCODE_H
