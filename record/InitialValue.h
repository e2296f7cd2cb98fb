#ifndef DPC_RECORD_INITIALVALUE_H
#define DPC_RECORD_INITIALVALUE_H

#include "dialects/NN/IR/Program.h"

#include <string>

namespace dpc {

/// The initial value of a state, in the form of its record.
struct InitialValue {
  /// DPC_INIT_NONE, DPC_INIT_EMBEDDED or DPC_INIT_SPLAT.
  uint32_t kind = 0;
  uint32_t dtype = 0;
  double splat = 0;
  /// DPC_INIT_EMBEDDED: the elements, row-major. The memory belongs to the
  /// module or to `owned`.
  llvm::StringRef bytes;
  std::shared_ptr<const std::string> owned;
};

/// Reads the initial value of `variable`. The result is DPC_INIT_NONE for a
/// null variable. Fails if the value cannot be read.
mlir::FailureOr<InitialValue> readInitialValue(nn::VariableOp variable);

} // namespace dpc

#endif // DPC_RECORD_INITIALVALUE_H
