// Runs a program with --print-ranks in a process group of its own, and reads the number
// that the program prints. Then kills all processes of the group that still run.

#include "runtime/src/launch/AskRanks.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/OnnxModel.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/launch/Interrupts.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr double kAnswerSeconds = 10;

/// The process of a program that was asked for its number of ranks. The destructor
/// kills its process group.
struct Asked {
  pid_t pid = -1;
  int status = 0;
  bool ended = false;

  ~Asked() {
    if (pid <= 0)
      return;
    ::kill(-pid, SIGKILL);
    if (!ended)
      ::waitpid(pid, nullptr, 0);
  }
  bool hasEnded() {
    ended = ended || ::waitpid(pid, &status, WNOHANG) == pid;
    return ended;
  }
};

/// The code of the child process: runs the program with --print-ranks. Never returns.
[[noreturn]] void answer(const std::string &program, int output, pid_t launcher) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher)
    ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  forgetRank();
  ::dup2(output, STDOUT_FILENO);
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::execlp(program.c_str(), program.c_str(), kPrintRanksOption, static_cast<char *>(nullptr));
  ::_exit(127);
}

/// Returns DPC_INVALID for a folder or an ONNX model, because users may mistake them
/// for a program.
dpc_status_t checkLooks(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return fail(DPC_INVALID, "%s: a folder, not a program made by dpc-compile", path.c_str());
  char bytes[4];
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t count = file.valid() ? ::read(file.get(), bytes, sizeof bytes) : 0;
  return count > 0 && seemsOnnx(bytes, static_cast<size_t>(count))
             ? fail(DPC_INVALID,
                    "%s: an ONNX model: dpc-compile makes a program of it, which dpc-run runs",
                    path.c_str())
             : DPC_OK;
}

bool interruptArrived() {
  const sigset_t interrupts = interruptSignals();
  const timespec now = {0, 0};
  return ::sigtimedwait(&interrupts, nullptr, &now) > 0;
}

} // namespace

void forgetRank() {
  for (const char *name :
       {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"})
    ::unsetenv(name);
}

dpc_status_t checkIsThere(const std::string &program) {
  auto exists = [](const std::string &path) { return ::access(path.c_str(), F_OK) == 0; };
  if (program.find('/') != std::string::npos)
    return exists(program) ? checkLooks(program)
                           : fail(DPC_INVALID, "%s: no such file", program.c_str());
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/bin:/usr/bin"); // the default that execvp uses
  for (std::string folder; std::getline(folders, folder, ':');)
    if (exists((folder.empty() ? "." : folder) + "/" + program))
      return DPC_OK;
  const bool isHere = exists(program);
  if (dpc_status_t status = checkLooks(program))
    return status;
  return fail(DPC_INVALID, "%s: no such program in PATH%s%s", program.c_str(),
              isHere ? "; the one in this folder is ./" : "", isHere ? program.c_str() : "");
}

dpc_status_t askRanks(const std::string &program, uint32_t *out) {
  int pipeEnds[2];
  if (::pipe2(pipeEnds, O_CLOEXEC) != 0)
    return fail(DPC_IO, "cannot ask %s for its ranks: %s", program.c_str(), std::strerror(errno));
  const Fd reader(pipeEnds[0]);
  Fd writer(pipeEnds[1]);
  const pid_t launcher = ::getpid();
  Asked asked;
  asked.pid = ::fork();
  if (asked.pid == 0)
    answer(program, writer.get(), launcher);
  if (asked.pid < 0)
    return fail(DPC_IO, "cannot start %s: %s", program.c_str(), std::strerror(errno));
  ::setpgid(asked.pid, asked.pid); // the child does this too, because either may run first
  writer = Fd();
  char text[32] = {};
  size_t length = 0;
  const double deadline = monotonicSeconds() + kAnswerSeconds;
  for (bool open = true; open || !asked.hasEnded();) {
    // If the program ends before the call of poll, all of its output is in the pipe.
    const bool hadEnded = asked.hasEnded();
    pollfd entry = {open ? reader.get() : -1, POLLIN, 0};
    const int ready = ::poll(&entry, 1, 20);
    if (ready == 0 && hadEnded)
      break; // a child process of the program still has the pipe open
    if (ready > 0) {
      const ssize_t n = ::read(reader.get(), text + length, sizeof text - 1 - length);
      length += n > 0 ? static_cast<size_t>(n) : 0;
      // If the program prints more than a number, it does not know --print-ranks.
      if (n > 0 && length + 1 == sizeof text)
        break;
      open = n > 0 || (n < 0 && errno == EINTR);
    }
    if (interruptArrived())
      return fail(DPC_INTERRUPTED, "interrupted before the ranks were started");
    if (monotonicSeconds() > deadline)
      return fail(DPC_INVALID,
                  "%s did not answer --print-ranks within %.0f s (-n names the "
                  "number of ranks)",
                  program.c_str(), kAnswerSeconds);
  }
  char *end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (!asked.ended || !WIFEXITED(asked.status) || WEXITSTATUS(asked.status) != 0 || end == text ||
      number < 1 || number > 1024) {
    return fail(DPC_INVALID,
                "%s cannot be run, or is no program made by dpc-compile (it "
                "does not answer --print-ranks)",
                program.c_str());
  }
  *out = static_cast<uint32_t>(number);
  return DPC_OK;
}

} // namespace dpc
