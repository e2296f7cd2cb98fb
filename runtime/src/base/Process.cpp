// Finds out from /proc/PID/stat whether a process has ended. A zombie has ended.
// A process has also ended if the system has given its number to a later process.

#include "runtime/src/base/Process.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace dpc {

namespace {

/// Reads the state and the start time, in clock ticks since boot, from
/// /proc/PID/stat.
bool readStat(pid_t pid, char *outState, unsigned long long *outStart) {
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::FILE *file = std::fopen(path, "re");
  if (!file)
    return false;
  const size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = 0;
  // The process name, in parentheses, may contain any characters, so the other
  // fields begin after the last closing parenthesis.
  const char *rest = std::strrchr(text, ')');
  return rest && std::sscanf(rest + 1,
                             " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
                             "%*u %*d %*d %*d %*d %*d %*d %llu",
                             outState, outStart) == 2;
}

double seconds(const timespec &time) { return double(time.tv_sec) + double(time.tv_nsec) * 1e-9; }

double secondsOf(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return seconds(now);
}

} // namespace

bool hasEnded(pid_t pid) {
  if (::kill(pid, 0) != 0)
    return errno == ESRCH;
  char state = 'R';
  unsigned long long start = 0;
  return readStat(pid, &state, &start) && (state == 'Z' || state == 'X');
}

bool hasEndedSince(pid_t pid, const timespec &time) {
  // Both clocks and the start time (in clock ticks) are coarse, so a start up to
  // two seconds after `time` does not count as later.
  constexpr double kSlackSeconds = 2;
  char state = 'R';
  unsigned long long start = 0;
  if (hasEnded(pid))
    return true;
  if (!readStat(pid, &state, &start))
    return false;
  const double age = secondsOf(CLOCK_BOOTTIME) - double(start) / double(::sysconf(_SC_CLK_TCK));
  return secondsOf(CLOCK_REALTIME) - age > seconds(time) + kSlackSeconds;
}

std::string descriptorPath(uint64_t pid, uint64_t fd) {
  return "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
}

std::string programFile() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return {path, length > 0 ? static_cast<size_t>(length) : 0};
}

std::string programFolder() {
  const std::string file = programFile();
  return file.substr(0, file.find_last_of('/') == std::string::npos ? 0 : file.find_last_of('/'));
}

std::string hostName() {
  char name[65] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "unnamed";
}

} // namespace dpc
