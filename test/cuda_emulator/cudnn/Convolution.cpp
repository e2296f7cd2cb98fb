// What cuDNN takes as the convolution of a graph: NVIDIA, "cuDNN Backend API", the descriptors of
// tensors, convolutions and their operations.
#include "test/cuda_emulator/cudnn/Convolution.h"

#include <algorithm>

using namespace dpc::cuda;
using namespace dpc::emulator;

using At = DnnAttribute;

unsigned dpc::emulator::bytesOf(DnnDataType type) {
  return type == DnnDataType::f64 ? 8 : type == DnnDataType::f32 ? 4 : 2;
}

int64_t DnnTensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

uint64_t DnnTensor::reach() const {
  int64_t last = 0;
  for (int i = 0; i < 5; ++i)
    last += (extents[i] - 1) * strides[i];
  return static_cast<uint64_t>(last + 1) * bytesOf(type);
}

int64_t DnnTensor::offset(const int64_t (&index)[5]) const {
  int64_t at = 0;
  for (int i = 0; i < 5; ++i)
    at += index[i] * strides[i];
  return at;
}

static DnnStatus refuse(std::string &why, std::string text, DnnStatus status) {
  why = std::move(text);
  return status;
}

DnnStatus dpc::emulator::readTensor(const DnnState &state, DnnTensor &out, std::string &why) {
  const std::vector<int64_t> extents = state.numbers(At::tensorExtents),
                             strides = state.numbers(At::tensorStrides);
  out.id = state.number(At::tensorId);
  out.type = state.value<DnnDataType>(At::tensorType);
  out.alignment = state.number(At::tensorAlignment);
  if (extents.size() != strides.size() || extents.size() < 4 || extents.size() > 5)
    return refuse(why, "a tensor has no four or five dimensions", DnnStatus::badParameter);
  for (size_t i = 0; i < extents.size(); ++i) {
    const size_t to = i < 2 ? i : i + 5 - extents.size();
    if (extents[i] < 1 || strides[i] < 1)
      return refuse(why, "an extent or a stride is less than 1", DnnStatus::badParameter);
    out.extents[to] = extents[i];
    out.strides[to] = strides[i];
  }
  if (out.alignment < int64_t(bytesOf(out.type)) || (out.alignment & (out.alignment - 1)) != 0)
    return refuse(why, "an alignment is no power of two of at least the size of an element",
                  DnnStatus::badParameter);
  return DnnStatus::success;
}

DnnStatus dpc::emulator::readGeometry(const DnnState &state, DnnConvolution &out,
                                      std::string &why) {
  const int64_t spatial = state.number(At::convolutionSpatial);
  out.compute = state.value<DnnDataType>(At::convolutionComputeType);
  if (spatial < 2 || spatial > 3)
    return refuse(why, "no two or three spatial dimensions", DnnStatus::notSupported);
  if (state.value<DnnConvolutionMode>(At::convolutionMode) != DnnConvolutionMode::crossCorrelation)
    return refuse(why, "kernels are not reversed by any engine", DnnStatus::notSupported);
  const std::pair<At, int64_t *> lists[] = {{At::convolutionStrides, out.strides},
                                            {At::convolutionDilations, out.dilations},
                                            {At::convolutionPadLow, out.padLow},
                                            {At::convolutionPadHigh, out.padHigh}};
  for (auto [name, to] : lists) {
    const std::vector<int64_t> numbers = state.numbers(name);
    const bool isPadding = to == out.padLow || to == out.padHigh;
    if (static_cast<int64_t>(numbers.size()) != spatial)
      return refuse(why, "a list has not one number per spatial dimension",
                    DnnStatus::badParameter);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] < (isPadding ? 0 : 1))
        return refuse(why, "a stride, dilation or padding is too small", DnnStatus::badParameter);
      to[i + 3 - numbers.size()] = numbers[i];
    }
  }
  return DnnStatus::success;
}

namespace {
struct Names {
  At alpha, beta, convolution, tensors[kDnnTensors]; // x, w, y
};
} // namespace

static Names namesOf(DnnDescriptorType type) {
  if (type == DnnDescriptorType::operationInputGradient)
    return {At::inputGradientAlpha,
            At::inputGradientBeta,
            At::inputGradientConvolution,
            {At::inputGradientX, At::inputGradientW, At::inputGradientY}};
  if (type == DnnDescriptorType::operationWeightGradient)
    return {At::weightGradientAlpha,
            At::weightGradientBeta,
            At::weightGradientConvolution,
            {At::weightGradientX, At::weightGradientW, At::weightGradientY}};
  return {At::forwardAlpha,
          At::forwardBeta,
          At::forwardConvolution,
          {At::forwardX, At::forwardW, At::forwardY}};
}

/// Whether the extents of x, w and y belong together.
static bool agree(const DnnConvolution &c) {
  const int64_t *x = c.tensors[kDnnX].extents, *w = c.tensors[kDnnW].extents,
                *y = c.tensors[kDnnY].extents;
  if (x[0] != y[0] || w[0] != y[1] || x[1] % w[1] != 0 || w[0] % (x[1] / w[1]) != 0)
    return false;
  for (int i = 0; i < 3; ++i) {
    const int64_t room =
        x[i + 2] + c.padLow[i] + c.padHigh[i] - (w[i + 2] - 1) * c.dilations[i] - 1;
    if (room < 0 || y[i + 2] != room / c.strides[i] + 1)
      return false;
  }
  return true;
}

DnnStatus dpc::emulator::readOperation(const DnnState &operation, DnnConvolution &out,
                                       std::string &why) {
  const Names names = namesOf(operation.type);
  out.result = operation.type == DnnDescriptorType::operationInputGradient    ? kDnnX
               : operation.type == DnnDescriptorType::operationWeightGradient ? kDnnW
                                                                              : kDnnY;
  const DnnState &geometry = operation.descriptor(names.convolution);
  if (geometry.type != DnnDescriptorType::convolution)
    return refuse(why, "the convolution is no descriptor of one", DnnStatus::descriptorType);
  if (const DnnStatus status = readGeometry(geometry, out, why); status != DnnStatus::success)
    return status;
  const size_t rank = geometry.numbers(At::convolutionStrides).size() + 2;
  for (int i = 0; i < kDnnTensors; ++i) {
    const DnnState &tensor = operation.descriptor(names.tensors[i]);
    if (tensor.type != DnnDescriptorType::tensor)
      return refuse(why, "a tensor is no descriptor of one", DnnStatus::descriptorType);
    if (const DnnStatus status = readTensor(tensor, out.tensors[i], why);
        status != DnnStatus::success)
      return status;
    if (tensor.numbers(At::tensorExtents).size() != rank)
      return refuse(why, "a tensor has another number of spatial dimensions",
                    DnnStatus::shapeMismatch);
  }
  if (!agree(out))
    return refuse(why, "the extents of x, w and y do not agree", DnnStatus::shapeMismatch);
  const bool isF64 = out.compute == DnnDataType::f64;
  for (auto [name, expected] : {std::pair(names.alpha, 1), std::pair(names.beta, 0)}) {
    if (operation.values.at(name).bytes.size() != (isF64 ? 8u : 4u))
      return refuse(why, "a factor has not the type of the sums", DnnStatus::badParameter);
    const double value =
        isF64 ? operation.value<double>(name) : double(operation.value<float>(name));
    if (value != expected)
      return refuse(why, "the emulated engines know no factors", DnnStatus::notSupported);
  }
  return DnnStatus::success;
}
