// Memory that a library asks for by malloc and does not check: MLIR makes every
// operation that way. Linked into a tool, these take the place of libc's for
// all of the process's libraries, and end the tool as `new` does when there is
// none (FatalErrors).

#include "tools/common/FatalErrors.h"

#include <cstddef>
#include <cstdlib>

// A sanitizer brings an allocator of its own.
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
