#ifndef DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H
#define DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

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

/// Links an object file and all of an archive into `output`, which appears
/// complete or not at all. `argv0` is how the tool was called: the runtime lies
/// beside it, in ../lib. Returns 0, or the exit code after one line on stderr.
int linkProgram(llvm::StringRef object, llvm::StringRef archive,
                Emission emission, llvm::StringRef output, const char *argv0);

/// Files that are removed when the object goes out of scope.
class TemporaryFiles {
public:
  ~TemporaryFiles();
  /// Makes an empty file `dpc-XXXXXX.<suffix>`; empty string on failure.
  std::string create(llvm::StringRef suffix);

private:
  std::vector<std::string> paths;
};

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_LINKPROGRAM_H
