// The course of a check. The ranks first meet with nothing but their token in common, so that ranks
// that do not fit together can tell each other what they have. If they fit, they connect as a run
// does, and measure the pairs.

#include "runtime/src/check/Check.h"

#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/RunPage.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/check/Addresses.h"
#include "runtime/src/check/Causes.h"
#include "runtime/src/check/Pairs.h"
#include "runtime/src/check/SharedFolder.h"
#include "runtime/src/check/Table.h"
#include "runtime/src/comm/ControlMessages.h"
#include "runtime/src/comm/Hosts.h"
#include "runtime/src/comm/mpi/MeetingPlace.h"

#include <algorithm>
#include <memory>
#include <unistd.h>

namespace dpc {

namespace {

/// Longest wait of ranks that have met for each other.
constexpr double kConnectSeconds = 5;

/// What a rank has reached after the first meeting.
struct Ending {
  dpc_status_t status;
  char text[512];
};

class Checker {
public:
  Checker(const dpc_session &session, const CheckRequest &request)
      : session(session), request(request), rank(session.options.rank) {}
  ~Checker() { dpc_comm_release(comm); }

  dpc_status_t run(CheckResult *out);

private:
  bool isDone() const {
    return std::any_of(causes.begin(), causes.end(),
                       [](const auto &each) { return !each.empty(); });
  }
  dpc_status_t meet();
  dpc_status_t findPlace(dpc_comm_options_t *meeting);
  dpc_status_t compare();
  dpc_status_t look(Findings *findings);
  dpc_status_t measure();
  dpc_status_t conclude(CheckResult *out) const;

  const dpc_session &session;
  const CheckRequest &request;
  const uint32_t rank;
  Lobby lobby;
  dpc_comm_t *comm = nullptr;
  std::string place, secret; ///< of the meeting, if MPI has told it
  std::set<std::string> strangers;
  Gathered all;
  std::vector<std::string> causes;
  std::vector<PairSpeed> pairs;
};

/// Ranks under mpirun may know no place to meet. Then they connect through MPI first, and rank 0
/// tells the others a place.
dpc_status_t Checker::findPlace(dpc_comm_options_t *meeting) {
  struct Told {
    dpc_status_t status;
    char rendezvous[128], token[65], text[256];
  } told = {};
  const std::vector<uint64_t> memory(session.options.world_size,
                                     pairMemory() + sizeof told + DPC_ALIGNMENT);
  void *window = nullptr;
  Fd listener;
  if (dpc_status_t status = session.checkRequest())
    return status;
  if (dpc_status_t status = session.connect(memory, kConnectSeconds, &comm))
    return status;
  if (dpc_status_t status = comm->vtable->allocate(comm, sizeof told, &window))
    return status;
  if (rank == 0) {
    uint16_t port = 0;
    const std::string host = mpi::outerAddress();
    told.status = makeToken(&secret);
    if (told.status == DPC_OK)
      told.status = listenOn(host, &listener, &port);
    if (told.status != DPC_OK)
      copyText(told.text, dpc_last_error());
    copyText(told.rendezvous, endpointText(host, port));
    copyText(told.token, secret);
  }
  if (dpc_status_t status =
          broadcastControl(*comm, static_cast<char *>(window), &told, sizeof told))
    return status;
  if (told.status)
    return fail(told.status, "%s", told.text);
  place = told.rendezvous;
  secret = told.token;
  meeting->rendezvous = place.c_str();
  meeting->token = secret.c_str();
  meeting->listen_fd = listener.release();
  return DPC_OK;
}

/// Meets the ranks that come, and exchanges arrivals.
dpc_status_t Checker::meet() {
  dpc_comm_options_t meeting = session.meetingOptions();
  if (session.transport == "mpi" && session.rendezvous.empty())
    if (dpc_status_t status = findPlace(&meeting))
      return status;
  if (session.options.listen_fd >= 0 && meeting.listen_fd == session.options.listen_fd)
    meeting.listen_fd = ::dup(meeting.listen_fd); // the ranks meet there once more
  meeting.plan_hash = nullptr;                    // compared later
  meeting.timeout_seconds = request.seconds;
  if (dpc_status_t status = lobby.open(meeting, "check", &strangers))
    return status;
  if (RunPage *page = runPage())
    page->joined.fetch_add(1);
  all.seconds = request.seconds;
  return lobby.exchange(ownArrival(), &all.arrivals);
}

/// Looks at this rank, its host, the folder and the addresses.
dpc_status_t Checker::look(Findings *findings) {
  struct Told {
    dpc_status_t status;
    Digest contents;
  } told = {};
  SharedFolder folder(request.folder);
  const bool hasFolder = !request.folder.empty();
  *findings = findOut(session, request, all.hosts.data());
  const auto note = [&](dpc_status_t status) {
    if (status == DPC_OK || findings->status != DPC_OK)
      return;
    findings->status = failWithin(status, "--checkpoint");
    copyText(findings->text, dpc_last_error());
  };
  if (hasFolder && rank == 0)
    note(told.status = folder.prepare(&told.contents));
  std::vector<Told> answers;
  if (dpc_status_t status = lobby.exchange(told, &answers))
    return status;
  if (hasFolder && rank != 0 && answers[0].status == DPC_OK)
    note(folder.look(rank, answers[0].contents));
  // With one host, or without its ranks, no rank is called at its address.
  const bool isWhole = std::all_of(all.arrivals.begin(), all.arrivals.end(),
                                   [](const Arrival &each) { return each.isHere != 0; });
  const bool isOneHost =
      std::all_of(all.hosts.begin(), all.hosts.end(), [](uint32_t lowest) { return lowest == 0; });
  if (isWhole && (!isOneHost || session.transport == "sockets" || session.transport == "mpi"))
    if (dpc_status_t status = checkAddresses(lobby, findings))
      return status;
  // This exchange also keeps rank 0's file until all ranks have looked for it.
  return lobby.exchange(*findings, &all.findings);
}

dpc_status_t Checker::compare() {
  Findings findings;
  causes = findCauses(all);
  // Ranks with other versions of the runtime may have other records.
  const bool hasOneVersion =
      std::all_of(all.arrivals.begin(), all.arrivals.end(), [&](const Arrival &each) {
        return !each.isHere || std::string(each.runtime) == all.arrivals[0].runtime;
      });
  if (!hasOneVersion)
    return DPC_OK;
  if (dpc_status_t status = findHosts(lobby, &all.hosts))
    return status;
  if (dpc_status_t status = look(&findings))
    return status;
  all.hasDevicePerRank = runsOnCuda(session.program) && !session.isStaged();
  causes = findCauses(all);
  return DPC_OK;
}

/// Connects the ranks as a run does, and measures the pairs.
dpc_status_t Checker::measure() {
  const std::vector<uint64_t> memory(session.options.world_size, pairMemory());
  Ending own = {};
  std::vector<Ending> endings;
  if (!comm)
    own.status = session.connect(memory, kConnectSeconds, &comm);
  if (own.status == DPC_OK) {
    all.transport = comm->vtable->name;
    own.status = measurePairs(*comm, &pairs);
  }
  if (own.status)
    copyText(own.text, dpc_last_error());
  if (dpc_status_t status = lobby.exchange(own, &endings))
    return own.status ? fail(own.status, "%s", own.text) : status;
  for (uint32_t r = 0; r < endings.size(); ++r)
    if (endings[r].status)
      causes[r] = endings[r].text;
  if (isDone())
    pairs.clear();
  return DPC_OK;
}

/// The status of the check, equal on all ranks. The first rank that fails reports it, or rank 0 if
/// that rank did not come.
dpc_status_t Checker::conclude(CheckResult *out) const {
  const auto ranks = static_cast<uint32_t>(causes.size());
  uint32_t first = 0, count = 0;
  for (uint32_t r = ranks; r-- > 0;)
    if (!causes[r].empty()) {
      first = r;
      ++count;
    }
  if (rank == 0) {
    out->table = checkTable(all, causes, pairs);
    for (const std::string &address : strangers)
      if (count)
        out->table += "note: " + strangerText(address) + "\n";
  }
  if (count == 0)
    return DPC_OK;
  out->reports = rank == (all.arrivals[first].isHere ? first : 0);
  const bool isUsage = !all.findings.empty() && all.findings[first].status == DPC_USAGE;
  return fail(isUsage ? DPC_USAGE : DPC_INVALID, "%s: %s%s", rankText(all, first).c_str(),
              causes[first].c_str(),
              count > 1 ? (" (" + countOf(count - 1, "more rank") + " could not take part)").c_str()
                        : "");
}

dpc_status_t Checker::run(CheckResult *out) {
  dpc_status_t status = meet();
  if (status == DPC_OK)
    status = compare();
  if (status == DPC_OK && !isDone())
    status = measure();
  if (status == DPC_OK)
    return conclude(out);
  out->reports = !isToldElsewhere();
  // What ranks say about each other begins with the guilty rank.
  const bool isAboutRank = std::string(dpc_last_error()).rfind("rank ", 0) == 0;
  return isAboutRank ? status : failWithin(status, "rank %u (%s)", rank, ownArrival().host);
}

} // namespace

dpc_status_t checkRun(const dpc_session &session, const CheckRequest &request, CheckResult *out) {
  auto checker = std::make_unique<Checker>(session, request);
  const dpc_status_t status = checker->run(out);
  const std::string cause = dpc_last_error();
  checker.reset(); // leaves the other ranks, which may fail too
  return status ? fail(status, "%s", cause.c_str()) : DPC_OK;
}

} // namespace dpc
