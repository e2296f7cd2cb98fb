#ifndef DPC_DIALECTS_NN_IR_HOSTFACTS_H
#define DPC_DIALECTS_NN_IR_HOSTFACTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace dpc::nn {

/// Integer attribute of a result that is an output: the dimension that counts
/// samples, each sample being extent / batch consecutive indices of it. Set
/// with the layouts, which know how the batch runs through the program; absent
/// where the output is one value of the whole batch. The output's exec.resident
/// has it after the function is gone.
constexpr llvm::StringLiteral kBatchDimAttrName = "nn.batch_dim";

/// Integers of an argument that is an input or a label: [low, high] or [low,
/// high, ignored]. Every element lies between low and high or is the ignored
/// value, which the host checks as it reads data. The argument's exec.resident
/// has it after the function is gone.
constexpr llvm::StringLiteral kBoundsAttrName = "nn.bounds";

/// Unit attribute of an nn.variable: it is a parameter that is not trained. In
/// the program it is a buffer, whose value nothing is computed from before the
/// program runs; to the host it is a parameter that a file of weights brings.
constexpr llvm::StringLiteral kFrozenAttrName = "nn.frozen";

/// Which integers something may be.
struct IntegerBounds {
  int64_t low, high;
  std::optional<int64_t> ignored;

  bool allows(int64_t value) const {
    return (value >= low && value <= high) || value == ignored;
  }
  /// What both allow.
  IntegerBounds intersect(const IntegerBounds &other) const;
};

/// Sets kBatchDimAttrName on result `index`, unless `dim` is -1.
void setBatchDim(mlir::FunctionOpInterface function, unsigned index,
                 int64_t dim);
/// Sets kBoundsAttrName on argument `index`.
void setBounds(mlir::FunctionOpInterface function, unsigned index,
               const IntegerBounds &bounds);
/// The bounds in such an attribute; nullopt for null.
std::optional<IntegerBounds> boundsFrom(mlir::Attribute attribute);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_HOSTFACTS_H
