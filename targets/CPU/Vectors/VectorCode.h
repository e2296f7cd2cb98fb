#ifndef DPC_TARGETS_CPU_VECTORS_VECTORCODE_H
#define DPC_TARGETS_CPU_VECTORS_VECTORCODE_H

#include "targets/CPU/Vectors/VectorEmitter.h"

namespace dpc::nn {

/// Vectors of f32 or f64 as wide as the target's, and the memory they are
/// loaded from: what the fill rules that block for registers are written with.
class VectorCode {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  /// Vectors of `lanes` elements, by default as wide as the target's.
  VectorCode(VectorEmitter &emitter, mlir::Type elementType, int64_t lanes = 0);

  VectorEmitter &e;
  mlir::Type elementType;
  int64_t bytes; ///< of an element
  int64_t lanes; ///< elements of a vector
  mlir::VectorType type;

  /// Address of element `number` after `base`.
  mlir::Value at(mlir::Value base, Index number) { return at(base, number, elementType); }
  /// The same among elements of `memoryType`.
  mlir::Value at(mlir::Value base, Index number, mlir::Type memoryType);
  /// Scratch memory for `elements` elements.
  mlir::Value scratch(int64_t elements);
  mlir::Value zero();
  /// The first `count` lanes at `address`, zero in the others.
  mlir::Value load(mlir::Value address, int64_t count);
  mlir::Value load(mlir::Value address) { return load(address, lanes); }
  /// Stores the first `count` lanes.
  void store(mlir::Value vector, mlir::Value address, int64_t count);
  void store(mlir::Value vector, mlir::Value address) { store(vector, address, lanes); }
  /// A vector of `count` elements, as `store` takes it too: for what masks make
  /// slow.
  mlir::Value loadShort(mlir::Value address, int64_t count) {
    return loadShort(address, count, elementType);
  }
  mlir::Value loadShort(mlir::Value address, int64_t count, mlir::Type memoryType);
  /// `count` elements of a 16-bit type as integers, zero in the rest of `width`
  /// lanes: in one instruction where there are masks of such lanes, as with
  /// 64-byte vectors.
  mlir::Value loadBits(mlir::Value address, int64_t count, int64_t width);
  /// `load` and `store` of memory with elements of `memoryType`, which is this
  /// code's type or a 16-bit one: they are widened, or rounded.
  mlir::Value loadAs(mlir::Type memoryType, mlir::Value address, int64_t count);
  void storeAs(mlir::Type memoryType, mlir::Value vector, mlir::Value address, int64_t count);
  /// A number of a 16-bit type as one of this code's type, which others are
  /// already.
  mlir::Value widened(mlir::Value element);
  /// Elements of a vector in another float type.
  mlir::Value converted(mlir::Value vector, mlir::Type to);
  mlir::Value firstLanes(mlir::Value vector, int64_t count);
  /// Asks for the line of an element that need not exist: 3 for the first
  /// cache, 2 for the second.
  void prefetch(mlir::Value base, Index number, int locality, mlir::Type memoryType = {});
  mlir::Value loadScalar(mlir::Value address);
  /// The scalar in every lane.
  mlir::Value splat(mlir::Value scalar);
  /// x * y + sum, rounded once.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  /// The same where each 32 bits of x and y are a pair of bf16: sum of f32 plus the
  /// products of both halves. Rounded after each product, denormals are 0. Only
  /// where VectorEmitter::multipliesBf16.
  mlir::Value multiplyAddPairs(mlir::Value x, mlir::Value y, mlir::Value sum);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sumOfLanes(mlir::Value vector);
  /// The lanes combined into a scalar, halves first.
  mlir::Value combineLanes(mlir::Value vector,
                           llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  /// `elements` zeros from `address` on.
  void fillZero(mlir::Value address, int64_t elements);
  /// The first `count` of `width` elements, a multiple of the lanes, from
  /// `from`, then zeros.
  void copyPadded(mlir::Value from, int64_t count, mlir::Value to, int64_t width);

  /// A matrix in memory: rows `stride` elements apart, of this code's type (null)
  /// or a 16-bit one.
  struct Matrix {
    mlir::Value address;
    int64_t stride;
    mlir::Type elementType = {};
  };
  /// to[j][i] = from[i][j] for i < rows, j < columns. With `padded`, rows of
  /// `to` are written up to whole vectors, in zeros.
  void transpose(Matrix from, int64_t rows, int64_t columns, Matrix to, bool padded = false);
  /// As many vectors as lanes, with rows and columns exchanged. Vectors are
  /// 16, 32 or 64 bytes wide.
  Values transposed(Values rows);

private:
  mlir::Value maskOf(int64_t count) { return maskOf(count, lanes); }
  mlir::Value maskOf(int64_t count, int64_t width);
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_VECTORS_VECTORCODE_H
