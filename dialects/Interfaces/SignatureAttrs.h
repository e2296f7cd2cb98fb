#ifndef DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H
#define DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dpc {

/// Collects changes to the attributes of a function's arguments and results, and writes
/// all of them at once. If each change were made on the function directly, it would
/// copy the list of all attributes. The MLIRContext keeps every copy, so n changes
/// would leave n lists.
class SignatureAttrs {
public:
  /// Begins with the current attributes of `function`.
  explicit SignatureAttrs(mlir::FunctionOpInterface function);

  void setArg(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    args[index].set(name, value);
  }
  void setResult(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    results[index].set(name, value);
  }
  /// Writes the attributes to the function. The function must still have the same
  /// number of arguments and of results.
  void write();

private:
  mlir::FunctionOpInterface function;
  llvm::SmallVector<mlir::NamedAttrList> args, results;
};

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H
