#ifndef DPC_DIALECTS_EXEC_IR_BINDINGS_H
#define DPC_DIALECTS_EXEC_IR_BINDINGS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace dpc::exec {

/// The binding of an argument or result names what it holds in the user's model:
/// one tensor, e.g. the parameter "w", or a flat storage. These functions return
/// the #dist.storage of an argument (of a result), else its #nn.arg (its
/// #nn.result). They return null if it has neither attribute.
mlir::Attribute argBinding(mlir::FunctionOpInterface function, unsigned index);
mlir::Attribute resultBinding(mlir::FunctionOpInterface function, unsigned index);

/// The symbol of the persistent buffer that holds the tensor, scalar or flat
/// storage named by `binding`: state.NAME, input.NAME, control.NAME,
/// coordinate.AXIS, metric.NAME, output.NAME or storage.NAME. The argument of a
/// state and the result that is its new value have the same symbol.
std::string symbolOf(mlir::Attribute binding);

/// One entry for each result of `function`: if the result is the new value of a
/// state or of a flat storage, the argument that holds the old value. The entry is
/// null for any other result, and if the function does not take this state or
/// storage.
llvm::SmallVector<mlir::BlockArgument> findOldValues(mlir::FunctionOpInterface function);

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_BINDINGS_H
