// Local launcher: argument vectors only, no shell; ranks are one process group
// that dies with this process.
#include "runtime/src/launch/Launch.h"

#include "runtime/src/comm/Sockets.h"
#include "runtime/src/core/Status.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr double kGraceSeconds = 5; ///< from the first failure to the end of
                                    ///< the ranks that did not notice it

/// What all ranks of one start share.
struct Run {
  Fd token; ///< memory that holds the secret: inherited, never in an argument
  Fd listener; ///< rank 0's rendezvous: bound here, so that no other job can
               ///< take the port
  uint16_t port = 0;
};

struct Rank {
  pid_t pid = -1;
  bool running = false;
  int status = 0;
};

dpc_status_t prepare(Run *run) {
  unsigned char secret[32];
  char hex[65];
  if (::getrandom(secret, sizeof secret, 0) != sizeof secret)
    return fail(DPC_IO, "no random numbers: %s", std::strerror(errno));
  for (size_t i = 0; i < sizeof secret; ++i)
    std::snprintf(hex + 2 * i, 3, "%02x", secret[i]);
  run->token = Fd(::memfd_create("dpc-token", MFD_CLOEXEC));
  if (!run->token.valid() || ::pwrite(run->token.get(), hex, 64, 0) != 64)
    return fail(DPC_IO, "cannot make the run's token: %s",
                std::strerror(errno));
  sockaddr_in address = {};
  socklen_t length = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  run->listener = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!run->listener.valid() ||
      ::bind(run->listener.get(), reinterpret_cast<sockaddr *>(&address),
             sizeof address) != 0 ||
      ::listen(run->listener.get(), 128) != 0 ||
      ::getsockname(run->listener.get(), reinterpret_cast<sockaddr *>(&address),
                    &length) != 0)
    return fail(DPC_IO, "cannot listen on the loopback interface: %s",
                std::strerror(errno));
  run->port = ntohs(address.sin_port);
  return DPC_OK;
}

std::vector<char *> argumentVector(const std::vector<std::string> &command) {
  std::vector<char *> argv;
  for (const std::string &argument : command)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

/// In the child: never returns. Only the descriptors named here survive exec.
[[noreturn]] void becomeRank(const Run &run, uint32_t rank, uint32_t ranks,
                             pid_t group, pid_t launcher, char *const *argv,
                             int errorPipe) {
  ::setpgid(0, group);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher)
    ::_exit(3); // the launcher died before the line above
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  auto set = [](const char *name, const std::string &value) {
    ::setenv(name, value.c_str(), 1);
  };
  for (const char *stale : {"DPC_TOKEN", "DPC_TOKEN_FILE", "DPC_TOKEN_FD",
                            "DPC_LISTEN_FD", "DPC_RENDEZVOUS"})
    ::unsetenv(stale);
  set("RANK", std::to_string(rank));
  set("LOCAL_RANK", std::to_string(rank));
  set("WORLD_SIZE", std::to_string(ranks));
  set("LOCAL_WORLD_SIZE", std::to_string(ranks));
  set("MASTER_ADDR", "127.0.0.1");
  set("MASTER_PORT", std::to_string(run.port));
  set("DPC_TOKEN_FD", std::to_string(run.token.get()));
  ::fcntl(run.token.get(), F_SETFD, 0);
  if (rank == 0) {
    set("DPC_LISTEN_FD", std::to_string(run.listener.get()));
    ::fcntl(run.listener.get(), F_SETFD, 0);
  } else {
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, STDIN_FILENO);
  }
  ::execvp(argv[0], argv);
  const int error = errno;
  const ssize_t written = ::write(errorPipe, &error, sizeof error);
  ::_exit(written == sizeof error ? 126 : 127);
}

dpc_status_t startRanks(const Run &run, const std::vector<std::string> &command,
                        std::vector<Rank> *ranks) {
  const std::vector<char *> argv = argumentVector(command);
  const pid_t launcher = ::getpid();
  int pipeEnds[2];
  if (::pipe2(pipeEnds, O_CLOEXEC) != 0)
    return fail(DPC_IO, "cannot start ranks: %s", std::strerror(errno));
  Fd reader(pipeEnds[0]), writer(pipeEnds[1]);
  for (uint32_t r = 0; r < ranks->size(); ++r) {
    const pid_t group = r == 0 ? 0 : (*ranks)[0].pid;
    const pid_t pid = ::fork();
    if (pid == 0)
      becomeRank(run, r, static_cast<uint32_t>(ranks->size()), group, launcher,
                 argv.data(), writer.get());
    if (pid < 0)
      return fail(DPC_IO, "cannot start rank %u: %s", r, std::strerror(errno));
    ::setpgid(pid, group == 0
                       ? pid
                       : group); // whichever of parent and child comes first
    (*ranks)[r] = {pid, true, 0};
  }
  writer = Fd();
  int error = 0;
  if (::read(reader.get(), &error, sizeof error) ==
      sizeof error) // end of file: all have become the program
    return fail(DPC_INVALID, "cannot run %s: %s", command[0].c_str(),
                std::strerror(error));
  return DPC_OK;
}

/// The number of ranks the program names with --print-ranks.
dpc_status_t askRanks(const std::string &program, uint32_t *out) {
  int pipeEnds[2];
  if (::pipe2(pipeEnds, O_CLOEXEC) != 0)
    return fail(DPC_IO, "%s", std::strerror(errno));
  Fd reader(pipeEnds[0]), writer(pipeEnds[1]);
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const char *name : {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
                             "PMI_SIZE", "SLURM_NTASKS"})
      ::unsetenv(name);
    ::dup2(writer.get(), STDOUT_FILENO);
    ::execlp(program.c_str(), program.c_str(), "--print-ranks",
             static_cast<char *>(nullptr));
    ::_exit(127);
  }
  writer = Fd();
  char text[32] = {};
  size_t length = 0;
  for (ssize_t n;
       length + 1 < sizeof text &&
       (n = ::read(reader.get(), text + length, sizeof text - 1 - length)) > 0;)
    length += static_cast<size_t>(n);
  int status = 0;
  ::waitpid(pid, &status, 0);
  char *end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || end == text ||
      number < 1 || number > 1024)
    return fail(DPC_INVALID,
                "%s cannot be run, or is no program made by dpc-compile (it "
                "does not answer --print-ranks)",
                program.c_str());
  *out = static_cast<uint32_t>(number);
  return DPC_OK;
}

void killGroup(const std::vector<Rank> &ranks, int signal) {
  if (ranks[0].pid > 0)
    ::kill(-ranks[0].pid, signal);
}

/// Reaps what has ended, in the order of its end.
void reap(std::vector<Rank> *ranks, std::vector<uint32_t> *endOrder) {
  for (uint32_t r = 0; r < ranks->size(); ++r) {
    Rank &rank = (*ranks)[r];
    if (rank.running &&
        ::waitpid(rank.pid, &rank.status, WNOHANG) == rank.pid) {
      rank.running = false;
      endOrder->push_back(r);
    }
  }
}

bool endedBadly(const Rank &rank) {
  return !rank.running &&
         !(WIFEXITED(rank.status) && WEXITSTATUS(rank.status) == 0);
}

/// The cause among all ranks' ends: an own reason (1, 2, 4, 5) first, then an
/// interrupt, then a death or a 3.
int causeOf(const std::vector<Rank> &ranks,
            const std::vector<uint32_t> &endOrder, bool killedByUs) {
  int interrupted = 0, dead = 0;
  for (uint32_t r : endOrder) {
    const Rank &rank = ranks[r];
    if (WIFSIGNALED(rank.status)) {
      if (!killedByUs)
        std::fprintf(stderr, "dpc-run: rank %u was killed by signal %d (%s)\n",
                     r, WTERMSIG(rank.status),
                     strsignal(WTERMSIG(rank.status)));
      dead = DPC_PEER;
      continue;
    }
    const int code = WEXITSTATUS(rank.status);
    if (code == DPC_INTERRUPTED)
      interrupted = code;
    else if (code == DPC_PEER)
      dead = code;
    else if (code != 0)
      return code;
  }
  return interrupted ? interrupted : dead;
}

/// Waits for all ranks; forwards interrupts; ends the survivors of a failure
/// after a grace period.
int supervise(std::vector<Rank> *ranks) {
  sigset_t watched;
  sigemptyset(&watched);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    sigaddset(&watched, signal);
  std::vector<uint32_t> endOrder;
  double deadline = 0;
  int interrupts = 0;
  bool killed = false;
  for (;;) {
    reap(ranks, &endOrder);
    if (endOrder.size() == ranks->size())
      break;
    const bool failed = std::any_of(ranks->begin(), ranks->end(), endedBadly);
    if (failed && deadline == 0)
      deadline = monotonicSeconds() + kGraceSeconds;
    if (deadline != 0 && monotonicSeconds() > deadline && !killed) {
      killGroup(*ranks, SIGKILL);
      killed = true;
    }
    const timespec tick = {0, 100'000'000};
    const int signal = ::sigtimedwait(&watched, nullptr, &tick);
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
      killGroup(*ranks, ++interrupts == 1 ? SIGINT : SIGKILL);
      killed = killed || interrupts > 1;
    }
  }
  const int code = causeOf(*ranks, endOrder, killed);
  return interrupts && (code == 0 || code == DPC_PEER) ? int(DPC_INTERRUPTED)
                                                       : code;
}

bool hasOption(const std::vector<std::string> &command, const char *option) {
  return std::any_of(command.begin() + 1, command.end(),
                     [&](const std::string &argument) {
                       return argument.rfind(option, 0) == 0 &&
                              (argument.size() == std::strlen(option) ||
                               argument[std::strlen(option)] == '=');
                     });
}

int report(dpc_status_t status) {
  std::fprintf(stderr, "dpc-run: error: %s\n", dpc_last_error());
  return status;
}

} // namespace

int launch(const LaunchOptions &options) {
  uint32_t count = options.ranks;
  if (count == 0)
    if (dpc_status_t status = askRanks(options.command[0], &count))
      return report(status);
  sigset_t blocked;
  sigemptyset(&blocked);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  std::vector<std::string> command = options.command;
  for (uint32_t restart = 0;; ++restart) {
    Run run;
    std::vector<Rank> ranks(count);
    if (dpc_status_t status = prepare(&run))
      return report(status);
    if (dpc_status_t status = startRanks(run, command, &ranks)) {
      killGroup(ranks, SIGKILL);
      for (const Rank &rank : ranks)
        if (rank.running)
          ::waitpid(rank.pid, nullptr, 0);
      return report(status);
    }
    run.listener = Fd(); // rank 0 has it
    const int code = supervise(&ranks);
    if (code != DPC_PEER || restart == options.maxRestarts)
      return code;
    if (hasOption(command, "--checkpoint") && !hasOption(command, "--resume"))
      command.push_back("--resume");
    std::fprintf(stderr, "dpc-run: a rank died; start %u of %u\n", restart + 2,
                 options.maxRestarts + 1);
  }
}

} // namespace dpc
