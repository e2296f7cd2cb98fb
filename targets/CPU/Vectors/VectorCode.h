#ifndef DPC_TARGETS_CPU_VECTORS_VECTORCODE_H
#define DPC_TARGETS_CPU_VECTORS_VECTORCODE_H

#include "targets/CPU/Vectors/VectorEmitter.h"

namespace dpc {

/// Emits operations on vectors of f32 or f64, and their loads and stores. Fill
/// rules that keep tiles in vector registers use this class.
class VectorCode : public VectorFormat {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  /// For vectors of `lanes` elements. 0 means as many as the vectors of the target
  /// have.
  VectorCode(VectorEmitter &emitter, mlir::Type elementType, int64_t lanes = 0);

  VectorEmitter &e;
  mlir::VectorType type;

  /// The address of element `number` after `base`.
  mlir::Value at(mlir::Value base, Index number) { return at(base, number, elementType); }
  /// As above, for elements of type `memoryType`.
  mlir::Value at(mlir::Value base, Index number, mlir::Type memoryType);
  /// Allocates scratch memory for `elements` elements, and returns its address.
  mlir::Value scratch(int64_t elements) { return e.getScratch(elements * bytes); }
  mlir::Value zero();
  /// Loads `count` elements at `address` into the first lanes of a vector. The
  /// other lanes are zero.
  mlir::Value load(mlir::Value address, int64_t count);
  mlir::Value load(mlir::Value address) { return load(address, lanes); }
  /// Stores the first `count` lanes of `vector`.
  void store(mlir::Value vector, mlir::Value address, int64_t count);
  void store(mlir::Value vector, mlir::Value address) { store(vector, address, lanes); }
  /// Loads a vector that has only `count` lanes; `store` accepts it. Use it if a
  /// masked load would be slow.
  mlir::Value loadShort(mlir::Value address, int64_t count) {
    return loadShort(address, count, elementType);
  }
  mlir::Value loadShort(mlir::Value address, int64_t count, mlir::Type memoryType);
  /// Loads `count` elements of a 16-bit type as integers, into a vector of `width`
  /// lanes. The other lanes are zero. This is one instruction if the processor can
  /// mask 16-bit lanes; processors with 64-byte vectors can.
  mlir::Value loadBits(mlir::Value address, int64_t count, int64_t width);
  /// Loads `count` pairs of bf16 into the first lanes of a vector; the other lanes are zero.
  /// The lower 16 bits of a lane are the element at `lower` with the number of the lane, and
  /// the upper 16 bits are that at `upper`, or zero if `upper` is null.
  mlir::Value loadPairs(mlir::Value lower, mlir::Value upper, int64_t count);
  /// A pair of two scalars of bf16, as an i32. `upper` may be null.
  mlir::Value pairOf(mlir::Value lower, mlir::Value upper);
  /// `load` and `store` for elements in memory of type `memoryType`, which is
  /// `elementType` or a 16-bit type. Loads widen the elements, and stores round
  /// them.
  mlir::Value loadAs(mlir::Type memoryType, mlir::Value address, int64_t count);
  void storeAs(mlir::Type memoryType, mlir::Value vector, mlir::Value address, int64_t count);
  /// `element` converted to `elementType`. It has this type already, or a 16-bit
  /// type.
  mlir::Value widened(mlir::Value element);
  /// `vector` converted to the float type `to`.
  mlir::Value converted(mlir::Value vector, mlir::Type to);
  mlir::Value firstLanes(mlir::Value vector, int64_t count);
  /// Prefetches the cache line of an element. The address may be outside of the
  /// buffer. `locality` 3 means the first-level cache, and 2 means the second-level
  /// cache. `toWrite` says that the element will be written.
  void prefetch(mlir::Value base, Index number, int locality, mlir::Type memoryType = {},
                bool toWrite = false);
  mlir::Value loadScalar(mlir::Value address);
  /// A vector with `scalar` in every lane.
  mlir::Value splat(mlir::Value scalar);
  /// x * y + sum, rounded once.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  /// As multiplyAdd, for pairs of bf16. Each 32 bits of x and y have two bf16. The
  /// products of the lower halves and of the upper halves are added to the f32
  /// lanes of `sum`. The processor rounds after it adds each product, and treats
  /// denormals as 0. Needs: VectorUnit::multipliesBf16.
  mlir::Value multiplyAddPairs(mlir::Value x, mlir::Value y, mlir::Value sum);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sumOfLanes(mlir::Value vector);
  /// Combines all lanes to a scalar. First, `combine` gets both halves of the
  /// vector, then both halves of its result, and so on.
  mlir::Value combineLanes(mlir::Value vector,
                           llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  /// Writes `elements` zeros from `address` on.
  void fillZero(mlir::Value address, int64_t elements);
  /// A matrix in memory whose rows are `stride` elements apart. `elementType` is the type
  /// of its elements: a 16-bit type or that of the VectorCode. Null means the latter.
  struct Matrix {
    mlir::Value address;
    int64_t stride = 0;
    mlir::Type elementType = {};
    /// Whether the elements are pairs of bf16 (loadPairs). The lower halves are at `address`,
    /// and the upper halves are in a matrix of the same stride at `upper`.
    bool isOfPairs = false;
    mlir::Value upper = {};
  };
  /// Loads `count` elements of a row of `matrix`, from element `number` of the matrix on.
  mlir::Value loadFrom(const Matrix &matrix, Index number, int64_t count);
  /// Copies `count` elements of the first row of `from` to `to`, followed by zeros up to
  /// element `width`. `width` is a multiple of the lanes.
  void copyPadded(Matrix from, int64_t count, mlir::Value to, int64_t width);
  /// Stores to[j][i] = from[i][j] for i < rows and j < columns. If `padded` is set,
  /// zeros follow each row of `to` up to a multiple of the lanes.
  void transpose(Matrix from, int64_t rows, int64_t columns, Matrix to, bool padded = false);
  /// Transposes a square of elements: `rows` has as many vectors as each vector has
  /// lanes. Vectors have 16, 32 or 64 bytes.
  Values transposed(Values rows);

private:
  mlir::Value maskOf(int64_t count) { return maskOf(count, lanes); }
  mlir::Value maskOf(int64_t count, int64_t width);
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_VECTORCODE_H
