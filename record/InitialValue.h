#ifndef DPC_RECORD_INITIALVALUE_H
#define DPC_RECORD_INITIALVALUE_H

#include "dialects/NN/IR/Program.h"

#include <string>

namespace dpc {

/// The initial value of a state, in the form in which dpc_state_t has it.
struct InitialValue {
  /// DPC_INIT_NONE, DPC_INIT_EMBEDDED or DPC_INIT_SPLAT.
  uint32_t kind = 0;
  uint32_t dtype = 0;
  double splat = 0;
  /// DPC_INIT_EMBEDDED: the elements, row-major. The bytes are in memory of the MLIR
  /// module, or in `owned` if this is not null.
  llvm::StringRef bytes;
  std::shared_ptr<const std::string> owned;
};

/// Reads the initial value of `variable`. For a null variable, the kind of the result is
/// DPC_INIT_NONE. Fails if the value cannot be read.
mlir::FailureOr<InitialValue> readInitialValue(nn::VariableOp variable);

} // namespace dpc

#endif // DPC_RECORD_INITIALVALUE_H
