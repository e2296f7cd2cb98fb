#ifndef DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H
#define DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H

#include "tools/dpc-compile/WorkFolder.h"

namespace dpc {

/// The kind of file that a compile writes (--emit).
enum class Emission {
  /// An executable: record, code and runtime.
  exe,
  /// A shared library with record and code. The program that embeds the library
  /// links the runtime.
  shared,
  /// One relocatable object with record and code, also without the runtime.
  object
};

/// Links `objects` and all members of `archive` into the file `output`. The
/// linker's own temporary files go to `temporaries`. `place` is the final path
/// of the output, which messages name. `argv0` is argv[0] of main. It serves to
/// find the runtime's libraries, whose folder is relative to that of the tool.
/// Returns 0, or the exit code after one line on stderr.
int linkProgram(llvm::ArrayRef<std::string> objects, llvm::StringRef archive, Emission emission,
                llvm::StringRef output, llvm::StringRef place, const WorkFolder &temporaries,
                const char *argv0);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H
