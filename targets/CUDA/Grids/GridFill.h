#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDFILL_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDFILL_H

#include "targets/CUDA/Grids/GridEmitter.h"

namespace dpc {

/// The size of the grid of one launch of a grid fill rule.
struct TileGrid {
  int64_t blocks = 1, threads = 1;
};

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
