#ifndef DPC_RUNTIME_SRC_CUDNN_DESCRIPTOR_H
#define DPC_RUNTIME_SRC_CUDNN_DESCRIPTOR_H

#include "runtime/src/cuda/Libraries.h"

#include <string>
#include <vector>

namespace dpc::cudnn {

/// A descriptor of cuDNN's graph API, which the destructor destroys. After the first failure, the
/// other functions do nothing, so callers need to look only at the status of `finalize` or
/// `getStatus`. The library must outlive the descriptor.
class Descriptor {
public:
  Descriptor() = default;
  Descriptor(const cuda::Cudnn &library, cuda::DnnDescriptorType type);
  ~Descriptor();
  Descriptor(Descriptor &&other) noexcept;
  Descriptor &operator=(Descriptor &&other) noexcept;

  void set(cuda::DnnAttribute attribute, cuda::DnnType type, int64_t count, const void *elements);
  void set(cuda::DnnAttribute attribute, int64_t value) {
    set(attribute, cuda::DnnType::i64, 1, &value);
  }
  void set(cuda::DnnAttribute attribute, const std::vector<int64_t> &values) {
    set(attribute, cuda::DnnType::i64, static_cast<int64_t>(values.size()), values.data());
  }
  void set(cuda::DnnAttribute attribute, cuda::DnnDataType value) {
    set(attribute, cuda::DnnType::dataType, 1, &value);
  }
  void set(cuda::DnnAttribute attribute, const std::string &text) {
    set(attribute, cuda::DnnType::character, static_cast<int64_t>(text.size()), text.data());
  }
  void set(cuda::DnnAttribute attribute, const Descriptor &value) {
    set(attribute, cuda::DnnType::descriptor, 1, &value.pointer);
  }
  /// Ends the description. Only a descriptor without a failure can be used by others.
  cuda::DnnStatus finalize();

  /// The number of elements of an attribute; 0 if the library has no answer.
  int64_t count(cuda::DnnAttribute attribute, cuda::DnnType type) const;
  /// Reads an attribute of at most `most` elements, and returns the number of elements that were
  /// read; 0 if the library has no answer.
  int64_t get(cuda::DnnAttribute attribute, cuda::DnnType type, int64_t most, void *elements) const;

  /// The first failure; success if there was none.
  cuda::DnnStatus getStatus() const { return status; }
  /// The library's pointer; null after a failure of the constructor.
  cuda::DnnDescriptorPointer get() const { return pointer; }

private:
  const cuda::Cudnn *library = nullptr;
  cuda::DnnDescriptorPointer pointer = nullptr;
  cuda::DnnStatus status = cuda::DnnStatus::success;
};

} // namespace dpc::cudnn

#endif // DPC_RUNTIME_SRC_CUDNN_DESCRIPTOR_H
