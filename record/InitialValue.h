#ifndef DPC_RECORD_INITIALVALUE_H
#define DPC_RECORD_INITIALVALUE_H

#include "dialects/NN/IR/Program.h"

#include <string>

namespace dpc {

/// The first value of a piece of state, as its record tells it.
struct InitialValue {
  /// DPC_INIT_NONE, DPC_INIT_EMBEDDED or DPC_INIT_SPLAT.
  uint32_t kind = 0;
  uint32_t dtype = 0;
  double splat = 0;
  /// DPC_INIT_EMBEDDED: the elements, row-major. They belong to the module, or
  /// to `owned`.
  llvm::StringRef bytes;
  std::shared_ptr<const std::string> owned;
};

/// Reads the value of `variable`. A null variable is DPC_INIT_NONE; a value that cannot be
/// read is an error.
mlir::FailureOr<InitialValue> readInitialValue(nn::VariableOp variable);

} // namespace dpc

#endif // DPC_RECORD_INITIALVALUE_H
