#ifndef DPC_PASSES_NORMALIZE_CONSTANTVALUES_H
#define DPC_PASSES_NORMALIZE_CONSTANTVALUES_H

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

/// The values of a module that depend only on constants: on nn.constant ops and on arguments of
/// kind `constant`. Computes each value once, by the interpreter rules of the ops.
class ConstantValues {
public:
  explicit ConstantValues(mlir::ModuleOp module) : variables(module) {}

  /// Returns the elements of `value` if they are constant. nullopt if they are not, or if `value`
  /// has more than 2^24 elements.
  std::optional<HostTensor> get(mlir::Value value);
  /// Returns the number to which all elements of `value` are equal, if it is known. Works for
  /// values of any size, because it computes only one element.
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
