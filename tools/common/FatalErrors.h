#ifndef DPC_TOOLS_COMMON_FATALERRORS_H
#define DPC_TOOLS_COMMON_FATALERRORS_H

#include "dialects/Interfaces/CurrentWork.h"
#include "processes/MemoryLimit.h"
#include "tools/common/CommandLine.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace dpc {

/// What ends a tool that cannot go on: one line, the removal of the files that
/// it was writing, and an exit code. Nothing here asks for memory.
///
/// LLVM's streams tell that they could not write when they are destroyed, which
/// for standard output is after main; what else LLVM calls fatal ends here too.
class FatalErrors {
public:
  /// From here on, memory that cannot be had, or that the machine does not have,
  /// ends the process so, and the line names what it was for. The compiler
  /// is built without exceptions: what `new` throws would end in an abort.
  /// `cleanUp`, unless null, removes what the tool was writing, also without
  /// memory.
  static void install(const char *tool, void (*cleanUp)() = nullptr) {
    name() = tool;
    cleaner() = cleanUp;
    CurrentWork::setMain();
    MemoryLimit::set();
    std::set_new_handler([] { endWithoutMemory(); });
    std::set_terminate([] { end("out of memory or another resource"); });
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
      static constexpr char kStream[] = "IO failure on output stream: ";
      const bool isStream = std::strncmp(reason, kStream, sizeof kStream - 1) == 0;
      if (isStream)
        end(reason + sizeof kStream - 1, "output: ");
      end(reason, "", exitInvalid);
    });
    // A file that may not grow is a write that fails, and says so.
    std::signal(SIGXFSZ, SIG_IGN);
    growStack();
  }

  /// Ends a tool that has called install; others go on.
  static void endWithoutMemory() {
    if (!*name())
      return;
    static thread_local char text[1024];
    size_t length = writeLimit(text);
    CurrentWork::describe(text + length, sizeof text - length);
    end(text, "out of memory");
  }

private:
  /// Writes the limit of memory, " (23.4 GiB)", into `text`, if there is one. Returns
  /// its length.
  static size_t writeLimit(char *text) {
    text[0] = 0;
    const uint64_t mebibytes = MemoryLimit::bytes() >> 20;
    if (mebibytes == 0)
      return 0;
    if (mebibytes < 1024)
      return size_t(snprintf(text, 64, " (%d MiB)", int(mebibytes)));
    // No floating point: printing it may ask for memory.
    return size_t(snprintf(text, 64, " (%llu.%llu GiB)", (unsigned long long)(mebibytes >> 10),
                           (unsigned long long)((mebibytes & 1023) * 10 >> 10)));
  }

  /// Takes the part of the stack that a tool needs while there is memory:
  /// where none is left, a stack that grows is a segmentation fault.
  __attribute__((noinline)) static void growStack() {
    constexpr size_t bytes = size_t(1) << 20, page = 4096;
    void *room = mmap(nullptr, 2 * bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
      endWithoutMemory();
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

  [[noreturn]] static void end(const char *cause, const char *what = "", int code = exitIO) {
    // What follows asks for no memory; should it all the same, that is the end.
    static thread_local bool isSpeaking = false;
    if (isSpeaking)
      _exit(exitIO);
    // Several threads may find no memory: the first one speaks for all.
    static std::atomic_flag isEnding = ATOMIC_FLAG_INIT;
    while (isEnding.test_and_set())
      pause();
    isSpeaking = true;
    for (const char *part : {name(), ": error: ", what, cause, "\n"})
      if (write(STDERR_FILENO, part, std::strlen(part)) < 0)
        break;
    llvm::sys::RunInterruptHandlers();
    if (cleaner())
      cleaner()();
    _exit(code);
  }
};

} // namespace dpc

#endif // DPC_TOOLS_COMMON_FATALERRORS_H
