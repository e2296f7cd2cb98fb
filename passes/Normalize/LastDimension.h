#ifndef DPC_PASSES_NORMALIZE_LASTDIMENSION_H
#define DPC_PASSES_NORMALIZE_LASTDIMENSION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace dpc {

/// Returns the elements low..high-1 of the last dimension of `value`, computed from few elements.
/// Takes only the needed parts of concatenations, broadcasts and constants. Clones elementwise ops,
/// so that they work on slices of their operands. The result of any other op is sliced by an
/// `nn.slice`. New ops have the location `loc`.
mlir::Value sliceLast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t low,
                      int64_t high);

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_LASTDIMENSION_H
