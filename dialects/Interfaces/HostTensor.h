#ifndef DPC_DIALECTS_INTERFACES_HOSTTENSOR_H
#define DPC_DIALECTS_INTERFACES_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace dpc {

/// A dense tensor on the host, for the reference interpreter and constant folding.
/// Float elements are held as double and rounded to the element type by
/// `roundToType`. Integers and booleans are held as int64_t (unsigned ones
/// zero-extended). Row-major, static shape. The element type decides which of the
/// two vectors has the elements.
class HostTensor {
public:
  HostTensor() = default;
  /// All elements zero.
  explicit HostTensor(mlir::RankedTensorType type);

  /// Every element equal to `value` (converted to the element type).
  static HostTensor splat(mlir::RankedTensorType type, double value);
  /// The elements of a dense or dense-resource attribute; nullopt when the
  /// attribute has another form or its resource is missing or of wrong size.
  static std::optional<HostTensor> fromAttr(mlir::ElementsAttr attr);
  /// A dense attribute of the tensor's type.
  mlir::DenseElementsAttr toAttr() const;

  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getRank() const { return type.getRank(); }
  int64_t size() const { return isFloat() ? floats.size() : ints.size(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(type.getElementType()); }

  /// Rounds every element to the element type: to nearest even for floats, with
  /// wrap-around for integers. Ops call it once, on their results.
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

/// Calls `fn(index)` for every multi-index of `shape`, row-major.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> fn);

/// Offset of `index` under `strides`.
int64_t linearize(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> strides);

/// `value` rounded to float type `type`.
double roundToFloatType(double value, mlir::FloatType type);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_HOSTTENSOR_H
