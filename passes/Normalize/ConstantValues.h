#ifndef DPC_PASSES_NORMALIZE_CONSTANTVALUES_H
#define DPC_PASSES_NORMALIZE_CONSTANTVALUES_H

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

/// Values of a module that depend on nothing but constants: nn.constant ops and
/// arguments of that kind. Computed by the ops' interpreter rules, once.
class ConstantValues {
public:
  explicit ConstantValues(mlir::ModuleOp module) : variables(module) {}

  /// The elements of `value`, if they are constant and not very many.
  std::optional<HostTensor> get(mlir::Value value);
  /// The one number that all elements of `value` are.
  std::optional<double> getSplat(mlir::Value value);

private:
  std::optional<HostTensor> compute(mlir::Value value);
  std::optional<HostTensor> ofArgument(mlir::BlockArgument argument);

  const nn::Variables variables;
  llvm::DenseMap<mlir::Value, std::optional<HostTensor>> known;
  llvm::DenseMap<mlir::Value, std::optional<double>> splats;
};

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_CONSTANTVALUES_H
