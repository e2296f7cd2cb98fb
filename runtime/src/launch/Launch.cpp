// Starts the ranks of a program on this machine. Passes the arguments as a vector and
// uses no shell. The ranks form one process group, and they end if this process dies.
#include "runtime/src/launch/Launch.h"

#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/RunPage.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Rendezvous.h"
#include "runtime/src/launch/AskRanks.h"
#include "runtime/src/launch/DescribeHosts.h"
#include "runtime/src/launch/Interrupts.h"
#include "runtime/src/launch/Supervise.h"
#include "runtime/src/postmortem/Postmortem.h"
#include "runtime/src/recorder/Image.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dpc {

namespace {

/// How long the launcher waits until all ranks have called exec. Without this limit, a
/// rank that is stopped before its exec would make the launcher wait for ever.
constexpr int kExecMilliseconds = 5000;

/// The resources that all ranks of this host share. Each restart makes new ones.
struct Run {
  ~Run() { releaseRunPage(page); }
  NodeShare share;
  std::string listen; ///< address of the option --listen, or empty
  Fd token;    ///< memory with the run's secret; ranks inherit the descriptor, so that the secret
               ///< is not visible as an argument
  Fd listener; ///< the socket at which rank 0 listens; the launcher binds it, so that no other job
               ///< can take the port
  Fd pageMemory; ///< the descriptor of `page`
  RunPage *page = nullptr;
};

/// Decides on the ranks of a run on one host, and where they meet.
dpc_status_t shareOfOneHost(uint32_t ranks, Run *run) {
  run->share.ranks = run->share.worldSize = ranks;
  run->share.host = "127.0.0.1";
  if (dpc_status_t status = makeToken(&run->share.token))
    return status;
  return listenOn(run->share.host, &run->listener, &run->share.port);
}

/// Checks that ranks can listen at the address of --listen.
dpc_status_t checkListen(const std::string &address) {
  Fd trial;
  uint16_t port = 0;
  if (address.empty())
    return DPC_OK;
  const dpc_status_t status = listenOn(address, &trial, &port);
  return status ? failWithin(status, "--listen") : dpc_status_t(DPC_OK);
}

/// Agrees with the other hosts on the ranks of this one, and where all ranks meet. The hosts learn
/// it if this one cannot start its ranks.
dpc_status_t agreeOnShare(const LaunchOptions &options, Nodes &nodes, Run *run) {
  NodeRecord record = {};
  record.ranks = options.ranks;
  record.maxRestarts = options.maxRestarts;
  record.frozenSeconds = static_cast<uint32_t>(options.frozen);
  uint16_t port = 0;
  record.status = checkListen(options.listen);
  if (record.status == DPC_OK)
    record.status = checkIsThere(options.command[0]);
  if (record.status == DPC_OK)
    record.status = askRanks(options.command[0], &record.programRanks);
  if (record.status == DPC_OK && nodes.index() == 0)
    record.status = listenOn(nodes.meetingHost(), &run->listener, &port);
  if (record.status != DPC_OK)
    std::snprintf(record.text, sizeof record.text, "%s", dpc_last_error());
  const EarlyInterrupts early;
  return nodes.agree(record, port, &run->share);
}

dpc_status_t prepare(Run *run) {
  const std::string &token = run->share.token;
  run->token = Fd(::memfd_create("dpc-token", MFD_CLOEXEC));
  if (!run->token.valid() ||
      ::pwrite(run->token.get(), token.data(), token.size(), 0) != ssize_t(token.size()))
    return fail(DPC_IO, "cannot make the run's token: %s", std::strerror(errno));
  run->page =
      createRunPage(run->share.firstRank, run->share.ranks, kRecorderBytes, &run->pageMemory);
  return run->page ? DPC_OK : DPC_IO;
}

std::vector<char *> argumentVector(const std::vector<std::string> &command) {
  std::vector<char *> argv;
  for (const std::string &argument : command)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

/// The code of the child process that becomes a rank. Never returns. Of the descriptors
/// that the launcher opened, the rank inherits only those that are named here.
[[noreturn]] void becomeRank(const Run &run, uint32_t index, pid_t group, pid_t launcher,
                             char *const *argv, int errorPipe) {
  const uint32_t rank = run.share.firstRank + index;
  ::setpgid(0, group);
  // When the launcher dies, the kernel kills all ranks except rank 0. Rank 0 gets
  // SIGTERM, so that it can tell the user about the death (see Main.cpp).
  ::prctl(PR_SET_PDEATHSIG, rank == 0 ? SIGTERM : SIGKILL);
  if (::getppid() != launcher)
    ::_exit(3); // the launcher died before prctl
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  auto set = [](const char *name, const std::string &value) { ::setenv(name, value.c_str(), 1); };
  for (const char *stale : {"DPC_TOKEN", "DPC_TOKEN_FILE", "DPC_TOKEN_FD", "DPC_LISTEN_FD"})
    ::unsetenv(stale);
  set("RANK", std::to_string(rank));
  set("LOCAL_RANK", std::to_string(index));
  set("WORLD_SIZE", std::to_string(run.share.worldSize));
  set("LOCAL_WORLD_SIZE", std::to_string(run.share.ranks));
  set("MASTER_ADDR", run.share.host);
  set("MASTER_PORT", std::to_string(run.share.port));
  set("DPC_RENDEZVOUS", endpointText(run.share.host, run.share.port));
  if (!run.listen.empty())
    set("DPC_LISTEN", run.listen);
  set(kLauncherFolder, programFolder());
  set("DPC_TOKEN_FD", std::to_string(run.token.get()));
  ::fcntl(run.token.get(), F_SETFD, 0);
  set("DPC_RUN_PAGE_FD", std::to_string(run.pageMemory.get()));
  ::fcntl(run.pageMemory.get(), F_SETFD, 0);
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
      becomeRank(run, r, group, launcher, argv.data(), writer.get());
    (*ranks)[r].number = run.share.firstRank + r;
    if (pid < 0)
      return fail(DPC_IO, "cannot start rank %u: %s", (*ranks)[r].number, std::strerror(errno));
    ::setpgid(pid, group == 0 ? pid : group); // the child does this too: either may run first
    (*ranks)[r].pid = pid;
    (*ranks)[r].running = true;
  }
  writer = Fd();
  int error = 0;
  pollfd entry = {reader.get(), POLLIN, 0};
  if (::poll(&entry, 1, kExecMilliseconds) > 0 &&
      ::read(reader.get(), &error, sizeof error) ==
          sizeof error) // nothing to read means that every rank's exec succeeded
    return fail(DPC_INVALID, "cannot run %s: %s", command[0].c_str(), std::strerror(error));
  return DPC_OK;
}

bool hasOption(const std::vector<std::string> &command, const char *option) {
  return std::any_of(command.begin() + 1, command.end(), [&](const std::string &argument) {
    return argument.rfind(option, 0) == 0 &&
           (argument.size() == std::strlen(option) || argument[std::strlen(option)] == '=');
  });
}

/// Replaces this process by the program with --verify. The program proves its own plan,
/// because only the program has its record.
dpc_status_t becomeProof(const std::string &program, const sigset_t &blocked) {
  uint32_t ranks = 0; // not used; the question only checks that this is a program of dpc
  if (dpc_status_t status = askRanks(program, &ranks))
    return status;
  ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  forgetRank();
  ::execlp(program.c_str(), program.c_str(), kVerifyOption, static_cast<char *>(nullptr));
  return fail(DPC_INVALID, "cannot run %s: %s", program.c_str(), std::strerror(errno));
}

/// Ends the ranks that have started, and tells the other hosts why. Returns `status`.
dpc_status_t abandon(std::vector<Rank> *ranks, Nodes *nodes, dpc_status_t status) {
  const std::string cause = dpc_last_error();
  signalRanks(*ranks, SIGKILL);
  for (const Rank &rank : *ranks)
    if (rank.running)
      ::waitpid(rank.pid, nullptr, 0);
  if (nodes) {
    nodes->tell(status, cause.c_str(), /*isSymptom=*/false);
    nodes->end();
    while (nodes->poll(), !nodes->isFinished())
      ::usleep(10000);
  }
  return fail(status, "%s", cause.c_str());
}

/// Prints what the records in the folders say about a run.
dpc_status_t explainFolders(const std::vector<std::string> &folders) {
  std::vector<RankRecord> records;
  if (dpc_status_t status = readRecords(folders, &records))
    return status == DPC_IO ? dpc_status_t(DPC_INVALID) : status;
  if (std::fputs(explainRun(records).c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    return fail(DPC_IO, "standard output: %s", std::strerror(errno));
  return DPC_OK;
}

int report(dpc_status_t status) {
  std::fprintf(stderr, "dpc-run: %s: %s\n", status == DPC_INTERRUPTED ? "note" : "error",
               dpc_last_error());
  return status;
}

int startAndWatch(const LaunchOptions &options) {
  sigset_t blocked = interruptSignals();
  sigaddset(&blocked, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  std::unique_ptr<Nodes> nodes;
  uint32_t count = options.ranks;
  if (options.nodes > 1) {
    const EarlyInterrupts early;
    nodes = std::make_unique<Nodes>();
    if (dpc_status_t status = nodes->open(options))
      return report(status);
  } else {
    if (dpc_status_t status = checkIsThere(options.command[0]))
      return report(status);
    if (options.verify)
      return report(becomeProof(options.command[0], blocked));
    if (count == 0)
      if (dpc_status_t status = askRanks(options.command[0], &count))
        return report(status);
  }
  std::vector<std::string> command = options.command;
  SuperviseOptions limits;
  if (options.frozen > 0)
    limits.frozen = options.frozen;
  limits.saves = hasOption(command, kCheckpointOption);
  for (uint32_t restart = 0;; ++restart) {
    Run run;
    const dpc_status_t shared =
        nodes ? agreeOnShare(options, *nodes, &run) : shareOfOneHost(count, &run);
    if (shared)
      return report(shared);
    run.listen = options.listen;
    std::vector<Rank> ranks(run.share.ranks);
    dpc_status_t status = prepare(&run);
    if (status == DPC_OK) {
      run.page->restarts = restart;
      status = startRanks(run, command, &ranks);
    }
    if (status != DPC_OK)
      return report(abandon(&ranks, nodes.get(), status));
    run.listener = Fd(); // rank 0 has inherited it
    const int code = supervise(&ranks, *run.page, nodes.get(), limits);
    if (code != DPC_PEER || options.check || restart == options.maxRestarts ||
        (nodes && !nodes->canRestart()))
      return code;
    if (hasOption(command, kCheckpointOption) && !hasOption(command, kResumeOption))
      command.push_back(kResumeOption);
    std::fprintf(stderr, "dpc-run: note: a rank died; start %u of %u\n", restart + 2,
                 options.maxRestarts + 1);
  }
}

} // namespace

int launch(const LaunchOptions &options) {
  if (options.readPostmortem) {
    const dpc_status_t status = explainFolders(options.command);
    return status ? report(status) : int(DPC_OK);
  }
  if (!options.describe.file.empty()) {
    const dpc_status_t status = describeHosts(options);
    return status ? report(status) : int(DPC_OK);
  }
  const int code = startAndWatch(options);
  const bool isKept = code == DPC_OK || code == DPC_USAGE || code == DPC_INTERRUPTED;
  return !options.check || isKept ? code : int(DPC_INVALID);
}

} // namespace dpc
