#include "runtime/src/base/Fd.h"

#include <unistd.h>

namespace dpc {

Fd &Fd::operator=(Fd &&other) noexcept {
  if (this != &other) {
    if (fd >= 0)
      ::close(fd);
    fd = other.release();
  }
  return *this;
}

Fd::~Fd() {
  if (fd >= 0)
    ::close(fd);
}

int Fd::release() {
  int out = fd;
  fd = -1;
  return out;
}

} // namespace dpc
