#ifndef DPC_DIALECTS_INTERFACES_ELEMENTTYPES_H
#define DPC_DIALECTS_INTERFACES_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

namespace dpc {

/// The number of an element type in the runtime: DPC_F64, ...; DPC_DTYPE_INVALID for
/// a type that the runtime does not have.
uint32_t dtypeOf(mlir::Type element);

/// The element type with this number in the runtime; null for DPC_DTYPE_INVALID and
/// unknown numbers.
mlir::Type elementTypeOf(uint32_t dtype, mlir::MLIRContext *context);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_ELEMENTTYPES_H
