// Tensors on the host: construction, conversion from and to attributes, and
// rounding to the element type.

#include "dialects/Interfaces/HostTensor.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

HostTensor::HostTensor(RankedTensorType type) : type(type) {
  if (isFloat())
    floats.resize(type.getNumElements());
  else
    ints.resize(type.getNumElements());
}

HostTensor HostTensor::splat(RankedTensorType type, double value) {
  HostTensor result(type);
  if (result.isFloat())
    std::fill(result.floats.begin(), result.floats.end(), value);
  else
    std::fill(result.ints.begin(), result.ints.end(), static_cast<int64_t>(value));
  result.roundToType();
  return result;
}

/// `rawFloat` reads one element from raw little-endian bytes as a double, and
/// `rawInt` reads one as an int64_t.
static double rawFloat(const char *bytes, FloatType type) {
  if (type.isF32()) {
    float value;
    memcpy(&value, bytes, 4);
    return value;
  }
  if (type.isF64()) {
    double value;
    memcpy(&value, bytes, 8);
    return value;
  }
  uint64_t bits = 0;
  memcpy(&bits, bytes, type.getWidth() / 8);
  APFloat value(type.getFloatSemantics(), APInt(type.getWidth(), bits));
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

static int64_t rawInt(const char *bytes, IntegerType type) {
  unsigned width = type.getWidth() == 1 ? 8 : type.getWidth();
  uint64_t bits = 0;
  memcpy(&bits, bytes, width / 8);
  if (type.getWidth() == 1)
    return bits != 0;
  if (type.isUnsigned() || width == 64)
    return static_cast<int64_t>(bits);
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

std::optional<HostTensor> HostTensor::fromAttr(ElementsAttr attr) {
  auto type = dyn_cast<RankedTensorType>(attr.getType());
  if (!type)
    return std::nullopt;
  HostTensor result(type);
  if (auto dense = dyn_cast<DenseElementsAttr>(attr)) {
    if (auto floatType = dyn_cast<FloatType>(type.getElementType())) {
      auto convert = [&](APFloat value) {
        bool losesInfo;
        value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
        return value.convertToDouble();
      };
      if (dense.isSplat()) {
        std::fill(result.floats.begin(), result.floats.end(),
                  convert(dense.getSplatValue<APFloat>()));
        return result;
      }
      // Constants of models may have millions of elements, so f32 does not pass through APFloat.
      if (floatType.isF32())
        llvm::copy(dense.getValues<float>(), result.floats.begin());
      else
        llvm::transform(dense.getValues<APFloat>(), result.floats.begin(), convert);
      return result;
    }
    auto intType = dyn_cast<IntegerType>(type.getElementType());
    if (!intType)
      return std::nullopt;
    bool zeroExtend = intType.isUnsigned() || intType.getWidth() == 1;
    auto extend = [&](const APInt &value) -> int64_t {
      return zeroExtend ? value.getZExtValue() : value.getSExtValue();
    };
    if (intType.isInteger(1))
      llvm::copy(dense.getValues<bool>(), result.ints.begin());
    else
      llvm::transform(dense.getValues<APInt>(), result.ints.begin(), extend);
    return result;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  if (!resource)
    return std::nullopt;
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return std::nullopt;
  ArrayRef<char> data = blob->getData();
  unsigned width = type.getElementTypeBitWidth();
  int64_t bytes = width == 1 ? 1 : width / 8, count = type.getNumElements();
  if (static_cast<int64_t>(data.size()) != bytes * count)
    return std::nullopt;
  if (auto floatType = dyn_cast<FloatType>(type.getElementType())) {
    for (int64_t i = 0; i < count; ++i)
      result.floats[i] = rawFloat(data.data() + i * bytes, floatType);
    return result;
  }
  auto intType = dyn_cast<IntegerType>(type.getElementType());
  if (!intType)
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i)
    result.ints[i] = rawInt(data.data() + i * bytes, intType);
  return result;
}

DenseElementsAttr HostTensor::toAttr() const {
  if (auto floatType = dyn_cast<FloatType>(type.getElementType())) {
    if (floatType.isF32())
      return DenseElementsAttr::get(type, ArrayRef(llvm::to_vector_of<float>(floats)));
    SmallVector<APFloat> values;
    values.reserve(floats.size());
    for (double element : floats) {
      APFloat value(element);
      bool losesInfo;
      value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      values.push_back(value);
    }
    return DenseElementsAttr::get(type, values);
  }
  if (type.getElementType().isInteger(1))
    return DenseElementsAttr::get(type, ArrayRef(llvm::to_vector_of<bool>(ints)));
  SmallVector<APInt> values;
  values.reserve(ints.size());
  unsigned width = type.getElementTypeBitWidth();
  for (int64_t element : ints)
    values.push_back(APInt(width, element, /*isSigned=*/true));
  return DenseElementsAttr::get(type, values);
}

double dpc::roundToFloatType(double value, FloatType type) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

void HostTensor::roundToType() {
  if (auto floatType = dyn_cast<FloatType>(type.getElementType())) {
    if (floatType.isF64())
      return;
    for (double &value : floats)
      value = roundToFloatType(value, floatType);
    return;
  }
  auto intType = cast<IntegerType>(type.getElementType());
  unsigned width = intType.getWidth();
  if (width == 64)
    return;
  bool zeroExtend = intType.isUnsigned() || width == 1;
  for (int64_t &value : ints) {
    uint64_t bits = static_cast<uint64_t>(value) << (64 - width);
    value = zeroExtend ? static_cast<int64_t>(bits >> (64 - width))
                       : static_cast<int64_t>(bits) >> (64 - width);
  }
}

HostTensor HostTensor::reshaped(ArrayRef<int64_t> shape) const {
  HostTensor result = *this;
  result.type = RankedTensorType::get(shape, type.getElementType());
  return result;
}

SmallVector<int64_t> dpc::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

void dpc::forEachIndex(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>)> fn) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    fn(index);
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim])
      index[dim--] = 0;
    if (dim < 0)
      return;
  }
}

int64_t dpc::linearize(ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
  int64_t offset = 0;
  for (auto [position, stride] : llvm::zip_equal(index, strides))
    offset += position * stride;
  return offset;
}
