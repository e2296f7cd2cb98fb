#ifndef DPC_PASSES_LOWERING_PROGRAM_INITIALVALUE_H
#define DPC_PASSES_LOWERING_PROGRAM_INITIALVALUE_H

#include "passes/Lowering/Program/RecordImage.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// The first value of a piece of state, as its record tells it.
struct InitialValue {
  uint32_t kind = 0;
  uint32_t dtype = 0;
  double splat = 0;
  llvm::Constant *data = nullptr;
};

/// Embeds the value of the nn.variable `name`. A missing variable is
/// DPC_INIT_NONE; a value that cannot be read is an error.
mlir::FailureOr<InitialValue> emitInitialValue(mlir::ModuleOp module,
                                               llvm::StringRef name,
                                               ConstantPool &pool);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_PROGRAM_INITIALVALUE_H
