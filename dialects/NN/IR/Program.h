#ifndef DPC_DIALECTS_NN_IR_PROGRAM_H
#define DPC_DIALECTS_NN_IR_PROGRAM_H

#include "dialects/Interfaces/FusableOpInterface.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Program.h.inc"

namespace dpc::nn {

/// Finds the variables of a module by the names of their tensors. Variables that are added
/// to the module later are not found.
class Variables {
public:
  explicit Variables(mlir::ModuleOp module);
  /// The variable that holds the tensor `name`; null if the module has none.
  VariableOp find(llvm::StringRef name) const { return byName.lookup(name); }

private:
  llvm::StringMap<VariableOp> byName; // never iterated: its order is not deterministic
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_PROGRAM_H
