#ifndef DPC_TARGETS_LIBRARYPRODUCT_H
#define DPC_TARGETS_LIBRARYPRODUCT_H

#include "mlir/IR/Types.h"

namespace dpc {

/// Where a matrix of rows and columns lies in one of a kernel's buffers, one for
/// each batch.
struct MatrixInBuffer {
  unsigned buffer = 0;
  /// Bytes from the buffer's start to the first element.
  int64_t offset = 0;
  /// Elements between neighbouring rows, whose own elements are neighbours; if
  /// transposed, between neighbouring columns.
  int64_t stride = 0;
  /// Elements between the matrices of neighbouring batches.
  int64_t batchStride = 0;
  bool isTransposed = false;
};

/// D = epilogue(A B) for each batch, which a library can make in place of a
/// launch's function. D has `rows` rows and `columns` columns, A has `depth`
/// columns.
struct LibraryProduct {
  /// What is done with the sums before they are stored.
  enum class Epilogue {
    none,
    add, ///< adds the element of another matrix
    bias ///< adds the element of a vector, one for each column
  };

  mlir::Type elementType;
  /// Whether factors may be rounded to tf32 (CodeOptions::tf32).
  bool tf32 = false;
  int64_t batches = 1, rows = 0, columns = 0, depth = 0;
  MatrixInBuffer a, b, d;
  Epilogue epilogue = Epilogue::none;
  /// What the epilogue adds, if it does.
  MatrixInBuffer addend;
  /// Scratch memory that is the library's own while it runs.
  MatrixInBuffer workspace;
  int64_t workspaceBytes = 0;
};

} // namespace dpc

#endif // DPC_TARGETS_LIBRARYPRODUCT_H
