#ifndef DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H
#define DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H

#include "planning/ProductMaker.h"
#include "targets/LibraryProduct.h"
#include "targets/Loops/Kernels/LoopPlan.h"

#include <optional>

namespace dpc {

/// A tensor in memory seen as one matrix per batch element: MatrixInBuffer without
/// the buffer and offset.
struct TensorMatrix {
  mlir::Value tensor;
  int64_t stride = 0, batchStride = 0;
  bool isTransposed = false;
};

/// A product of matrices, D = A B per batch element, with a dense D.
struct MatrixFactors {
  mlir::Type elementType;
  int64_t batches = 1, rows = 0, columns = 0, depth = 0;
  TensorMatrix a, b;
};

/// A group of loops that a matrix library can compute completely, or whose first
/// stage it can compute.
struct PlannedProduct {
  MatrixFactors factors;
  /// The value that the library writes.
  mlir::Value result;
  LibraryProduct::Epilogue epilogue = LibraryProduct::Epilogue::none;
  /// The tensor in memory that the epilogue adds; null if it adds none.
  mlir::Value addend;
  /// Whether the library computes the complete group, not only its first stage.
  bool isWhole = true;
};

/// Plans how a library computes `group`. Returns nullopt if a factor is not a matrix
/// in memory, or if `maker` leaves a product of this size to generated code. If the
/// ops after the product are not an epilogue that the library has, the library
/// computes only the product, and a second launch computes these ops.
/// ProductMaker::bySize allows this second launch only for very large products.
std::optional<PlannedProduct> planProduct(const KernelGraph &graph, const LoopGroup &group,
                                          ProductMaker maker);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H
