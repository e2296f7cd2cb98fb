// Starts dpc-device, which measures a core of this host.
#include "runtime/src/describe/DeviceRates.h"

#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace dpc {

namespace {

/// The tool beside this program; its bare name, which is looked up in PATH, if it is not there.
std::string pathOfTool(const char *name) {
  char own[4096];
  const ssize_t length = ::readlink("/proc/self/exe", own, sizeof own - 1);
  if (length <= 0)
    return name;
  std::string path(own, size_t(length));
  path = path.substr(0, path.rfind('/') + 1) + name;
  return ::access(path.c_str(), X_OK) == 0 ? path : name;
}

} // namespace

dpc_status_t measureDevice(uint32_t ranks, std::string *out) {
  const std::string tool = pathOfTool("dpc-device"), option = "--ranks=" + std::to_string(ranks);
  int ends[2];
  if (::pipe(ends) != 0)
    return fail(DPC_IO, "a pipe: %s", std::strerror(errno));
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execlp(tool.c_str(), tool.c_str(), option.c_str(), static_cast<char *>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  out->clear();
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) != 0;)
    if (got > 0)
      out->append(buffer, size_t(got));
    else if (errno != EINTR)
      break;
  ::close(ends[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    return fail(DPC_IO, "dpc-device cannot be started: it belongs beside dpc-run or into PATH");
  if (status != 0)
    return fail(DPC_INVALID, "dpc-device measured nothing");
  return DPC_OK;
}

} // namespace dpc
