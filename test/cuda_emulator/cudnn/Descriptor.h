#ifndef DPC_TEST_CUDA_EMULATOR_CUDNN_DESCRIPTOR_H
#define DPC_TEST_CUDA_EMULATOR_CUDNN_DESCRIPTOR_H

#include "runtime/src/cuda/Cudnn.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dpc::emulator {

struct DnnState;
using DnnStatePointer = std::shared_ptr<const DnnState>;

/// The elements of an attribute. The caller may destroy descriptors that it has set.
struct DnnValue {
  int64_t count = 0;
  std::string bytes;
  std::vector<DnnStatePointer> descriptors;
};

struct DnnPlan;

/// What a descriptor says.
struct DnnState {
  cuda::DnnDescriptorType type;
  bool isFinalized = false;
  std::map<cuda::DnnAttribute, DnnValue> values;
  /// Of an engine, a configuration of one, and a plan.
  std::shared_ptr<const DnnPlan> plan;
  /// Of heuristics: what they propose, the best first.
  std::vector<std::shared_ptr<const DnnPlan>> proposals;

  bool has(cuda::DnnAttribute attribute) const { return values.count(attribute) != 0; }
  std::vector<int64_t> numbers(cuda::DnnAttribute attribute) const;
  int64_t number(cuda::DnnAttribute attribute) const { return numbers(attribute).at(0); }
  /// An enumeration, or another value of its size.
  template <typename T> T value(cuda::DnnAttribute attribute) const {
    return *reinterpret_cast<const T *>(values.at(attribute).bytes.data());
  }
  const DnnState &descriptor(cuda::DnnAttribute attribute) const {
    return *values.at(attribute).descriptors.at(0);
  }
};

/// A descriptor of the caller. Others that name it keep its state.
struct DnnDescriptor {
  std::shared_ptr<DnnState> state;
};

/// Sets an attribute as the library would. What the library refuses is a status; an attribute that
/// the emulator does not know ends the process.
cuda::DnnStatus setAttribute(DnnState &state, cuda::DnnAttribute attribute, cuda::DnnType type,
                             int64_t count, const void *elements);
/// Whether all attributes are there that a descriptor needs, and all descriptors that they name
/// are finalized. `why` tells what is missing.
cuda::DnnStatus checkAttributes(const DnnState &state, std::string &why);

/// Bytes of an element of an attribute.
size_t bytesOfDnnType(cuda::DnnType type);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_CUDNN_DESCRIPTOR_H
