#ifndef DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H
#define DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dpc {

/// Changes attributes of a function's arguments and results, and writes all of them at
/// once. A change through the function itself copies the list of all attributes, which a
/// context keeps: of n arguments n lists.
class SignatureAttrs {
public:
  /// Begins with the attributes as they are.
  explicit SignatureAttrs(mlir::FunctionOpInterface function);

  void setArg(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    args[index].set(name, value);
  }
  void setResult(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    results[index].set(name, value);
  }
  /// Puts them into the function, which has as many arguments and results as before.
  void write();

private:
  mlir::FunctionOpInterface function;
  llvm::SmallVector<mlir::NamedAttrList> args, results;
};

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_SIGNATUREATTRS_H
