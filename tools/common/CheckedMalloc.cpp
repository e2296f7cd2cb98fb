// Checks memory that libraries request by malloc without testing the result;
// MLIR allocates every operation that way. Linked into a tool, these functions
// replace libc's for all libraries of the process. If memory is exhausted they
// end the tool, as `new` does (FatalErrors).

#include "tools/common/FatalErrors.h"

#include <cstddef>
#include <cstdlib>

// Sanitizers have their own allocator.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) noexcept {
  void *memory = __libc_malloc(size);
  if (!memory && size)
    dpc::FatalErrors::endWithoutMemory();
  return memory;
}

void *calloc(size_t count, size_t size) noexcept {
  void *memory = __libc_calloc(count, size);
  if (!memory && count && size)
    dpc::FatalErrors::endWithoutMemory();
  return memory;
}

void *realloc(void *before, size_t size) noexcept {
  void *memory = __libc_realloc(before, size);
  if (!memory && size)
    dpc::FatalErrors::endWithoutMemory();
  return memory;
}

} // extern "C"

#endif
