#ifndef DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H
#define DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H

#include "planning/ProductMaker.h"
#include "targets/LibraryProduct.h"
#include "targets/Loops/Kernels/LoopPlan.h"

#include <optional>

namespace dpc {

/// A tensor in memory as one matrix per batch element. It becomes a MatrixInBuffer
/// when the buffer and the offset of the tensor are known.
struct TensorMatrix {
  mlir::Value tensor;
  int64_t stride = 0, batchStride = 0;
  bool isTransposed = false;
};

/// A product of matrices: D = A B for each batch element. D is dense.
struct MatrixFactors {
  mlir::Type elementType;
  int64_t batches = 1, rows = 0, columns = 0, depth = 0;
  TensorMatrix a, b;
};

/// The product that a matrix library can compute in place of a loop group, or in
/// place of its first stage.
struct PlannedProduct {
  MatrixFactors factors;
  /// The value that the library computes and stores.
  mlir::Value result;
  LibraryProduct::Epilogue epilogue = LibraryProduct::Epilogue::none;
  /// The tensor in memory that the epilogue adds; null for Epilogue::none.
  mlir::Value addend;
  /// Whether the library computes the complete group, and not only its first stage.
  bool isWhole = true;
};

/// Plans how a library computes `group`. Returns null if a factor is not a matrix in
/// memory, or if `maker` leaves a product of this size to generated code. The
/// library can apply some ops after the product as an epilogue. If it cannot, it
/// computes only the product, and a second launch computes the ops.
/// ProductMaker::bySize allows the second launch only for very large products.
std::optional<PlannedProduct> planProduct(const KernelGraph &graph, const LoopGroup &group,
                                          ProductMaker maker);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H
