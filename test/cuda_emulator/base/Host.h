#ifndef DPC_TEST_CUDA_EMULATOR_BASE_HOST_H
#define DPC_TEST_CUDA_EMULATOR_BASE_HOST_H

#include <cstdint>
#include <sys/stat.h>

namespace dpc::emulator {

/// A number of this host. Each network namespace counts as a host, which has devices of its own.
inline uint64_t hostNumber() {
  struct stat info = {};
  stat("/proc/self/ns/net", &info);
  return info.st_ino;
}

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_BASE_HOST_H
