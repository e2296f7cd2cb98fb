// The steps by which an exporter computed a tensor of the file from a parameter.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_DERIVATION_H
#define DPC_FRONTENDS_ONNX_RESTORE_DERIVATION_H

#include "frontends/onnx/Model/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace dpc::onnx {

/// One operation that an exporter evaluated ahead of time.
struct DerivationStep {
  enum class Kind {
    /// `dims` is the permutation, as ONNX's Transpose takes it.
    Transpose,
    /// `dims` is the new shape.
    Reshape,
    /// `dims` is the new shape; dimensions of extent 1 are repeated.
    Expand,
    /// Takes rows (slices of dimension 0) by `indices`, which has the shape `dims`.
    Gather,
    /// Takes rows `dims[0]` to `dims[1]` - 1.
    Slice,
    /// Adds `addend` to every element.
    Add,
  };
  Kind kind;
  llvm::SmallVector<int64_t, 4> dims;
  std::vector<int64_t> indices;
  double addend = 0;

  bool operator==(const DerivationStep &other) const {
    return kind == other.kind && dims == other.dims && indices == other.indices &&
           addend == other.addend;
  }
};

/// The steps from a parameter to a tensor of the file; empty if they are equal.
using Derivation = std::vector<DerivationStep>;

/// `tensor` after `steps`, rounded to its type. nullopt if a step does not fit the
/// shape or the type (only f32 and f64 support Add).
std::optional<Tensor> derive(const Tensor &tensor, llvm::ArrayRef<DerivationStep> steps);

/// The steps as text for tables, such as "transposed, rows"; empty if there are
/// no steps.
std::string describe(llvm::ArrayRef<DerivationStep> steps);

/// The steps that make exactly `value` from `parameter`. The function tries no step, a
/// permutation of dimensions, another shape, a repetition along dimensions of extent 1, a
/// choice of rows, and an added number. nullopt if none of them gives `value` with equal
/// bits.
std::optional<Derivation> findDerivation(const Tensor &parameter, const Tensor &value);

/// A parameter, and the steps from it to a tensor of the file.
struct Derived {
  Tensor parameter;
  Derivation steps;
};

/// For a `value` that consists of rows of a table, looked up at constant indices: the
/// table of the distinct rows, in the order of their first occurrence. The last `rowDims`
/// dimensions of `value` are a row.
Derived distinctRows(const Tensor &value, unsigned rowDims);

/// The same for a `value` whose dimensions were permuted after the lookup. Some of its
/// dimensions belong to the indices, and the others to a row. Chooses the division of
/// dimensions that gives the smallest table. Rows of a single number count only if the
/// table has at most half as many elements as `value`. Gives `value` itself if its rank is
/// not 2 to 6, or if no division gives a smaller table. nullopt if all elements are equal,
/// because then rows cannot be told apart.
std::optional<Derived> distinctRowsAnywhere(const Tensor &value);

/// For a `value` that is a parameter repeated along some dimensions: the parameter. All
/// dimensions along which `value` does not change count as repeated. If all elements are
/// equal, only dimension `samples` does.
Derived collapseRepeated(const Tensor &value, size_t samples = 0);

/// Whether type, shape and bits are equal.
bool isSame(const Tensor &a, const Tensor &b);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_DERIVATION_H
