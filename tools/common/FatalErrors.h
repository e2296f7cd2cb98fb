#ifndef DPC_TOOLS_COMMON_FATALERRORS_H
#define DPC_TOOLS_COMMON_FATALERRORS_H

#include "tools/common/CommandLine.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <cstring>
#include <exception>
#include <new>
#include <unistd.h>

namespace dpc {

/// What ends a tool that cannot go on: one line, the removal of the files that
/// it was writing, and an exit code. Nothing here asks for memory.
class FatalErrors {
public:
  /// From here on, memory that cannot be had ends the process so. The compiler
  /// is built without exceptions: what `new` throws would end in an abort.
  static void install(const char *tool) {
    name() = tool;
    std::set_new_handler([] { end("out of memory"); });
    std::set_terminate([] { end("out of memory or another resource"); });
    llvm::install_bad_alloc_error_handler(
        [](void *, const char *, bool) { end("out of memory"); });
  }

private:
  static const char *&name() {
    static const char *tool = "";
    return tool;
  }

  [[noreturn]] static void end(const char *cause) {
    for (const char *part : {name(), ": error: ", cause, "\n"})
      if (write(STDERR_FILENO, part, std::strlen(part)) < 0)
        break;
    llvm::sys::RunInterruptHandlers();
    _exit(exitIO);
  }
};

} // namespace dpc

#endif // DPC_TOOLS_COMMON_FATALERRORS_H
