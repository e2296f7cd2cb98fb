// Watches the processes of a run until all have ended. If the run failed or was
// interrupted, prints one line that says why: the cause, and not the failures of other
// ranks that follow from it.

#include "runtime/src/launch/Supervise.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/launch/Interrupts.h"
#include "runtime/src/postmortem/Postmortem.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <sys/wait.h>

namespace dpc {

namespace {

/// Seconds from the first failure until the other ranks are killed if they did not
/// notice the failure. Ranks that have not joined cannot notice it. If a rank exited
/// with an error, they get the shorter time, in which they can still report failures of
/// their own. If a signal killed a rank, they get no time.
constexpr double kGraceSeconds = 5, kUnjoinedGraceSeconds = 1;
constexpr double kCauseSeconds = 1;
/// Seconds in which ranks report a frozen rank before the launcher does.
constexpr double kNoticedSeconds = 2;
constexpr double kTickSeconds = 0.1;

class Supervisor {
public:
  Supervisor(std::vector<Rank> &ranks, const RunPage &page, Nodes *nodes,
             const SuperviseOptions &options)
      : ranks(ranks), page(page), nodes(nodes), options(options) {}

  int run();

private:
  bool allJoined() const { return page.joined.load() >= ranks.size(); }
  bool allEnded() const {
    return std::none_of(ranks.begin(), ranks.end(), [](const Rank &rank) { return rank.running; });
  }
  void reap();
  void noticeEnd(size_t rank, bool joinedBefore);
  void noticeFrozen(double seconds);
  void noticeCauses();
  void limitWaiting();
  void interrupt(int signal);
  void endWithin(double seconds);
  void kill();
  void settle(dpc_status_t status, const char *text, bool isSymptom = false);
  void print(dpc_status_t status, const char *text);
  void settleWhatIsLeft();
  void tick();
  void followNodes();
  void waitForNodes();

  std::vector<Rank> &ranks;
  const RunPage &page;
  Nodes *nodes; ///< null: the run has one host
  const SuperviseOptions options;
  bool printed = false, killed = false;
  dpc_status_t printedStatus = DPC_OK;
  double deadline = 0;  ///< time at which ranks that still run are killed; 0: never
  double symptomAt = 0; ///< when a rank first reported the failure of another rank; 0: not yet
  int interrupts = 0;
  bool mustSave = false; ///< the deadline is that of a checkpoint
  /// Exit code of the first rank that exited with an error. `silent` is a message about
  /// this rank, which is printed if no better reason is known. `early` is a message about
  /// a rank that exited without an error before all ranks had joined.
  dpc_status_t silentStatus = DPC_OK;
  std::string silent, early;
};

/// The run ends for this reason, unless another one is known already. If the run has several
/// hosts, the reason is printed when they have agreed on one.
void Supervisor::settle(dpc_status_t status, const char *text, bool isSymptom) {
  if (nodes)
    nodes->tell(status, text, isSymptom);
  else
    print(status, text);
}

void Supervisor::print(dpc_status_t status, const char *text) {
  if (printed)
    return;
  printed = true, printedStatus = status;
  std::fprintf(stderr, "%s: %s\n", status == DPC_INTERRUPTED ? "note" : "error", text);
}

void Supervisor::kill() {
  signalRanks(ranks, SIGKILL);
  killed = true;
}

void Supervisor::endWithin(double seconds) {
  const double at = monotonicSeconds() + seconds;
  deadline = deadline == 0 ? at : std::min(deadline, at);
}

void Supervisor::noticeEnd(size_t r, bool joinedBefore) {
  const Rank &rank = ranks[r];
  if (WIFSIGNALED(rank.status)) {
    const int signal = WTERMSIG(rank.status);
    if (killed || (interrupts && signal == SIGINT))
      return; // killed by this process
    char text[200];
    std::snprintf(text, sizeof text, "rank %u died: its process %d was killed by signal %d (%s)",
                  rank.number, rank.pid, signal, strsignal(signal));
    const char *image = page.memoryOf(rank.number, kRecorderBytes);
    const std::string last = image ? lastOperationText(image) : "";
    settle(DPC_PEER, (text + (last.empty() ? "" : "; " + last)).c_str());
    endWithin(joinedBefore ? kGraceSeconds : 0);
    return;
  }
  const int code = WEXITSTATUS(rank.status);
  if (code != DPC_OK) {
    if (silent.empty()) {
      silent = "rank " + std::to_string(rank.number) + " ended with exit code " +
               std::to_string(code) + " and gave no reason";
      silentStatus = code;
    }
    endWithin(joinedBefore ? kGraceSeconds : kUnjoinedGraceSeconds);
  } else if (!joinedBefore && early.empty()) {
    early = "rank " + std::to_string(rank.number) + " ended before it had joined the others";
  }
}

/// Sets or shortens the deadline of the ranks.
void Supervisor::limitWaiting() {
  // All ranks may end before they join, e.g. with --help. But if one rank ends and
  // another one waits for it to join, the waiting rank must be ended.
  if (!early.empty() && deadline == 0 && page.attached.load() > 0 && !allJoined())
    endWithin(kUnjoinedGraceSeconds);
  if (page.peer.valid() && symptomAt == 0)
    symptomAt = monotonicSeconds();
  if (nodes && symptomAt != 0)
    settle(DPC_PEER, page.peer.text, /*isSymptom=*/true); // node 0 waits for a cause
  // If a rank fails, it reports the cause at once. The symptom, that another rank noticed
  // the failure, is printed only if no cause is reported within kCauseSeconds.
  else if (symptomAt != 0 && monotonicSeconds() > symptomAt + kCauseSeconds)
    print(DPC_PEER, page.peer.text);
  const bool allStand = std::all_of(ranks.begin(), ranks.end(), [](const Rank &rank) {
    return !rank.running || rank.stopSignal;
  });
  // While a checkpoint is due, ranks that stand may have been told to go on at this moment.
  const bool isDue = monotonicSeconds() >= deadline || (allStand && !mustSave);
  if (deadline == 0 || killed || !isDue)
    return;
  if (mustSave && !page.own.valid())
    settle(DPC_INTERRUPTED, kOverdueText);
  kill();
}

/// Records which ranks have ended, stopped or continued.
void Supervisor::reap() {
  const bool joinedBefore = allJoined();
  for (size_t r = 0; r < ranks.size(); ++r) {
    Rank &rank = ranks[r];
    int status = 0;
    while (rank.running &&
           ::waitpid(rank.pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == rank.pid) {
      if (WIFSTOPPED(status)) {
        rank.stopSignal = WSTOPSIG(status);
        rank.stoppedSeconds = 0;
      } else if (WIFCONTINUED(status)) {
        rank.stopSignal = 0;
      } else {
        rank.running = false;
        rank.status = status;
        noticeEnd(r, joinedBefore);
      }
    }
  }
}

/// Ends the run if a rank has been stopped for too long. Ranks that have joined notice it
/// themselves, unless all others have ended. So they get some seconds more. A run of one rank that
/// the user stops goes on when the user wants it to. `seconds` is the time since the last call,
/// without the time in which the launcher was stopped: a signal may have stopped the ranks together
/// with the launcher.
void Supervisor::noticeFrozen(double seconds) {
  const bool joined = allJoined();
  if (killed || (joined && ranks.size() == 1 && !nodes))
    return;
  const double limit = options.frozen + (joined ? kNoticedSeconds : 0);
  for (size_t r = 0; r < ranks.size(); ++r) {
    Rank &rank = ranks[r];
    if (!rank.running || !rank.stopSignal)
      continue;
    rank.stoppedSeconds += seconds;
    if (rank.stoppedSeconds < limit)
      continue;
    char text[200];
    std::snprintf(text, sizeof text,
                  "rank %u is frozen: its process %d was stopped by signal %d "
                  "(%s)%s, and has not gone on for %.0f s",
                  rank.number, rank.pid, rank.stopSignal, strsignal(rank.stopSignal),
                  joined ? "" : " before it joined", limit);
    settle(DPC_PEER, text);
    kill();
    return;
  }
}

void Supervisor::noticeCauses() {
  const bool told = page.own.valid();
  // If one rank dies and another rank then reports a failure, the death is the cause
  // of the failure. So reap(), which prints deaths, runs after the report is read and
  // before the report is printed.
  reap();
  if (told)
    settle(page.own.status, page.own.text);
}

void Supervisor::interrupt(int signal) {
  if (++interrupts > 1)
    return kill();
  signalRanks(ranks, SIGINT);
  if (!allJoined()) // ranks stop after a step, but no rank has begun a step yet
    endWithin(kUnjoinedGraceSeconds);
  else if (signal == SIGTERM && options.saves) {
    mustSave = deadline == 0;
    endWithin(kSaveSeconds);
  }
}

/// Called when all ranks have ended. If no cause is known, settles on the best reason.
void Supervisor::settleWhatIsLeft() {
  if (page.peer.valid())
    settle(DPC_PEER, page.peer.text, /*isSymptom=*/true);
  else if (interrupts)
    settle(DPC_INTERRUPTED, interrupts > 1 ? "interrupted twice: the ranks were killed"
                                           : "interrupted before the first step");
  else if (!silent.empty())
    settle(silentStatus, silent.c_str());
  else if (killed && !early.empty())
    settle(DPC_PEER, early.c_str());
}

/// Waits for a tick, or until a rank ends or the user interrupts the run.
void Supervisor::tick() {
  sigset_t watched = interruptSignals();
  sigaddset(&watched, SIGCHLD);
  const timespec length = {0, static_cast<long>(kTickSeconds * 1e9)};
  const int signal = ::sigtimedwait(&watched, nullptr, &length);
  if (signal > 0 && signal != SIGCHLD)
    interrupt(signal);
}

/// Prints the verdict of the nodes once it is known, and ends the ranks of this host.
void Supervisor::followNodes() {
  nodes->poll();
  if (printed || !nodes->verdict())
    return;
  print(nodes->verdict()->status, nodes->verdictText().c_str());
  endWithin(allJoined() ? kGraceSeconds : kUnjoinedGraceSeconds);
}

/// Waits until the ranks of all nodes have ended. A second interrupt ends the wait.
void Supervisor::waitForNodes() {
  nodes->end();
  for (followNodes(); !nodes->isFinished() && interrupts < 2; followNodes())
    tick();
}

int Supervisor::run() {
  for (double before = monotonicSeconds();;) {
    noticeCauses();
    if (nodes)
      followNodes();
    if (allEnded())
      break;
    const double now = monotonicSeconds();
    noticeFrozen(std::min(now - before, 2 * kTickSeconds));
    before = now;
    limitWaiting();
    tick();
  }
  // A rank may have reported a cause after the last read of the page, and then ended.
  noticeCauses();
  settleWhatIsLeft();
  if (nodes)
    waitForNodes();
  return interrupts && printedStatus == DPC_PEER ? int(DPC_INTERRUPTED) : printedStatus;
}

} // namespace

void signalRanks(const std::vector<Rank> &ranks, int signal) {
  if (!ranks.empty() && ranks[0].pid > 0)
    ::kill(-ranks[0].pid, signal);
}

int supervise(std::vector<Rank> *ranks, const RunPage &page, Nodes *nodes,
              const SuperviseOptions &options) {
  return Supervisor(*ranks, page, nodes, options).run();
}

} // namespace dpc
