#ifndef DPC_TOOLS_COMMON_FATALERRORS_H
#define DPC_TOOLS_COMMON_FATALERRORS_H

#include "tools/common/CommandLine.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace dpc {

/// What ends a tool that cannot go on: one line, the removal of the files that
/// it was writing, and an exit code. Nothing here asks for memory.
class FatalErrors {
public:
  /// From here on, memory that cannot be had ends the process so. The compiler
  /// is built without exceptions: what `new` throws would end in an abort.
  /// `cleanUp`, unless null, removes what the tool was writing, also without
  /// memory.
  static void install(const char *tool, void (*cleanUp)() = nullptr) {
    name() = tool;
    cleaner() = cleanUp;
    std::set_new_handler([] { end("out of memory"); });
    std::set_terminate([] { end("out of memory or another resource"); });
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { end("out of memory"); });
    growStack();
  }

  /// Ends a tool that has called install; others go on.
  static void endWithoutMemory() {
    if (*name())
      end("out of memory");
  }

private:
  /// Takes the part of the stack that a tool needs while there is memory:
  /// where none is left, a stack that grows is a segmentation fault.
  __attribute__((noinline)) static void growStack() {
    constexpr size_t bytes = size_t(1) << 20, page = 4096;
    void *room = mmap(nullptr, 2 * bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
      end("out of memory");
    munmap(room, 2 * bytes);
    [[maybe_unused]] volatile char deep[bytes];
    for (size_t at = bytes; at >= page; at -= page)
      deep[at - 1] = 0;
  }

  static const char *&name() {
    static const char *tool = "";
    return tool;
  }

  static void (*&cleaner())() {
    static void (*cleanUp)() = nullptr;
    return cleanUp;
  }

  [[noreturn]] static void end(const char *cause) {
    // What follows asks for no memory; should it all the same, that is the end.
    static thread_local bool isSpeaking = false;
    if (isSpeaking)
      _exit(exitIO);
    // Several threads may find no memory: the first one speaks for all.
    static std::atomic_flag isEnding = ATOMIC_FLAG_INIT;
    while (isEnding.test_and_set())
      pause();
    isSpeaking = true;
    for (const char *part : {name(), ": error: ", cause, "\n"})
      if (write(STDERR_FILENO, part, std::strlen(part)) < 0)
        break;
    llvm::sys::RunInterruptHandlers();
    if (cleaner())
      cleaner()();
    _exit(exitIO);
  }
};

} // namespace dpc

#endif // DPC_TOOLS_COMMON_FATALERRORS_H
