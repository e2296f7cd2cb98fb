// Imports ONNX operators that make constants and shapes.

#include "frontends/onnx/Import/Constants.h"
#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Model/ExternalData.h"

#include "OnnxSchema.pb.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// The tensor `proto` of an attribute. External data is an error, because exporters do
/// not use it for Constant nodes.
std::optional<HostTensor> readAttributeTensor(Conversion &c, const onnxpb::TensorProto &proto) {
  if (proto.data_location() == onnxpb::TensorProto::EXTERNAL) {
    (void)c.error("external data in an attribute is not supported");
    return std::nullopt;
  }
  ExternalFiles none{""};
  auto tensor = readTensor(proto, nullptr, none, "attribute 'value'");
  if (!tensor) {
    (void)c.error(llvm::toString(tensor.takeError()));
    return std::nullopt;
  }
  return toHostTensor(c.elementType(tensor->type), *tensor);
}

LogicalResult convertConstant(Conversion &c) {
  if (c.node.attributes.size() != 1)
    return c.error("has " + Twine(c.node.attributes.size()) + " attributes but must have 1");
  const auto &[name, attribute] = *c.node.attributes.begin();
  using A = onnxpb::AttributeProto;
  bool isFloat = attribute->type() == A::FLOAT || attribute->type() == A::FLOATS;
  Type element = isFloat ? Type(c.builder.getF32Type()) : Type(c.builder.getI64Type());
  HostTensor host;
  switch (attribute->type()) {
  case A::TENSOR: {
    auto read = readAttributeTensor(c, attribute->t());
    if (!read)
      return failure();
    host = std::move(*read);
    break;
  }
  case A::FLOAT:
    host = HostTensor(RankedTensorType::get({}, element));
    host.floats[0] = attribute->f();
    break;
  case A::INT:
    host = HostTensor(RankedTensorType::get({}, element));
    host.ints[0] = attribute->i();
    break;
  case A::FLOATS:
    host = HostTensor(RankedTensorType::get({attribute->floats_size()}, element));
    host.floats.assign(attribute->floats().begin(), attribute->floats().end());
    break;
  case A::INTS:
    host = HostTensor(RankedTensorType::get({attribute->ints_size()}, element));
    host.ints.assign(attribute->ints().begin(), attribute->ints().end());
    break;
  default:
    return c.error("attribute '" + Twine(name) + "' is of a kind that is not supported");
  }
  return c.done(emitConstant(c.builder, c.loc, host));
}

/// The extents that operand `i` lists. Reports an error if one is negative, or if the
/// number of elements of such a tensor does not fit into 64 bits.
std::optional<SmallVector<int64_t>> shapeOperand(Conversion &c, unsigned i) {
  SmallVector<int64_t> shape = c.ints(i, "shape");
  if (c.failed)
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size < 0) {
      (void)c.error("shape " + printed(shape) + " has a negative extent");
      return std::nullopt;
    }
    if (llvm::MulOverflow(elements, size, elements)) {
      (void)c.error("shape " + printed(shape) + " overflows");
      return std::nullopt;
    }
  }
  return shape;
}

LogicalResult convertConstantOfShape(Conversion &c) {
  auto shape = shapeOperand(c, 0);
  if (!shape)
    return failure();
  HostTensor one(RankedTensorType::get({}, c.builder.getF32Type()));
  auto value = c.node.attributes.find("value");
  if (value != c.node.attributes.end()) {
    auto read = readAttributeTensor(c, value->second->t());
    if (!read)
      return failure();
    if (read->size() != 1)
      return c.error("attribute 'value' has " + Twine(read->size()) + " elements but must have 1");
    one = read->reshaped({});
  }
  auto type = nn::withShape(one.getType(), *shape);
  return c.done(c.e.make<nn::ConstantOp>(cast<ElementsAttr>(one.toAttr().resizeSplat(type))));
}

LogicalResult convertShape(Conversion &c) {
  ArrayRef<int64_t> shape = shapeOf(c.operand(0));
  int64_t rank = static_cast<int64_t>(shape.size());
  auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = clamp(c.intAttr("start")), end = clamp(c.intAttr("end", rank));
  ArrayRef<int64_t> part = shape.slice(start, std::max<int64_t>(end - start, 0));
  return c.done(c.intConstant({int64_t(part.size())}, part));
}

LogicalResult convertSize(Conversion &c) {
  return c.done(c.intConstant({}, {nn::typeOf(c.operand(0)).getNumElements()}));
}

/// Element i of the result is start + i * delta, in the type of the operands.
LogicalResult convertRange(Conversion &c) {
  auto start = c.tryDoubles(0), limit = c.tryDoubles(1), delta = c.tryDoubles(2);
  if (!start || !limit || !delta)
    return c.error("start, limit and delta must be known at compile time");
  if (start->size() != 1 || limit->size() != 1 || delta->size() != 1)
    return c.error("start, limit and delta must be scalars");
  double step = delta->front();
  if (step == 0)
    return c.error("delta is 0");
  double count = std::max(std::ceil((limit->front() - start->front()) / step), 0.0);
  if (!(count <= double(kMaxFoldedElements)))
    return c.error("has more than " + Twine(kMaxFoldedElements) + " elements");
  HostTensor host(RankedTensorType::get({static_cast<int64_t>(count)},
                                        nn::typeOf(c.operand(0)).getElementType()));
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    double value = start->front() + double(i) * step;
    if (host.isFloat())
      host.floats[i] = value;
    else
      host.ints[i] = static_cast<int64_t>(value);
  }
  host.roundToType();
  return c.done(emitConstant(c.builder, c.loc, host));
}

LogicalResult convertEyeLike(Conversion &c) {
  auto given = nn::typeOf(c.operand(0));
  if (given.getRank() != 2)
    return c.error("input has rank " + Twine(given.getRank()) + " but must have 2");
  Type element = given.getElementType();
  if (c.hasAttr("dtype")) {
    auto type = elementTypeOf(static_cast<int32_t>(c.intAttr("dtype", 1)), "attribute 'dtype'");
    if (!type)
      return c.error(llvm::toString(type.takeError()));
    element = c.elementType(*type);
  }
  auto index = RankedTensorType::get(given.getShape(), c.builder.getI64Type());
  Value row = c.e.make<nn::IotaOp>(index, 0), column = c.e.make<nn::IotaOp>(index, 1);
  Value shifted = c.e.add(row, c.e.splat(index, double(c.intAttr("k"))));
  return c.done(c.e.convert(c.e.compare(nn::Comparison::eq, shifted, column), element));
}

LogicalResult convertIdentity(Conversion &c) {
  Value x = c.operand(0);
  bool isFloat = x && isa<FloatType>(nn::typeOf(x).getElementType());
  return c.done(c.node.stopsGradient && isFloat ? c.e.make<nn::StopGradientOp>(x) : x);
}

} // namespace

void dpc::onnx::registerConstantOps(Registry &registry) {
  registry.add("Constant", convertConstant);
  registry.add("ConstantOfShape", convertConstantOfShape);
  registry.add("Shape", convertShape);
  registry.add("Size", convertSize);
  registry.add("Range", convertRange);
  registry.add("EyeLike", convertEyeLike);
  registry.add("Identity", convertIdentity);
}
