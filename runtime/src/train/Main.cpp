// The main function of compiled programs: parses the command line, reads the rank's
// number from the environment, trains or infers, and returns the exit code.
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/RunPage.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/plan/PlanCheck.h"
#include "runtime/src/session/Environment.h"
#include "runtime/src/session/PlannedHosts.h"
#include "runtime/src/train/CheckFiles.h"
#include "runtime/src/train/Trainer.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <unistd.h>

using namespace dpc;

namespace {

volatile int stopRequested = 0;
volatile pid_t launcher = 0;      ///< the process of dpc-run; 0: dpc-run did not start this rank
volatile bool savesAtEnd = false; ///< the run has --checkpoint

/// Handles SIGALRM: the run takes too long to end. The other ranks notice the end of this one.
extern "C" void onOverdue(int) {
  if (RunPage *page = runPage()) {
    page->tell(DPC_INTERRUPTED, kOverdueText);
  } else {
    for (const char *text : {"note: ", kOverdueText, "\n"})
      if (::write(STDERR_FILENO, text, std::strlen(text)) < 0)
        break;
  }
  ::_exit(DPC_INTERRUPTED);
}

/// Handles SIGINT and SIGTERM. The first signal requests a stop after the current step; a
/// second one of the same kind ends the process. When the launcher dies, rank 0 also gets
/// SIGTERM (see Launch.cpp). Then rank 0 reports the death, because the launcher cannot. After
/// SIGTERM, a run that saves has kSaveSeconds to end.
extern "C" void onInterrupt(int signal) {
  if (launcher && ::getppid() != launcher) {
    static const char text[] = "error: the launcher died: the run ends without a checkpoint\n";
    const ssize_t written = ::write(STDERR_FILENO, text, sizeof text - 1);
    ::_exit(written < 0 ? DPC_IO : DPC_PEER);
  }
  stopRequested = 1;
  std::signal(signal, SIG_DFL);
  if (signal == SIGTERM && savesAtEnd) {
    std::signal(SIGALRM, onOverdue);
    ::alarm(kSaveSeconds);
  }
}

void catchSignals(bool saves) {
  savesAtEnd = saves;
  if (const RunPage *page = runPage())
    launcher = page->launcher;
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // at the limit of a file size, write() then only fails
}

/// Launchers other than dpc-run may kill all ranks when one ends with an error. So a rank that
/// does not report the failure ends this much later than the one that does.
constexpr useconds_t kReportMicroseconds = 500000;

/// Reports a failure to the launcher, which prints one cause for all ranks. Without a
/// launcher, prints the failure for the user if `report` is true. Returns `status`.
int finish(dpc_status_t status, bool report) {
  RunPage *page = runPage();
  if (status != DPC_OK && page)
    page->tell(status, dpc_last_error());
  else if (status != DPC_OK && report)
    std::fprintf(stderr, "%s: %s\n", status == DPC_INTERRUPTED ? "note" : "error",
                 dpc_last_error());
  return status;
}

/// The cause of a failure that only this rank has, with the rank's number if the user could not
/// tell it: if the launcher is not dpc-run, or the run has several hosts, and the cause names no
/// rank.
std::string causeOfRank(const dpc_session &session, const std::string &cause) {
  const RunPage *page = runPage();
  const uint32_t ranks = session.program.world_size;
  const bool isOwn = session.published || !session.comm;
  const bool isKnown = ranks == 1 || (page && page->ranks >= ranks);
  return !isOwn || isKnown || cause.find("rank") != std::string::npos
             ? cause
             : "rank " + std::to_string(session.options.rank) + ": " + cause;
}

/// Prints text that the user asked for.
dpc_status_t print(const std::string &text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0)
    return DPC_OK;
  return fail(DPC_IO, "standard output: %s", std::strerror(errno));
}

/// Implements --verify: proves the plan and prints one line. If the plan is wrong, the
/// message of the failure says where.
dpc_status_t provePlan(const dpc_program_t &program) {
  PlanSummary summary;
  if (dpc_status_t status = checkPlan(program, &summary))
    return status;
  return print(describePlan(summary) + "\n");
}

/// Says how ranks on several hosts communicate, if the runtime has chosen the way.
dpc_status_t noteHosts(const dpc_session &session, const Options &options) {
  const uint32_t hosts = dpc_comm_host_count(session.comm);
  const bool hasChosen = options.transport.empty() || options.transport == dpc_session::kAuto;
  const char *engine = options.transport == "mpi"    ? "MPI"
                       : options.transport == "gloo" ? "Gloo"
                                                     : nullptr;
  if (session.options.rank == 0 && engine)
    return print("note: " + std::string(engine) +
                 " listens on ports of its own, which do not know the run's secret\n");
  if (!hasChosen || hosts == 1 || session.options.rank != 0)
    return DPC_OK;
  const bool shares = hosts < session.comm->world_size;
  return print("note: the ranks are on " + countOf(hosts, "host") +
               " that share no memory; --comm=" + session.comm->vtable->name + " connects them" +
               (shares ? ", and the ranks of one host share memory\n" : "\n"));
}

/// Says if the hosts are others than those for which the program was planned. Transports that are
/// named, except for shared memory, do not look for hosts.
dpc_status_t notePlannedHosts(const dpc_session &session, const Options &options) {
  const bool knowsHosts = options.transport.empty() || options.transport == dpc_session::kAuto ||
                          options.transport == dpc_session::kNccl || options.transport == "local";
  if (!knowsHosts || session.options.rank != 0)
    return DPC_OK;
  const std::string note = hostsUnlikePlan(session.program, session.comm->hosts);
  return note.empty() ? dpc_status_t(DPC_OK) : print("note: " + note + "\n");
}

dpc_status_t runProgram(const dpc_program_t &program, const Options &options,
                        const dpc_session_options_t &place, bool *outReport) {
  auto session = std::make_unique<dpc_session>(program, place);
  session->stopRequest = &stopRequested;
  dpc_status_t status = DPC_OK;
  try {
    status = session->open();
    if (status == DPC_OK)
      status = session->failed(noteHosts(*session, options));
    if (status == DPC_OK)
      status = session->failed(notePlannedHosts(*session, options));
    if (status == DPC_OK && !options.postmortem.empty())
      status = session->failed(session->keepRecords(options.postmortem));
    if (status == DPC_OK) {
      const bool trains = program.ranks[place.rank].entries[DPC_ENTRY_STEP].count != 0;
      status = trains ? Trainer(*session, options).run() : runInference(*session, options);
    }
  } catch (const std::bad_alloc &) {
    status = session->failed(fail(DPC_IO, "out of memory"));
  }
  // Write the trace even if the run failed. If the trace cannot be written either, the
  // failure of the run is the one to report.
  if (session->executor && !options.trace.empty() &&
      (status == DPC_OK || !session->trace.empty())) {
    std::string cause = dpc_last_error();
    dpc_status_t traced = session->trace.write(options.trace, program, place.rank);
    status = status == DPC_OK ? session->failed(traced) : fail(status, "%s", cause.c_str());
  }
  if (session->queue && status == DPC_OK)
    status = session->failed(session->queue->writeProfile());
  *outReport = session->reports(status);
  status = session->causeOf(status);
  std::string cause = dpc_last_error();
  if (status != DPC_OK && status != DPC_PEER && status != DPC_INTERRUPTED)
    cause = causeOfRank(*session, cause);
  session->recordEnd(status);
  // Launchers may kill rank 0 when another rank ends with an error. So the others wait until it
  // has reported a failure that all ranks have.
  if (status)
    fail(status, "%s", cause.c_str());
  if (session->failsTogether) {
    finish(status, *outReport);
    *outReport = false;
    dpc_comm_barrier(session->comm);
  }
  // A launcher other than dpc-run may blame any rank for this death, because the others end without
  // the last steps of their engine.
  if (session->leave() && !status && !runPage())
    std::fprintf(stderr, "note: the run was complete when %s\n", dpc_last_error());
  session.reset();
  if (status && !*outReport && !runPage())
    ::usleep(kReportMicroseconds);
  return status ? fail(status, "%s", cause.c_str()) : DPC_OK;
}

/// Implements --check. Rank 0 prints what all ranks have found, and one rank reports a failure.
int checkStart(const dpc_program_t &program, const Options &options,
               const dpc_session_options_t &place) {
  CheckResult result;
  const dpc_session session(program, place);
  const dpc_status_t status =
      checkRun(session, checkRequest(program, options, place.rank), &result);
  const std::string cause = dpc_last_error();
  const dpc_status_t printed = print(result.table);
  if (status == DPC_OK)
    return finish(printed, true);
  fail(status, "%s", cause.c_str());
  RunPage *page = runPage();
  if (page && !result.reports)
    page->tell(DPC_PEER, cause.c_str()); // the other rank's report counts
  else
    finish(status, result.reports);
  return status == DPC_USAGE ? DPC_USAGE : DPC_INVALID;
}

} // namespace

extern "C" int dpc_main(int argc, char **argv, const dpc_program_t *program) {
  bool report = true;
  try {
    Options options;
    EnvironmentOptions environment;
    dpc_session_options_t &place = environment.options;
    dpc_status_t status = optionsFromEnvironment(&environment);
    if (status)
      return finish(status, true);
    // All ranks have the same command line, so only rank 0 reports its errors.
    if ((status = parseOptions(argc, argv, &options)))
      return finish(status, place.rank == 0);
    if (options.printRanks) {
      return finish(print(std::to_string(program->world_size) + "\n"), true);
    }
    if (options.verify)
      return finish(place.rank == 0 ? provePlan(*program) : DPC_OK, report);
    if (options.help || options.version) {
      if (place.rank == 0)
        status = print(options.help ? helpText(argv[0], *program) : versionText(*program));
      return finish(status, true);
    }
    if (program->world_size > 1 && !environment.isRank)
      return finish(fail(DPC_INVALID,
                         "the program was compiled for %u ranks: dpc-run %s starts them",
                         program->world_size, argv[0]),
                    report);
    if (!runsOnCuda(*program))
      for (const char *option : {options.cudaGraph.empty() ? nullptr : "--cuda-graph",
                                 options.runAhead.empty() ? nullptr : "--run-ahead",
                                 options.tune.empty() ? nullptr : "--tune",
                                 options.profile.empty() ? nullptr : "--profile"})
        if (option)
          return finish(fail(DPC_USAGE, "%s: this program is not for CUDA devices", option),
                        report);
    place.no_graphs = options.cudaGraph == "off";
    place.timeout_seconds = options.timeout;
    place.frozen_seconds = options.frozen;
    place.transport = options.transport.empty() ? nullptr : options.transport.c_str();
    place.bandwidth = options.bandwidth;
    place.latency = options.latency;
    place.seed = options.seed;
    place.learning_rate = options.learningRate;
    place.tune = options.tune.empty() ? nullptr : options.tune.c_str();
    place.trace = options.trace.empty() ? nullptr : options.trace.c_str();
    place.profile = options.profile.empty() ? nullptr : options.profile.c_str();
    catchSignals(!options.checkpoint.empty());
    if (options.check)
      return checkStart(*program, options, place);
    status = runProgram(*program, options, place, &report);
    return finish(status, report);
  } catch (const std::bad_alloc &) {
    return finish(fail(DPC_IO, "out of memory"), report);
  }
}
