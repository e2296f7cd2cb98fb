// Links the objects of a program with the runtime.

#include "tools/dpc-compile/LinkProgram.h"

#include "tools/common/CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace dpc;

static int failToLink(const Twine &message, int code) {
  errs() << "dpc-compile: error: " << message << "\n";
  return code;
}

/// Returns the directory with the runtime's libraries (libdpc_runtime.a).
static std::string runtimeDirectory(const char *argv0) {
  static char anchor;
  std::string executable = sys::fs::getMainExecutable(argv0, static_cast<void *>(&anchor));
  SmallString<128> path;
  // The first path is valid in a build folder, the second one in an installation.
  for (StringRef place : {"../lib", DPC_INSTALLED_LIBRARIES}) {
    path = sys::path::parent_path(executable);
    sys::path::append(path, place);
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (sys::fs::exists(path + "/libdpc_runtime.a"))
      break;
  }
  return path.str().str();
}

/// Runs the linker driver, which is the C++ compiler that built dpc. If it fails, reports the
/// first line of its output.
static int runLinker(ArrayRef<std::string> arguments, const WorkFolder &temporaries,
                     StringRef output, StringRef place) {
  std::string linker = DPC_LINKER;
  if (!sys::fs::can_execute(linker)) {
    ErrorOr<std::string> found = sys::findProgramByName(sys::path::filename(linker));
    if (!found)
      return failToLink("cannot find the linker '" + linker + "'", exitIO);
    linker = *found;
  }
  std::vector<std::string> command = {linker};
  llvm::append_range(command, arguments);
  const std::string log = temporaries.file("link.log");
  const int code = runInFolder(command, temporaries, log);
  if (code == 0)
    return exitDone;
  std::string message;
  if (auto text = MemoryBuffer::getFile(log))
    message = (*text)->getBuffer().split('\n').first.str();
  if (message.empty())
    message = code < 0 ? "'" + linker + "' was killed"
                       : "'" + linker + "' exits with " + std::to_string(code);
  // The linker writes to a temporary path, and its message names this path. The user knows only
  // the final path, so the message gets that instead.
  if (const size_t at = message.find(output.str()); at != std::string::npos)
    message.replace(at, output.size(), place.str());
  return failToLink("cannot link " + place + ": " + message, exitIO);
}

int dpc::linkProgram(ArrayRef<std::string> objects, StringRef archive, Emission emission,
                     StringRef output, StringRef place, const WorkFolder &temporaries,
                     const char *argv0) {
  std::vector<std::string> arguments(objects.begin(), objects.end());
  // No build id is requested, because the linker would compute it as a hash over the
  // entire file, including all parameters.
  arguments.insert(arguments.end(), {"-Wl,--whole-archive", archive.str(), "-Wl,--no-whole-archive",
                                     "-Wl,--build-id=none", "-o", output.str()});
  std::string libraries = runtimeDirectory(argv0);
  switch (emission) {
  case Emission::exe:
    for (StringRef name : {"dpc_runtime_main", "dpc_runtime", "dpc_runtime_data"}) {
      SmallString<128> archive(libraries);
      sys::path::append(archive, "lib" + name + ".a");
      if (!sys::fs::exists(archive))
        return failToLink("the runtime library " + archive + " is missing", exitIO);
      arguments.push_back(archive.str().str());
    }
    for (StringRef library : llvm::split(DPC_RUNTIME_LIBRARIES, ' '))
      arguments.push_back(library.str());
    // gold maps its output file into memory. GNU ld would copy the parameters twice.
    if (sys::findProgramByName("ld.gold"))
      arguments.push_back("-fuse-ld=gold");
    break;
  case Emission::shared:
    arguments.insert(arguments.end(), {"-shared", "-lm"});
    break;
  case Emission::object:
    arguments.insert(arguments.end(), {"-r", "-nostdlib"});
    break;
  }
  return runLinker(arguments, temporaries, output, place);
}
