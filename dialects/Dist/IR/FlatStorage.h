#ifndef DPC_DIALECTS_DIST_IR_FLATSTORAGE_H
#define DPC_DIALECTS_DIST_IR_FLATSTORAGE_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Interfaces/FusableOpInterface.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Dist/IR/FlatStorage.h.inc"

namespace dpc::dist {

/// The flat storage that an argument or a result of a function holds. Null if it
/// is a single tensor.
StorageAttr getArgStorage(mlir::FunctionOpInterface function, unsigned index);
StorageAttr getResultStorage(mlir::FunctionOpInterface function, unsigned index);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_FLATSTORAGE_H
