#ifndef DPC_DIALECTS_NN_IR_PROGRAM_H
#define DPC_DIALECTS_NN_IR_PROGRAM_H

#include "dialects/Interfaces/FusableOpInterface.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Program.h.inc"

namespace dpc::nn {

/// Finds the variables of an MLIR module by the names of their tensors. Does not find
/// variables that are added to the MLIR module later.
class Variables {
public:
  explicit Variables(mlir::ModuleOp module);
  /// The variable that holds the tensor `name`; null if no variable does.
  VariableOp find(llvm::StringRef name) const { return byName.lookup(name); }

private:
  llvm::StringMap<VariableOp> byName; // never iterated: its order is not deterministic
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_PROGRAM_H
