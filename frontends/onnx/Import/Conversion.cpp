// Helpers with which a converter reads its ONNX node and builds `nn` ops.

#include "frontends/onnx/Import/Conversion.h"

#include "OnnxSchema.pb.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dpc::onnx {

SmallVector<int64_t> range(int64_t begin, int64_t end) {
  SmallVector<int64_t> numbers;
  for (int64_t i = begin; i < end; ++i)
    numbers.push_back(i);
  return numbers;
}

std::string printed(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(size);
  return text + "]";
}

Type convertElementType(MLIRContext *context, ElementType type) {
  Builder builder(context);
  auto unsignedType = [&](unsigned width) {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (type) {
  case ElementType::F32:
    return builder.getF32Type();
  case ElementType::F64:
    return builder.getF64Type();
  case ElementType::F16:
    return builder.getF16Type();
  case ElementType::BF16:
    return builder.getBF16Type();
  case ElementType::Bool:
    return builder.getI1Type();
  case ElementType::I8:
    return builder.getIntegerType(8);
  case ElementType::I16:
    return builder.getIntegerType(16);
  case ElementType::I32:
    return builder.getI32Type();
  case ElementType::I64:
    return builder.getI64Type();
  case ElementType::U8:
    return unsignedType(8);
  case ElementType::U16:
    return unsignedType(16);
  case ElementType::U32:
    return unsignedType(32);
  case ElementType::U64:
    return unsignedType(64);
  }
  return {};
}

ElementType onnxElementType(Type type) {
  return *llvm::find_if(kElementTypes, [&](ElementType each) {
    return convertElementType(type.getContext(), each) == type;
  });
}

std::optional<SmallVector<int64_t>> constantInts(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  if (!constant || !isa<IntegerType>(nn::typeOf(value).getElementType()))
    return std::nullopt;
  std::optional<HostTensor> host = HostTensor::fromAttr(constant.getValue());
  if (!host)
    return std::nullopt;
  return SmallVector<int64_t>(host->ints.begin(), host->ints.end());
}

LogicalResult Conversion::error(const Twine &message) {
  failed = true;
  return emitError(loc) << describe(node) << ": " << message;
}

bool Conversion::attempt(function_ref<LogicalResult()> make) {
  Block *block = builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  {
    ScopedDiagnosticHandler silent(loc.getContext(), [](Diagnostic &) { return success(); });
    if (succeeded(make()) && !failed)
      return true;
  }
  failed = false;
  results.assign(results.size(), {});
  sequenceResults.clear();
  while (!block->empty() && &block->back() != last)
    block->back().erase();
  return false;
}

bool Conversion::isUsed(unsigned result) const {
  ValueId id = node.output(result);
  return id != kNoValue && (!graph().values[id].uses.empty() ||
                            llvm::any_of(graph().outputs, [&](const GraphOutput &output) {
                              return output.value == id;
                            }));
}

std::optional<SmallVector<int64_t>> Conversion::tryInts(unsigned i) {
  return constantInts(operand(i));
}

SmallVector<int64_t> Conversion::ints(unsigned i, StringRef what) {
  if (auto known = tryInts(i))
    return *known;
  (void)error(what + " must be known at compile time (input '" +
              graph().values[node.inputs[i]].name + "' is computed from data)");
  return {};
}

int64_t Conversion::scalarInt(unsigned i, StringRef what) {
  SmallVector<int64_t> elements = ints(i, what);
  if (elements.size() == 1)
    return elements[0];
  if (!failed)
    (void)error(what + " has " + Twine(elements.size()) + " elements but must have 1");
  return 0;
}

std::optional<SmallVector<double>> Conversion::tryDoubles(unsigned i) {
  auto constant = operand(i).getDefiningOp<nn::ConstantOp>();
  std::optional<HostTensor> host =
      constant ? HostTensor::fromAttr(constant.getValue()) : std::nullopt;
  if (!host)
    return std::nullopt;
  if (host->isFloat())
    return SmallVector<double>(host->floats.begin(), host->floats.end());
  return SmallVector<double>(host->ints.begin(), host->ints.end());
}

const onnxpb::AttributeProto *Conversion::attribute(StringRef name) const {
  auto found = node.attributes.find(name.str());
  return found == node.attributes.end() ? nullptr : found->second;
}

int64_t Conversion::intAttr(StringRef name, int64_t fallback) const {
  const auto *found = attribute(name);
  return found ? found->i() : defaultOf(name, fallback);
}

double Conversion::floatAttr(StringRef name, double fallback) const {
  const auto *found = attribute(name);
  return found ? found->f() : defaultOf(name, fallback);
}

std::string Conversion::stringAttr(StringRef name, StringRef fallback) const {
  const auto *found = attribute(name);
  return found ? found->s() : defaultOf(name, fallback).str();
}

SmallVector<int64_t> Conversion::intsAttr(StringRef name) const {
  const auto *found = attribute(name);
  if (found)
    return SmallVector<int64_t>(found->ints().begin(), found->ints().end());
  auto values = defaultOf(name, llvm::ArrayRef<int64_t>());
  return SmallVector<int64_t>(values.begin(), values.end());
}

SmallVector<double> Conversion::floatsAttr(StringRef name) const {
  const auto *found = attribute(name);
  return found ? SmallVector<double>(found->floats().begin(), found->floats().end())
               : SmallVector<double>();
}

SmallVector<std::string> Conversion::stringsAttr(StringRef name) const {
  const auto *found = attribute(name);
  if (found)
    return SmallVector<std::string>(found->strings().begin(), found->strings().end());
  auto values = defaultOf(name, llvm::ArrayRef<StringRef>());
  return SmallVector<std::string>(values.begin(), values.end());
}

int64_t Conversion::requiredInt(StringRef name) {
  if (!hasAttr(name))
    (void)error("attribute '" + name + "' is missing");
  return intAttr(name, 0);
}

const Subgraph *Conversion::subgraph(StringRef attribute) {
  for (const Subgraph &each : node.subgraphs)
    if (each.attribute == attribute)
      return &each;
  (void)error("attribute '" + attribute + "' is missing");
  return nullptr;
}

int64_t Conversion::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    (void)error("axis " + Twine(axis) + " is out of range for rank " + Twine(rank));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> Conversion::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> sorted;
  for (int64_t axis : axes) {
    if (failed)
      return {};
    sorted.push_back(normalizeAxis(axis, rank));
  }
  llvm::sort(sorted);
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] == sorted[i - 1]) {
      (void)error("axis " + Twine(sorted[i]) + " is given twice");
      return {};
    }
  return sorted;
}

std::optional<SmallVector<int64_t>> Conversion::axes(unsigned i) {
  if (has(i))
    return ints(i, "axes");
  if (hasAttr("axes"))
    return intsAttr("axes");
  return std::nullopt;
}

Value Conversion::broadcastTo(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(value);
  if (from == shape)
    return value;
  int64_t shift = static_cast<int64_t>(shape.size() - from.size());
  SmallVector<int64_t> kept, dimensions;
  bool fits = shift >= 0;
  for (int64_t i = 0; fits && i < int64_t(from.size()); ++i) {
    if (from[i] == shape[i + shift] && from[i] != 1) {
      kept.push_back(from[i]);
      dimensions.push_back(i + shift);
    } else {
      fits = from[i] == 1;
    }
  }
  if (!fits) {
    (void)error("shape " + printed(from) + " does not broadcast to " + printed(shape) +
                bakedBatchHint);
    return {};
  }
  auto type = RankedTensorType::get(shape, nn::typeOf(value).getElementType());
  if (auto constant = value.getDefiningOp<nn::ConstantOp>())
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return e.make<nn::ConstantOp>(cast<ElementsAttr>(dense.resizeSplat(type)));
  if (type.getNumElements() == nn::typeOf(value).getNumElements())
    return e.reshape(value, shape);
  if (auto inner = value.getDefiningOp<nn::BroadcastOp>(); inner && kept == from) {
    SmallVector<int64_t> composed;
    for (int64_t dimension : inner.getDimensions())
      composed.push_back(dimensions[dimension]);
    return e.broadcast(inner.getInput(), shape, composed);
  }
  return e.broadcast(e.reshape(value, kept), shape, dimensions);
}

SmallVector<Value> Conversion::broadcastTogether(ArrayRef<Value> values) {
  SmallVector<int64_t> shape;
  for (Value value : values) {
    ArrayRef<int64_t> other = shapeOf(value);
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), 1);
    size_t shift = shape.size() - other.size();
    for (size_t i = 0; i < other.size(); ++i) {
      int64_t &size = shape[i + shift];
      if (size != other[i] && size != 1 && other[i] != 1) {
        std::string all;
        for (Value each : values)
          all += (all.empty() ? "" : " and ") + printed(shapeOf(each));
        (void)error("shapes " + all + " do not broadcast together");
        return {};
      }
      if (size == 1)
        size = other[i];
    }
  }
  SmallVector<Value> result;
  for (Value value : values)
    result.push_back(broadcastTo(value, shape));
  return result;
}

std::pair<Value, Value> Conversion::binary() {
  SmallVector<Value> both = broadcastTogether({operand(0), operand(1)});
  return both.empty() ? std::pair<Value, Value>() : std::pair(both[0], both[1]);
}

Value Conversion::sliceAlong(Value value, int64_t axis, int64_t start, int64_t limit) {
  SmallVector<int64_t> starts(rankOf(value), 0), limits(shapeOf(value)), strides(rankOf(value), 1);
  if (start == 0 && limit == limits[axis])
    return value;
  starts[axis] = start;
  limits[axis] = limit;
  return e.make<nn::SliceOp>(value, starts, limits, strides);
}

Value Conversion::exactConstant(const HostTensor &values) {
  Value head = e.make<nn::ConstantOp>(cast<ElementsAttr>(values.toAttr()));
  HostTensor left = values;
  if (values.getType().getElementType().isF32())
    for (double &value : left.floats)
      value = std::isfinite(value) ? value - double(float(value)) : 0;
  if (!values.getType().getElementType().isF32() ||
      llvm::all_of(left.floats, [](double value) { return value == 0; }))
    return head;
  return e.add(head, e.make<nn::ConstantOp>(cast<ElementsAttr>(left.toAttr())));
}

Value Conversion::exactLike(Value like, double value) {
  RankedTensorType type = nn::typeOf(like);
  HostTensor scalar(nn::withShape(type, {}));
  scalar.floats[0] = value; // kept as a double: exactConstant adds the part that f32 cannot hold
  return e.broadcastScalar(exactConstant(scalar), type.getShape());
}

Value Conversion::intConstant(ArrayRef<int64_t> shape, ArrayRef<int64_t> elements) {
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  return e.make<nn::ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(type, elements)));
}

} // namespace dpc::onnx
