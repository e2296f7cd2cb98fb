// The attributes of descriptors: which there are, their types and numbers of elements, and which a
// descriptor needs. Source: NVIDIA, "cuDNN Backend API", and experiments with cuDNN 9.19.
#include "test/cuda_emulator/cudnn/Descriptor.h"

#include "test/cuda_emulator/base/Options.h"

#include <cstring>

using namespace dpc::cuda;
using namespace dpc::emulator;

namespace {
struct Attribute {
  DnnDescriptorType of;
  DnnAttribute name;
  DnnType type;
  int64_t least, most; // numbers of elements
  bool isNeeded = true;
};
} // namespace

using Of = DnnDescriptorType;
using At = DnnAttribute;
using Is = DnnType;

static constexpr int64_t kMostDimensions = 8, kMostText = 1 << 20;

/// The attributes that callers may set.
static const Attribute kAttributes[] = {
    {Of::tensor, At::tensorId, Is::i64, 1, 1},
    {Of::tensor, At::tensorType, Is::dataType, 1, 1},
    {Of::tensor, At::tensorAlignment, Is::i64, 1, 1},
    {Of::tensor, At::tensorExtents, Is::i64, 1, kMostDimensions},
    {Of::tensor, At::tensorStrides, Is::i64, 1, kMostDimensions},
    {Of::convolution, At::convolutionComputeType, Is::dataType, 1, 1},
    {Of::convolution, At::convolutionMode, Is::convolutionMode, 1, 1},
    {Of::convolution, At::convolutionSpatial, Is::i64, 1, 1},
    {Of::convolution, At::convolutionDilations, Is::i64, 1, kMostDimensions},
    {Of::convolution, At::convolutionStrides, Is::i64, 1, kMostDimensions},
    {Of::convolution, At::convolutionPadLow, Is::i64, 1, kMostDimensions},
    {Of::convolution, At::convolutionPadHigh, Is::i64, 1, kMostDimensions},
    {Of::operationForward, At::forwardAlpha, Is::f32, 1, 1},
    {Of::operationForward, At::forwardBeta, Is::f32, 1, 1},
    {Of::operationForward, At::forwardConvolution, Is::descriptor, 1, 1},
    {Of::operationForward, At::forwardW, Is::descriptor, 1, 1},
    {Of::operationForward, At::forwardX, Is::descriptor, 1, 1},
    {Of::operationForward, At::forwardY, Is::descriptor, 1, 1},
    {Of::operationInputGradient, At::inputGradientAlpha, Is::f32, 1, 1},
    {Of::operationInputGradient, At::inputGradientBeta, Is::f32, 1, 1},
    {Of::operationInputGradient, At::inputGradientConvolution, Is::descriptor, 1, 1},
    {Of::operationInputGradient, At::inputGradientW, Is::descriptor, 1, 1},
    {Of::operationInputGradient, At::inputGradientX, Is::descriptor, 1, 1},
    {Of::operationInputGradient, At::inputGradientY, Is::descriptor, 1, 1},
    {Of::operationWeightGradient, At::weightGradientAlpha, Is::f32, 1, 1},
    {Of::operationWeightGradient, At::weightGradientBeta, Is::f32, 1, 1},
    {Of::operationWeightGradient, At::weightGradientConvolution, Is::descriptor, 1, 1},
    {Of::operationWeightGradient, At::weightGradientW, Is::descriptor, 1, 1},
    {Of::operationWeightGradient, At::weightGradientX, Is::descriptor, 1, 1},
    {Of::operationWeightGradient, At::weightGradientY, Is::descriptor, 1, 1},
    {Of::operationGraph, At::graphHandle, Is::handle, 1, 1, false},
    {Of::operationGraph, At::graphOperations, Is::descriptor, 1, 16},
    {Of::engineHeuristic, At::heuristicGraph, Is::descriptor, 1, 1},
    {Of::engineHeuristic, At::heuristicMode, Is::heuristicMode, 1, 1},
    {Of::engineHeuristic, At::heuristicDevice, Is::descriptor, 1, 1, false},
    {Of::executionPlan, At::planHandle, Is::handle, 1, 1, false},
    {Of::executionPlan, At::planDevice, Is::descriptor, 1, 1, false},
    {Of::executionPlan, At::planConfig, Is::descriptor, 1, 1, false},
    {Of::executionPlan, At::planText, Is::character, 1, kMostText, false},
    {Of::variantPack, At::variantIds, Is::i64, 1, 64},
    {Of::variantPack, At::variantPointers, Is::pointer, 1, 64},
    {Of::variantPack, At::variantWorkspace, Is::pointer, 1, 1, false},
    {Of::deviceProperties, At::deviceText, Is::character, 1, kMostText},
};

size_t dpc::emulator::bytesOfDnnType(DnnType type) {
  switch (type) {
  case DnnType::handle:
  case DnnType::i64:
  case DnnType::f64:
  case DnnType::pointer:
  case DnnType::descriptor:
    return 8;
  case DnnType::boolean:
  case DnnType::character:
    return 1;
  default:
    return 4;
  }
}

static const Attribute *findAttribute(DnnDescriptorType of, DnnAttribute name) {
  for (const Attribute &attribute : kAttributes)
    if (attribute.of == of && attribute.name == name)
      return &attribute;
  return nullptr;
}

std::vector<int64_t> DnnState::numbers(DnnAttribute attribute) const {
  const DnnValue &value = values.at(attribute);
  std::vector<int64_t> numbers(static_cast<size_t>(value.count));
  std::memcpy(numbers.data(), value.bytes.data(), value.bytes.size());
  return numbers;
}

DnnStatus dpc::emulator::setAttribute(DnnState &state, DnnAttribute name, DnnType type,
                                      int64_t count, const void *elements) {
  const Attribute *attribute = findAttribute(state.type, name);
  if (!attribute)
    fail("the attribute %d of a descriptor of type %d is not known", static_cast<int>(name),
         static_cast<int>(state.type));
  // Factors of sums of f64 have this type too.
  const bool isFactor = attribute->type == DnnType::f32 && type == DnnType::f64;
  if (type != attribute->type && !isFactor)
    return DnnStatus::attributeType;
  if (!elements)
    return DnnStatus::nullPointer;
  if (count < attribute->least || count > attribute->most)
    return DnnStatus::outOfBound;
  DnnValue value;
  value.count = count;
  value.bytes.assign(static_cast<const char *>(elements),
                     static_cast<size_t>(count) * bytesOfDnnType(type));
  if (type == DnnType::descriptor)
    for (int64_t i = 0; i < count; ++i) {
      const auto *other = static_cast<DnnDescriptor *const *>(elements)[i];
      if (!other)
        return DnnStatus::nullPointer;
      value.descriptors.push_back(other->state);
    }
  state.values[name] = value;
  return DnnStatus::success;
}

DnnStatus dpc::emulator::checkAttributes(const DnnState &state, std::string &why) {
  for (const Attribute &attribute : kAttributes)
    if (attribute.of == state.type && attribute.isNeeded && !state.has(attribute.name)) {
      why = "attribute " + std::to_string(static_cast<int>(attribute.name)) + " is not set";
      return DnnStatus::badParameter;
    }
  for (const auto &[name, value] : state.values)
    for (const DnnStatePointer &other : value.descriptors)
      if (!other->isFinalized) {
        why = "the descriptor of attribute " + std::to_string(static_cast<int>(name)) +
              " is not finalized";
        return DnnStatus::notFinalized;
      }
  return DnnStatus::success;
}
