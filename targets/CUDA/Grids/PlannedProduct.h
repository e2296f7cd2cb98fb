#ifndef DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H
#define DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H

#include "planning/ProductMaker.h"
#include "targets/LibraryProduct.h"
#include "targets/Loops/Kernels/LoopPlan.h"

#include <optional>

namespace dpc {

/// A matrix that a tensor in memory is, for each batch: MatrixInBuffer without
/// the place.
struct TensorMatrix {
  mlir::Value tensor;
  int64_t stride = 0, batchStride = 0;
  bool isTransposed = false;
};

/// A product of matrices, D = A B for each batch, where D is dense.
struct MatrixFactors {
  mlir::Type elementType;
  int64_t batches = 1, rows = 0, columns = 0, depth = 0;
  TensorMatrix a, b;
};

/// A group of loops that a library for products of matrices can make, or the
/// first stage of one.
struct PlannedProduct {
  MatrixFactors factors;
  /// What the library writes.
  mlir::Value result;
  LibraryProduct::Epilogue epilogue = LibraryProduct::Epilogue::none;
  /// What the epilogue adds, in memory; null where it adds nothing.
  mlir::Value addend;
  /// Whether all of the group is made: else what follows its first stage is not.
  bool isWhole = true;
};

/// How a library makes `group`, if it can and that is worth while: the factors
/// are matrices in memory, and what follows the product is an epilogue that the
/// library has, or long enough after the product to be a launch of its own.
std::optional<PlannedProduct> planProduct(const KernelGraph &graph, const LoopGroup &group,
                                          ProductMaker maker);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_PLANNEDPRODUCT_H
