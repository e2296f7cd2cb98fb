#ifndef DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H
#define DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dpc {

/// Collects changes of the attributes of a function's arguments and results, and writes
/// them all at once. Each change through the function itself would copy the list of all
/// attributes, and the context keeps every copy: n changes would make n lists.
class SignatureAttrs {
public:
  /// Starts from the present attributes.
  explicit SignatureAttrs(mlir::FunctionOpInterface function);

  void setArg(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    args[index].set(name, value);
  }
  void setResult(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    results[index].set(name, value);
  }
  /// Writes the attributes to the function. Its numbers of arguments and results
  /// must be unchanged.
  void write();

private:
  mlir::FunctionOpInterface function;
  llvm::SmallVector<mlir::NamedAttrList> args, results;
};

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H
