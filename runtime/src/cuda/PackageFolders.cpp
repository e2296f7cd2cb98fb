// Finds NVIDIA's libraries among installed Python packages.

#include "runtime/src/cuda/PackageFolders.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace dpc::cuda {

namespace {

using Path = std::filesystem::path;

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The folders in `parent` whose names begin with `prefix`. Of two names the one with the higher
/// number comes first: python3.12 before python3.9.
std::vector<Path> findFolders(const Path &parent, const std::string &prefix) {
  std::vector<Path> found;
  std::error_code ignored;
  for (std::filesystem::directory_iterator each(parent, ignored), end; each != end;
       each.increment(ignored))
    if (each->path().filename().string().rfind(prefix, 0) == 0)
      found.push_back(each->path());
  std::sort(found.begin(), found.end(), [](const Path &a, const Path &b) {
    const std::string first = a.filename().string(), second = b.filename().string();
    return std::make_pair(first.size(), first) > std::make_pair(second.size(), second);
  });
  return found;
}

/// The first python3 in $PATH; empty if there is none.
Path findPython() {
  std::istringstream folders(variable("PATH"));
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const Path python = Path(folder) / "python3";
    if (!folder.empty() && ::access(python.c_str(), X_OK) == 0)
      return python;
  }
  return {};
}

/// The folders whose `lib` may have Python packages.
std::vector<Path> findPrefixes() {
  std::vector<Path> prefixes = {variable("VIRTUAL_ENV"), variable("CONDA_PREFIX")};
  const Path python = findPython();
  if (!python.empty()) {
    // The python3 of a virtual environment is a link to another Python, whose packages it may use.
    std::error_code ignored;
    prefixes.push_back(python.parent_path().parent_path());
    prefixes.push_back(std::filesystem::canonical(python, ignored).parent_path().parent_path());
    if (prefixes.back() == "/usr")
      prefixes.emplace_back("/usr/local"); // where Debian's pip installs packages
  }
  if (const std::string home = variable("HOME"); !home.empty())
    prefixes.push_back(Path(home) / ".local");
  return prefixes;
}

} // namespace

std::vector<std::string> findPackageFolders(const std::string &package, const std::string &soname) {
  std::vector<std::string> found;
  const auto add = [&](const Path &folder) {
    if (::access((folder / soname).c_str(), R_OK) == 0 &&
        std::find(found.begin(), found.end(), folder.string()) == found.end())
      found.push_back(folder.string());
  };
  for (const Path &prefix : findPrefixes()) {
    if (prefix.empty())
      continue;
    for (const char *library : {"lib", "lib64"})
      for (const Path &python : findFolders(prefix / library, "python3"))
        for (const char *packages : {"site-packages", "dist-packages"}) {
          const Path nvidia = python / packages / "nvidia";
          add(nvidia / package / "lib");
          for (const Path &toolkit : findFolders(nvidia, "cu1"))
            add(toolkit / "lib");
        }
  }
  return found;
}

} // namespace dpc::cuda
