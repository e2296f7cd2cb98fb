// Memory of the measurements.
#ifndef DPC_BENCH_MEMORY_H
#define DPC_BENCH_MEMORY_H

#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace dpc::bench {

/// Zeros in large pages if the kernel has some; null if there is no memory. Nothing frees them.
inline char *allocate(uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return static_cast<char *>(memory);
}

} // namespace dpc::bench

#endif // DPC_BENCH_MEMORY_H
