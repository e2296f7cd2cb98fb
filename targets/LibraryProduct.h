#ifndef DPC_TARGETS_LIBRARYPRODUCT_H
#define DPC_TARGETS_LIBRARYPRODUCT_H

#include "mlir/IR/Types.h"

namespace dpc {

/// A matrix in one of a kernel's buffers. Each batch element has its own matrix at
/// a constant distance.
struct MatrixInBuffer {
  unsigned buffer = 0;
  /// Distance in bytes from the start of the buffer to the first element.
  int64_t offset = 0;
  /// The elements of a row are contiguous; this is the distance in elements between
  /// neighbouring rows. If `isTransposed`, both hold for columns instead.
  int64_t stride = 0;
  /// Distance in elements between the matrices of neighbouring batch elements.
  int64_t batchStride = 0;
  bool isTransposed = false;
};

/// The product D = epilogue(A B) for each batch element. A library can compute it
/// in place of the function of a launch. D has `rows` rows and `columns` columns; A
/// has `depth` columns.
struct LibraryProduct {
  /// The operation that is applied to the sums before they are stored.
  enum class Epilogue {
    none,
    add, ///< adds the elements of another matrix
    bias ///< adds a vector with one element per column to each row
  };

  mlir::Type elementType;
  /// Whether factors may be rounded to tf32 (CodeOptions::tf32).
  bool tf32 = false;
  int64_t batches = 1, rows = 0, columns = 0, depth = 0;
  MatrixInBuffer a, b, d;
  Epilogue epilogue = Epilogue::none;
  /// The matrix or vector that the epilogue adds; ignored for Epilogue::none.
  MatrixInBuffer addend;
  /// Scratch memory that only the library uses while it runs.
  MatrixInBuffer workspace;
  int64_t workspaceBytes = 0;
};

} // namespace dpc

#endif // DPC_TARGETS_LIBRARYPRODUCT_H
