#ifndef DPC_DIALECTS_NN_IR_PROGRAM_H
#define DPC_DIALECTS_NN_IR_PROGRAM_H

#include "dialects/Interfaces/FusableOpInterface.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinOps.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Program.h.inc"

namespace dpc::nn {

/// The variable that holds the tensor `name`; null if the module has none.
VariableOp findVariable(mlir::ModuleOp module, llvm::StringRef name);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_PROGRAM_H
