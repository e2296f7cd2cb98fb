#ifndef DPC_DIALECTS_INTERFACES_HOSTTENSOR_H
#define DPC_DIALECTS_INTERFACES_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace dpc {

/// A dense tensor on the host, for the reference interpreter and constant folding.
/// Its shape is static, and its elements are in row-major order. A float tensor
/// keeps its elements as double in `floats`; `roundToType` rounds them to the
/// element type. A tensor of integers or booleans keeps its elements as int64_t in
/// `ints`; unsigned integers are zero-extended.
class HostTensor {
public:
  HostTensor() = default;
  /// A tensor whose elements are all zero.
  explicit HostTensor(mlir::RankedTensorType type);

  /// A tensor whose elements are all `value`, converted to the element type.
  static HostTensor splat(mlir::RankedTensorType type, double value);
  /// The elements of a dense or dense-resource attribute. Null if the attribute
  /// has another form, or if its resource is missing or has the wrong size.
  static std::optional<HostTensor> fromAttr(mlir::ElementsAttr attr);
  /// The elements as a dense attribute of the tensor's type.
  mlir::DenseElementsAttr toAttr() const;

  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getRank() const { return type.getRank(); }
  int64_t size() const { return isFloat() ? floats.size() : ints.size(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(type.getElementType()); }

  /// Rounds every element to the element type. Floats are rounded to nearest even,
  /// and integers wrap around. The interpreter calls this once for each result of
  /// an op.
  void roundToType();

  /// The same elements in another shape with the same number of elements.
  HostTensor reshaped(llvm::ArrayRef<int64_t> shape) const;

  std::vector<double> floats;
  std::vector<int64_t> ints;

private:
  mlir::RankedTensorType type;
};

/// Row-major strides of `shape`, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Calls `fn(index)` for every multi-index of `shape`, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> fn);

/// The offset of the multi-index `index` in elements: the dot product of `index`
/// and `strides`.
int64_t linearize(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> strides);

/// Rounds `value` to the float type `type`, to nearest even.
double roundToFloatType(double value, mlir::FloatType type);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_HOSTTENSOR_H
