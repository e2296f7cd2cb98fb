// How a tensor of the file follows from a parameter.

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
    /// Rows (slices of dimension 0) by `indices`, which has the shape `dims`.
    Gather,
    /// Rows `dims[0]` to `dims[1]`, without the last one.
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

/// Steps from a parameter to a tensor of the file; none: they are the same.
using Derivation = std::vector<DerivationStep>;

/// `tensor` after `steps`, rounded as its type is; nullopt when a step does not
/// fit the shape or the type (only f32 and f64 are added to).
std::optional<Tensor> derive(const Tensor &tensor, llvm::ArrayRef<DerivationStep> steps);

/// "transposed, rows": for tables; empty for no step.
std::string describe(llvm::ArrayRef<DerivationStep> steps);

/// The steps that make `value` of `parameter`, bit by bit: none, a permutation
/// of dimensions, another shape, repetition along dimensions of extent 1,
/// rows, or a number added. nullopt when none does.
std::optional<Derivation> findDerivation(const Tensor &parameter, const Tensor &value);

/// A parameter and how a tensor of the file follows from it.
struct Derived {
  Tensor parameter;
  Derivation steps;
};

/// `value` is a table's rows at constant places, its last `rowDims` dimensions
/// a row: the table of the distinct rows, in the order of their first places.
Derived distinctRows(const Tensor &value, unsigned rowDims);

/// `value` is a lookup at constant places whose dimensions were moved since:
/// the split into places and row that leaves the smallest table. Without any
/// row that occurs twice, `value` itself. nullopt when all elements are equal,
/// so that nothing tells one row from another.
std::optional<Derived> distinctRowsAnywhere(const Tensor &value);

/// `value` was repeated along dimensions (all along which it does not change,
/// or, when all elements are equal, only dimension `samples`): the parameter
/// before.
Derived collapseRepeated(const Tensor &value, size_t samples = 0);

/// Same type, shape and bits.
bool isSame(const Tensor &a, const Tensor &b);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_DERIVATION_H
