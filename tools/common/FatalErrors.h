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

/// Ends a tool that cannot continue: prints one line, removes the files that the
/// tool was writing, and exits with a code. None of this allocates memory.
///
/// LLVM's output streams report a failed write only when they are destroyed;
/// standard output is destroyed after main. LLVM reports such a failure as a
/// fatal error. This class handles all fatal errors of LLVM.
class FatalErrors {
public:
  /// From this call on, a failed allocation ends the process, and the message
  /// names the work that needed the memory. MemoryLimit limits the process to
  /// the memory of the machine. A new-handler is necessary because the compiler
  /// is built without exceptions, so an exception of `new` would abort the
  /// process. `cleanUp`, unless null, removes the tool's partial files; it must
  /// not allocate either.
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
    // Ignoring the signal makes write() fail at a file-size limit, so that a
    // message can be printed.
    std::signal(SIGXFSZ, SIG_IGN);
    growStack();
  }

  /// Ends the tool if it has called install; otherwise returns.
  static void endWithoutMemory() {
    if (!*name())
      return;
    static thread_local char text[1024];
    size_t length = writeLimit(text);
    CurrentWork::describe(text + length, sizeof text - length);
    end(text, "out of memory");
  }

private:
  /// Writes the memory limit into `text`, e.g. " (23.4 GiB)", and returns the
  /// length of this text; 0 if there is no limit.
  static size_t writeLimit(char *text) {
    text[0] = 0;
    const uint64_t mebibytes = MemoryLimit::bytes() >> 20;
    if (mebibytes == 0)
      return 0;
    if (mebibytes < 1024)
      return size_t(snprintf(text, 64, " (%d MiB)", int(mebibytes)));
    // Printing floating-point numbers may allocate, so this uses integers only.
    return size_t(snprintf(text, 64, " (%llu.%llu GiB)", (unsigned long long)(mebibytes >> 10),
                           (unsigned long long)((mebibytes & 1023) * 10 >> 10)));
  }

  /// Touches the stack that the tool will need later. This must happen while
  /// memory is available: if the stack had to grow when no memory is left, the
  /// tool would end with a segmentation fault.
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
    // The code below should not allocate. If it does and fails, exit at once.
    static thread_local bool isSpeaking = false;
    if (isSpeaking)
      _exit(exitIO);
    // Several threads may fail to allocate; only the first one prints.
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
