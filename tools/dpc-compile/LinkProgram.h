#ifndef DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H
#define DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H

#include "tools/dpc-compile/WorkFolder.h"

namespace dpc {

/// What a compile writes.
enum class Emission {
  /// An executable: record, code and runtime.
  exe,
  /// A shared library with record and code; its user brings the runtime.
  shared,
  /// The same as one relocatable object.
  object
};

/// Links object files and all of an archive into `output`, with the linker's
/// own files in `temporaries`. `place` is the name of the output in messages.
/// `argv0` is how the tool was called: the runtime lies beside it, in ../lib.
/// Returns 0, or the exit code after one line on stderr.
int linkProgram(llvm::ArrayRef<std::string> objects, llvm::StringRef archive, Emission emission,
                llvm::StringRef output, llvm::StringRef place, const WorkFolder &temporaries,
                const char *argv0);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H
