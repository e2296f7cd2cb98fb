#include "tools/dpc-compile/LinkProgram.h"

#include "tools/common/CommandLine.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace dpc;

TemporaryFiles::~TemporaryFiles() {
  for (const std::string &path : paths)
    sys::fs::remove(path);
}

std::string TemporaryFiles::create(StringRef suffix) {
  SmallString<128> path;
  if (sys::fs::createTemporaryFile("dpc", suffix, path))
    return "";
  paths.push_back(path.str().str());
  return paths.back();
}

static int fail(const Twine &message, int code) {
  errs() << "dpc-compile: error: " << message << "\n";
  return code;
}

/// The directory with the runtime's libraries.
static std::string runtimeDirectory(const char *argv0) {
  static char anchor;
  std::string executable =
      sys::fs::getMainExecutable(argv0, static_cast<void *>(&anchor));
  SmallString<128> path;
  // As in the build, or as installed.
  for (StringRef place : {"../lib", DPC_INSTALLED_LIBRARIES}) {
    path = sys::path::parent_path(executable);
    sys::path::append(path, place);
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (sys::fs::exists(path + "/libdpc_runtime.a"))
      break;
  }
  return path.str().str();
}

/// Runs the linker driver; its messages go to `log`.
static int runLinker(ArrayRef<std::string> arguments, StringRef log) {
  std::string linker = DPC_LINKER;
  if (!sys::fs::can_execute(linker)) {
    ErrorOr<std::string> found =
        sys::findProgramByName(sys::path::filename(linker));
    if (!found)
      return fail("cannot find the linker '" + linker + "'", exitIO);
    linker = *found;
  }
  SmallVector<StringRef> all = {linker};
  all.append(arguments.begin(), arguments.end());
  std::string error;
  int code = sys::ExecuteAndWait(linker, all, std::nullopt,
                                 {StringRef(), log, log}, 0, 0, &error);
  if (code == 0)
    return exitDone;
  if (error.empty())
    if (auto text = MemoryBuffer::getFile(log))
      error = (*text)->getBuffer().split('\n').first.str();
  return fail("linking failed: " + error, exitIO);
}

int dpc::linkProgram(StringRef object, StringRef archive, Emission emission,
                     StringRef output, const char *argv0) {
  // Written beside the output and renamed over it, so that a failure leaves
  // what was there.
  SmallString<128> written;
  int descriptor;
  if (std::error_code code = sys::fs::createUniqueFile(
          output + ".%%%%%%.tmp", descriptor, written, sys::fs::OF_None,
          emission == Emission::object ? 0644 : 0755))
    return fail(output + ": " + code.message(), exitIO);
  sys::Process::SafelyCloseFileDescriptor(descriptor);

  TemporaryFiles temporaries;
  std::string log = temporaries.create("log");
  std::vector<std::string> arguments = {object.str(),  "-Wl,--whole-archive",
                                        archive.str(), "-Wl,--no-whole-archive",
                                        "-o",          written.str().str()};
  std::string libraries = runtimeDirectory(argv0);
  switch (emission) {
  case Emission::exe:
    for (StringRef name :
         {"dpc_runtime_main", "dpc_runtime", "dpc_runtime_data"}) {
      SmallString<128> archive(libraries);
      sys::path::append(archive, "lib" + name + ".a");
      if (!sys::fs::exists(archive)) {
        sys::fs::remove(written);
        return fail("the runtime library " + archive + " is missing", exitIO);
      }
      arguments.push_back(archive.str().str());
    }
    arguments.insert(arguments.end(), {"-lz", "-lm", "-lpthread", "-lrt"});
    break;
  case Emission::shared:
    arguments.insert(arguments.end(), {"-shared", "-lm"});
    break;
  case Emission::object:
    arguments.insert(arguments.end(), {"-r", "-nostdlib"});
    break;
  }
  int code = runLinker(arguments, log);
  if (code == exitDone) {
    if (std::error_code renamed = sys::fs::rename(written, output))
      code = fail(output + ": " + renamed.message(), exitIO);
  }
  if (code != exitDone)
    sys::fs::remove(written);
  return code;
}
