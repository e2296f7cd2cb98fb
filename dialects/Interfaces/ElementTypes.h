#ifndef DPC_DIALECTS_INTERFACES_ELEMENTTYPES_H
#define DPC_DIALECTS_INTERFACES_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

namespace dpc {

/// Returns the number of an element type in the runtime, e.g. DPC_F32 for f32. Returns
/// DPC_DTYPE_INVALID if the runtime does not have the type.
uint32_t dtypeOf(mlir::Type element);

/// Returns the element type with the number `dtype` in the runtime, e.g. f32 for DPC_F32.
/// Returns null for DPC_DTYPE_INVALID and for unknown numbers.
mlir::Type elementTypeOf(uint32_t dtype, mlir::MLIRContext *context);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_ELEMENTTYPES_H
