// Looks for libdpc_gloo.so and opens it.

#include "runtime/src/comm/gloo/Library.h"

#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace dpc::gloo {

namespace {

constexpr const char *kName = "libdpc_gloo.so";
/// Where the libraries of a folder of programs are: with the programs, in a build folder, or in an
/// installation.
constexpr const char *kPlaces[] = {"", "../lib/", DPC_INSTALLED_LIBRARIES "/"};

std::string textOf(const char *variable) {
  const char *value = std::getenv(variable);
  return value ? value : "";
}

/// The path of the library, or "".
std::string findBeside(const std::vector<std::string> &folders) {
  for (const std::string &folder : folders)
    for (const char *place : kPlaces) {
      const std::string path = folder + "/" + place + kName;
      if (::access(path.c_str(), F_OK) == 0)
        return path;
    }
  return "";
}

} // namespace

dpc_status_t openLibrary(const Table **out) {
  std::string path = textOf("DPC_GLOO_LIBRARY"), place = "--comm=gloo: DPC_GLOO_LIBRARY";
  if (path.empty()) {
    std::vector<std::string> folders = {programFolder()};
    const std::string launcher = textOf(kLauncherFolder);
    if (!launcher.empty() && launcher != folders[0])
      folders.push_back(launcher);
    path = findBeside(folders), place = "--comm=gloo";
    if (path.empty())
      return fail(DPC_INVALID,
                  "--comm=gloo: %s is not found beside %s%s%s (DPC_GLOO_LIBRARY can name it; dpc "
                  "builds it if libgloo-dev is installed)",
                  kName, folders[0].c_str(), folders.size() > 1 ? " or " : "",
                  folders.size() > 1 ? launcher.c_str() : "");
  }
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *error = ::dlerror();
    return fail(DPC_INVALID, "%s: %s", place.c_str(), error ? error : path.c_str());
  }
  TableFunction function = nullptr;
  *reinterpret_cast<void **>(&function) = ::dlsym(library, kTableSymbol);
  if (!function)
    return fail(DPC_INVALID, "%s: %s has no function %s", place.c_str(), path.c_str(),
                kTableSymbol);
  *out = function();
  if ((*out)->version != kTableVersion)
    return fail(DPC_INVALID,
                "%s: %s has version %u of its functions, and this program needs version %u",
                place.c_str(), path.c_str(), (*out)->version, kTableVersion);
  return DPC_OK;
}

} // namespace dpc::gloo
