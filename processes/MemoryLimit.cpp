// Finds how much memory a process may use. The machine limits it, and so do the
// Linux control groups (versions 1 and 2) that the process belongs to.

#include "processes/MemoryLimit.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <sys/resource.h>

using namespace llvm;
using namespace dpc;

namespace {

std::optional<rlim_t> before;

/// Returns the bytes that the machine can give to this process without taking
/// them from another process.
uint64_t availableBytes() {
  std::ifstream file("/proc/meminfo");
  uint64_t available = 0, swap = 0;
  for (std::string line; std::getline(file, line);) {
    auto [name, rest] = StringRef(line).split(':');
    uint64_t kibibytes;
    if (rest.trim().split(' ').first.getAsInteger(10, kibibytes))
      continue;
    if (name == "MemAvailable")
      available = kibibytes << 10;
    else if (name == "SwapFree")
      swap = kibibytes << 10;
  }
  return available ? available + swap : UINT64_MAX;
}

/// Returns the smallest limit of the control group `group` and its parent
/// groups. The folder of a group is its path under `root`, and `file` in that
/// folder holds its limit. UINT64_MAX if no group has a limit.
uint64_t leastOfGroups(StringRef root, std::string group, StringRef file) {
  uint64_t least = UINT64_MAX;
  for (;;) {
    std::ifstream stream((root + group + "/" + file).str());
    std::string text;
    uint64_t bytes;
    if (std::getline(stream, text) && !StringRef(text).getAsInteger(10, bytes))
      least = std::min(least, bytes); // "max" is not a number: no limit
    if (group.empty() || group == "/")
      return least;
    group = sys::path::parent_path(group).str();
  }
}

/// Returns the bytes that the control groups of the process allow; UINT64_MAX
/// if they set no limit.
uint64_t groupBytes() {
  std::ifstream file("/proc/self/cgroup");
  uint64_t least = UINT64_MAX;
  for (std::string line; std::getline(file, line);) { // ID:CONTROLLERS:GROUP
    auto [controllers, group] = StringRef(line).split(':').second.split(':');
    if (controllers.empty()) {
      least = std::min(least, leastOfGroups("/sys/fs/cgroup", group.str(), "memory.max"));
    } else if (is_contained(split(controllers, ','), "memory")) {
      least = std::min(
          least, leastOfGroups("/sys/fs/cgroup/memory", group.str(), "memory.limit_in_bytes"));
    }
  }
  return least;
}

} // namespace

void MemoryLimit::set() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  uint64_t bytes = std::min(availableBytes(), groupBytes());
  // Page tables, stacks and mapped files take memory that RLIMIT_DATA does not
  // count.
  bytes -= bytes / 16;
  struct rlimit limit;
  // RLIMIT_DATA counts writable private memory. It does not count address space
  // that is only reserved, which takes no memory.
  if (::getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= bytes)
    return;
  const rlim_t old = limit.rlim_cur;
  limit.rlim_cur = bytes;
  if (::setrlimit(RLIMIT_DATA, &limit) == 0)
    before = old;
#endif
}

void MemoryLimit::lift() {
  struct rlimit limit;
  if (!before || ::getrlimit(RLIMIT_DATA, &limit) != 0)
    return;
  limit.rlim_cur = *before;
  ::setrlimit(RLIMIT_DATA, &limit);
}

uint64_t MemoryLimit::bytes() {
  uint64_t least = RLIM_INFINITY;
  struct rlimit limit;
  for (auto kind : {RLIMIT_DATA, RLIMIT_AS})
    if (::getrlimit(kind, &limit) == 0)
      least = std::min(least, uint64_t(limit.rlim_cur));
  return least == RLIM_INFINITY ? 0 : least;
}
