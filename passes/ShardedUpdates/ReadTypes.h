#ifndef DPC_PASSES_SHARDEDUPDATES_READTYPES_H
#define DPC_PASSES_SHARDEDUPDATES_READTYPES_H

#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// The arguments of all functions of a module, looked up by the tensor of the host that they hold.
class BoundArguments {
public:
  explicit BoundArguments(mlir::ModuleOp module);
  llvm::ArrayRef<mlir::BlockArgument> get(nn::ArgAttr binding) const;

private:
  // Looked up by key only, so that the order of the map has no effect.
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<mlir::BlockArgument, 2>> arguments;
};

/// If all functions of a module convert the state `binding`, or the rows that they look up in it,
/// to one type with fewer bits than `own`, returns that type. Null if there is no such type, e.g.
/// because an op reads the state without a conversion. Readers for which `isPassed` is true do not
/// count.
mlir::Type findReadType(const BoundArguments &arguments, nn::ArgAttr binding, mlir::Type own,
                        llvm::function_ref<bool(mlir::Operation *)> isPassed);

} // namespace dpc

#endif // DPC_PASSES_SHARDEDUPDATES_READTYPES_H
