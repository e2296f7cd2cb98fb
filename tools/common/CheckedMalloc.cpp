// Replaces malloc, calloc and realloc of libc, for all libraries of a tool's
// process. Many callers do not test the result of malloc; for example, MLIR
// allocates every operation in this way. If memory is exhausted, these
// functions end the tool with a message, as a failed `new` does (FatalErrors).

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
