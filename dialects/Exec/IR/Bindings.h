#ifndef DPC_DIALECTS_EXEC_IR_BINDINGS_H
#define DPC_DIALECTS_EXEC_IR_BINDINGS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace dpc::exec {

/// What an argument (a result) of a function is bound to: its #dist.storage,
/// else its #nn.arg (#nn.result); null if it has neither.
mlir::Attribute argBinding(mlir::FunctionOpInterface function, unsigned index);
mlir::Attribute resultBinding(mlir::FunctionOpInterface function, unsigned index);

/// The symbol of the persistent buffer that holds what `binding` names:
/// state.NAME, input.NAME, control.NAME, coordinate.AXIS, metric.NAME,
/// output.NAME or storage.NAME. A state's argument and the result that is its
/// new value have one symbol.
std::string symbolOf(mlir::Attribute binding);

/// For each result of `function` the argument of which it is the new value;
/// null for one that is no state, or whose state the function does not take.
llvm::SmallVector<mlir::BlockArgument> findOldValues(mlir::FunctionOpInterface function);

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_BINDINGS_H
