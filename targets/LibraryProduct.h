#ifndef DPC_TARGETS_LIBRARYPRODUCT_H
#define DPC_TARGETS_LIBRARYPRODUCT_H

#include "mlir/IR/Types.h"

namespace dpc {

/// A matrix in one of a kernel's buffers, with one instance per batch element.
struct MatrixInBuffer {
  unsigned buffer = 0;
  /// Distance in bytes from the start of the buffer to the first element.
  int64_t offset = 0;
  /// Distance in elements between neighbouring rows, whose elements are contiguous.
  /// If transposed, the distance between neighbouring columns.
  int64_t stride = 0;
  /// Distance in elements between the matrices of neighbouring batch elements.
  int64_t batchStride = 0;
  bool isTransposed = false;
};

/// D = epilogue(A B) for each batch element, which a library can compute instead of
/// a launch's function. D has `rows` rows and `columns` columns; A has `depth`
/// columns.
struct LibraryProduct {
  /// The operation on the sums before they are stored.
  enum class Epilogue {
    none,
    add, ///< adds the element of another matrix
    bias ///< adds the element of a vector with one element per column
  };

  mlir::Type elementType;
  /// Whether factors may be rounded to tf32 (CodeOptions::tf32).
  bool tf32 = false;
  int64_t batches = 1, rows = 0, columns = 0, depth = 0;
  MatrixInBuffer a, b, d;
  Epilogue epilogue = Epilogue::none;
  /// The matrix or vector that the epilogue adds, if it adds one.
  MatrixInBuffer addend;
  /// Scratch memory that only the library uses while it runs.
  MatrixInBuffer workspace;
  int64_t workspaceBytes = 0;
};

} // namespace dpc

#endif // DPC_TARGETS_LIBRARYPRODUCT_H
