#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDFILL_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDFILL_H

#include "targets/CUDA/Grids/GridEmitter.h"

namespace dpc {

/// The size of the grid of one launch of a grid fill rule.
struct TileGrid {
  int64_t blocks = 1, threads = 1;
  /// The number of blocks that a multiprocessor must have registers for at once. If 0, the
  /// assembler chooses.
  int64_t residentBlocks = 0;
};

/// The options on which the grids of a grid fill rule depend.
struct GridOptions {
  /// Whether several threads or blocks may share a sum. If not, each sum must be computed
  /// completely by one thread or one block.
  bool mayDivide;
  /// Whether every sum adds its terms in order.
  bool keepsOrder;
  /// How products of f32 multiply their factors.
  FactorForm factors;

  GridOptions(bool mayDivide, bool keepsOrder, FactorForm factors)
      : mayDivide(mayDivide), keepsOrder(keepsOrder), factors(factors) {}
  /// The options under which `emitter` emits code, for rules that never divide sums.
  explicit GridOptions(const GridEmitter &emitter)
      : GridOptions(/*mayDivide=*/false, emitter.orderedSums, emitter.factors) {}
};

/// The options for the grids of a fill rule's launches, one of which is `launch`. If a library may
/// compute the group, it must be one launch.
inline GridOptions gridOptionsOf(const LaunchPlanOptions &options, const Launch &launch) {
  return {!options.keepsOrder && !launch.call, options.keepsOrder, options.calls.factors};
}

} // namespace dpc

#include "targets/CUDA/Grids/GridFillOpInterface.h.inc"

namespace dpc {

/// The grid fill rule of `op`. Null if it has none or if the rule does not pay.
inline GridFillOpInterface payingGridFill(mlir::Operation *op) {
  auto rule = llvm::dyn_cast<GridFillOpInterface>(op);
  return rule && rule.pays() ? rule : GridFillOpInterface();
}

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDFILL_H
