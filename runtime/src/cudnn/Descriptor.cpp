#include "runtime/src/cudnn/Descriptor.h"

#include <utility>

namespace dpc::cudnn {

using cuda::DnnStatus;

Descriptor::Descriptor(const cuda::Cudnn &library, cuda::DnnDescriptorType type)
    : library(&library) {
  status = library.cudnnBackendCreateDescriptor(type, &pointer);
  if (status != DnnStatus::success)
    pointer = nullptr;
}

Descriptor::~Descriptor() {
  if (pointer)
    library->cudnnBackendDestroyDescriptor(pointer);
}

Descriptor::Descriptor(Descriptor &&other) noexcept
    : library(other.library), pointer(std::exchange(other.pointer, nullptr)), status(other.status) {
}

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  std::swap(library, other.library);
  std::swap(pointer, other.pointer);
  std::swap(status, other.status);
  return *this;
}

void Descriptor::set(cuda::DnnAttribute attribute, cuda::DnnType type, int64_t count,
                     const void *elements) {
  if (status == DnnStatus::success)
    status = library->cudnnBackendSetAttribute(pointer, attribute, type, count, elements);
}

DnnStatus Descriptor::finalize() {
  if (status == DnnStatus::success)
    status = library->cudnnBackendFinalize(pointer);
  return status;
}

int64_t Descriptor::count(cuda::DnnAttribute attribute, cuda::DnnType type) const {
  return get(attribute, type, 0, nullptr);
}

int64_t Descriptor::get(cuda::DnnAttribute attribute, cuda::DnnType type, int64_t most,
                        void *elements) const {
  int64_t found = 0;
  if (status != DnnStatus::success ||
      library->cudnnBackendGetAttribute(pointer, attribute, type, most, &found, elements) !=
          DnnStatus::success)
    return 0;
  return found;
}

} // namespace dpc::cudnn
