// Lets the launchers of several hosts start, fail and end together. Node 0 gathers what the
// others tell it, decides, and tells them the result.

#include "runtime/src/launch/Nodes.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/base/TokenFile.h"
#include "runtime/src/base/Version.h"
#include "runtime/src/comm/Rendezvous.h"

#include <algorithm>
#include <cstdio>
#include <poll.h>
#include <unistd.h>

namespace dpc {

namespace {

/// Longest wait for the launchers of the other hosts, which a user or a scheduler may start
/// minutes later.
constexpr double kMeetSeconds = 300;
/// Longest wait until all nodes are ready for a start. They have met already.
constexpr double kAgreeSeconds = 60;
constexpr double kAliveSeconds = 0.5;
/// Longest wait of node 0 until the other launchers have read its last messages.
constexpr double kLeaveSeconds = 1;
/// A node counts as cut off after this part of the time after which ranks report each other as
/// frozen, because the node is the better cause.
constexpr double kSilentPart = 0.8, kFrozenSeconds = 10;
/// While a node is silent for this part of that time, a symptom waits: the node may be the cause.
constexpr double kSuspiciousPart = 0.25;
/// Most messages of a node that are handled before the other nodes and the ranks have their turn.
constexpr int kMostMessages = 64;

constexpr char kSenseless[] = "has sent what is no part of the run";

/// Makes a text from another host fit for a message.
template <size_t bytes> void makeLine(char (&text)[bytes]) {
  text[bytes - 1] = 0;
  copyText(text, oneLine(text));
}

/// A status from another host with which this launcher may end: a failure stays one.
dpc_status_t failureOf(dpc_status_t status) {
  const bool isKnown =
      (status > DPC_OK && status <= DPC_IO) || status == dpc_status_t(DPC_INTERRUPTED);
  return isKnown ? status : dpc_status_t(DPC_PEER);
}

} // namespace

/// The value of --frozen, for messages.
static std::string frozenText(uint32_t seconds) {
  return seconds ? std::to_string(seconds) : "(none)";
}

/// A host may know its own name as a loopback address, e.g. by its /etc/hosts. Nobody else could
/// reach a listener there.
static dpc_status_t checkReachable(const Endpoint &endpoint) {
  std::vector<SocketAddress> addresses;
  if (!endpoint.isName || endpoint.host == "localhost" || resolve(endpoint, &addresses))
    return DPC_OK; // an unknown name may become known until the meeting ends
  if (!addresses[0].isLoopback())
    return DPC_OK;
  return fail(
      DPC_INVALID,
      "--rendezvous: %s is %s on this host, which other hosts cannot reach: give an address "
      "of node 0's network",
      endpoint.host.c_str(), addresses[0].host().c_str());
}

std::string Nodes::nameOf(uint32_t node) const {
  const std::string name = "node " + std::to_string(node), host = records[node].host;
  return host.empty() ? name : name + " (" + host + ")"; // a node that ends early does not tell it
}

Nodes::~Nodes() {
  if (own != 0)
    return;
  for (NodeLink &link : links)
    link.finishSending();
  const double deadline = monotonicSeconds() + kLeaveSeconds;
  for (NodeLink &link : links)
    link.drain(deadline);
}

dpc_status_t Nodes::open(const LaunchOptions &options) {
  silentSeconds = kSilentPart * (options.frozen > 0 ? options.frozen : kFrozenSeconds);
  own = options.nodeRank;
  count = options.nodes;
  Endpoint endpoint;
  if (dpc_status_t status = parseEndpoint(options.rendezvous, &endpoint))
    return failWithin(status, "--rendezvous");
  if (dpc_status_t status = checkReachable(endpoint))
    return status;
  host = endpoint.host;
  std::string secret;
  if (dpc_status_t status = readTokenFile(options.tokenFile, &secret))
    return failWithin(status, "--token-file");
  if (!parseToken(secret.c_str(), &token))
    return fail(DPC_INVALID, "--token-file: %s does not hold 64 hex digits",
                options.tokenFile.c_str());
  links.resize(count);
  ended.resize(count);
  RendezvousOptions meet;
  meet.member = "node";
  meet.size = "--nodes=";
  meet.rank = own;
  meet.worldSize = count;
  describes = !options.describe.file.empty();
  meet.transport = describes ? "dpc-run --describe" : "dpc-run";
  meet.address = options.rendezvous;
  meet.token = token;
  meet.timeoutSeconds = options.check ? double(options.check) : kMeetSeconds;
  if (own != 0) {
    Fd connection;
    if (dpc_status_t status = joinRendezvous(meet, &connection))
      return status;
    links[0] = NodeLink(std::move(connection));
    return DPC_OK;
  }
  std::vector<Fd> connections;
  if (dpc_status_t status = serveRendezvous(meet, &connections))
    return status;
  for (uint32_t node = 1; node < count; ++node)
    links[node] = NodeLink(std::move(connections[node]));
  return DPC_OK;
}

/// Node 0: waits for the records of all nodes, and sends all of them to all nodes.
dpc_status_t Nodes::gather(const NodeRecord &mine, const RunRecord &run) {
  records.resize(count); // the host of a node that has been here before is known
  records[0] = mine;
  std::vector<bool> isHere(count);
  isHere[0] = true;
  const double deadline = monotonicSeconds() + kAgreeSeconds;
  for (;;) {
    std::vector<pollfd> polled;
    for (uint32_t node = 1; node < count; ++node) {
      NodeMessage message;
      for (int i = 0; i < kMostMessages && !isHere[node] && links[node].receive(&message); ++i) {
        isHere[node] = message.kind == NodeMessageKind::prepared;
        if (isHere[node] && !message.read(&records[node]))
          return fail(DPC_PEER, "node %u has another version of dpc-run", node);
      }
      if (isHere[node])
        continue;
      const bool isLate = monotonicSeconds() > deadline;
      if (!links[node].isLost() && !links[node].isSenseless() && !isLate) {
        polled.push_back({links[node].descriptor(), POLLIN, 0});
        continue;
      }
      isHere[node] = true; // all nodes learn why it does not come
      records[node].status = DPC_PEER;
      if (links[node].isSenseless())
        copyText(records[node].text, kSenseless);
      else if (links[node].isLost())
        copyText(records[node].text, "ended before the ranks were started");
      else
        std::snprintf(records[node].text, sizeof records[node].text,
                      "was not ready to start its ranks within %.0f s", kAgreeSeconds);
    }
    if (polled.empty())
      break;
    ::poll(polled.data(), polled.size(), 100);
  }
  std::vector<char> payload(sizeof run + count * sizeof(NodeRecord));
  std::memcpy(payload.data(), &run, sizeof run);
  std::memcpy(payload.data() + sizeof run, records.data(), count * sizeof(NodeRecord));
  for (uint32_t node = 1; node < count; ++node)
    links[node].send(NodeMessageKind::start, payload.data(), payload.size());
  return DPC_OK;
}

/// Nodes but 0: sends the own record, and waits for those of all nodes.
dpc_status_t Nodes::receiveStart(const NodeRecord &mine, RunRecord *outRun) {
  links[0].send(NodeMessageKind::prepared, mine);
  const double deadline = monotonicSeconds() + kAgreeSeconds + NodeLink::kSendSeconds;
  NodeMessage message;
  for (;;) {
    while (links[0].receive(&message)) {
      if (message.kind != NodeMessageKind::start)
        continue;
      if (message.payload.size() != sizeof *outRun + count * sizeof(NodeRecord))
        return fail(DPC_PEER, "node 0 has another version of dpc-run");
      records.resize(count);
      std::memcpy(outRun, message.payload.data(), sizeof *outRun);
      std::memcpy(records.data(), message.payload.data() + sizeof *outRun,
                  count * sizeof(NodeRecord));
      if (std::memcmp(&records[own], &mine, sizeof mine) != 0)
        return fail(DPC_PEER, "node 0 %s", kSenseless);
      return DPC_OK;
    }
    if (links[0].isSenseless())
      return fail(DPC_PEER, "node 0 %s", kSenseless);
    if (links[0].isLost())
      return fail(DPC_PEER, "node 0 ended before the ranks were started");
    if (monotonicSeconds() > deadline)
      return fail(DPC_PEER, "node 0 did not start the ranks within %.0f s", kAgreeSeconds);
    pollfd polled = {links[0].descriptor(), POLLIN, 0};
    ::poll(&polled, 1, 100);
  }
}

/// Fails if nodes cannot start their ranks. Says why each of them cannot, this one first.
dpc_status_t Nodes::checkReady() const {
  dpc_status_t status = records[own].status;
  std::string causes = status ? records[own].text : "";
  for (uint32_t node = 0; node < count; ++node) {
    if (node == own || records[node].status == DPC_OK)
      continue;
    causes += (causes.empty() ? "" : "; ") + nameOf(node) + ": " + records[node].text;
    status = status ? status : records[node].status;
  }
  return status ? fail(status, "%s", causes.c_str()) : DPC_OK;
}

/// Checks that the nodes fit together. All nodes compute the same from the same records.
dpc_status_t Nodes::check() {
  for (NodeRecord &record : records) {
    makeLine(record.host);
    makeLine(record.version);
    makeLine(record.text);
    if (record.status)
      record.status = failureOf(record.status);
  }
  if (dpc_status_t status = checkReady())
    return status;
  const NodeRecord &first = records[0];
  for (uint32_t node = 1; node < count; ++node) {
    const NodeRecord &record = records[node];
    const auto differ = [&](const char *what, const std::string &theirs, const std::string &ours) {
      return fail(DPC_INVALID, "%s has %s %s, %s has %s", nameOf(node).c_str(), what,
                  theirs.c_str(), nameOf(0).c_str(), ours.c_str());
    };
    if (std::strcmp(record.version, first.version) != 0)
      return differ("the dpc-run of", record.version, first.version);
    if (describes && record.ranks != first.ranks)
      return differ("-n", std::to_string(record.ranks), std::to_string(first.ranks));
    if (record.programRanks != first.programRanks)
      return differ("a program for", countOf(record.programRanks, "rank"),
                    countOf(first.programRanks, "rank"));
    if (record.maxRestarts != first.maxRestarts)
      return differ("--max-restarts", std::to_string(record.maxRestarts),
                    std::to_string(first.maxRestarts));
    if (record.frozenSeconds != first.frozenSeconds)
      return differ("--frozen", frozenText(record.frozenSeconds), frozenText(first.frozenSeconds));
  }
  firstRanks.clear();
  uint64_t total = 0;
  std::string list;
  for (uint32_t node = 0; node < count; ++node) {
    NodeRecord &record = records[node];
    if (record.ranks == 0 && record.programRanks % count != 0)
      return fail(DPC_USAGE, "%s do not divide by %u nodes: give each node's ranks with -n",
                  countOf(record.programRanks, "rank").c_str(), count);
    if (record.ranks == 0)
      record.ranks = record.programRanks / count;
    firstRanks.push_back(static_cast<uint32_t>(total));
    total += record.ranks;
    list += (node ? ", " : "") + std::to_string(record.ranks) + " on " + nameOf(node);
  }
  if (total != first.programRanks)
    return fail(DPC_INVALID, "the program was compiled for %s, and the nodes start %llu: %s",
                countOf(first.programRanks, "rank").c_str(), static_cast<unsigned long long>(total),
                list.c_str());
  return DPC_OK;
}

dpc_status_t Nodes::agree(NodeRecord mine, uint16_t port, NodeShare *out) {
  copyText(mine.host, hostName());
  copyText(mine.version, runtimeVersion());
  RunRecord run = {};
  run.port = port;
  if (own == 0) {
    if (dpc_status_t status = randomDigest(&run.nonce))
      return status;
    if (dpc_status_t status = gather(mine, run))
      return status;
  } else if (dpc_status_t status = receiveStart(mine, &run)) {
    return status;
  }
  if (dpc_status_t status = check())
    return status;
  out->ranks = records[own].ranks;
  out->firstRank = firstRanks[own];
  out->worldSize = records[own].programRanks;
  out->host = host;
  out->port = run.port;
  const Digest secret = hmacSha256(token, run.nonce.data(), run.nonce.size());
  out->token = toHex(secret.data(), secret.size());
  toldCause = toldSymptom = finished = false;
  decided = std::nullopt;
  causes = CauseFinder(count);
  ended.assign(count, false);
  for (NodeLink &link : links)
    link.restartSilence();
  return DPC_OK;
}

/// The node of the rank with which a message begins, as messages about ranks do.
uint32_t Nodes::guiltyNode(const char *text) const {
  const uint32_t rank = guiltyRank(text);
  if (rank == DPC_NONE)
    return own;
  const auto next = std::upper_bound(firstRanks.begin(), firstRanks.end(), rank);
  // A node without ranks has the same first rank as the next one.
  return next == firstRanks.begin() ? own : static_cast<uint32_t>(next - firstRanks.begin()) - 1;
}

void Nodes::tell(dpc_status_t status, const char *text, bool isSymptom) {
  if (toldCause || (isSymptom && toldSymptom))
    return;
  (isSymptom ? toldSymptom : toldCause) = true;
  NodeCause message = {};
  message.node = isSymptom ? guiltyNode(text) : own;
  message.status = status;
  message.isSymptom = isSymptom;
  copyText(message.text, text);
  if (own == 0)
    causes.add(message, monotonicSeconds());
  else if (!links[0].isLost())
    links[0].send(NodeMessageKind::cause, message);
  if (own != 0 && links[0].isLost() && !decided)
    decided = message;
}

void Nodes::end() {
  ended[own] = true;
  if (own != 0)
    links[0].send(NodeMessageKind::ended, nullptr, 0);
}

/// Returns false if the message makes no sense.
bool Nodes::handle(uint32_t from, const NodeMessage &message) {
  const bool isCause =
      message.kind == (own == 0 ? NodeMessageKind::cause : NodeMessageKind::verdict);
  if (isCause) {
    NodeCause received;
    if (!message.read(&received) || received.node >= count)
      return false;
    makeLine(received.text);
    received.status = failureOf(received.status);
    if (own == 0)
      causes.add(received, monotonicSeconds());
    else if (!decided)
      decided = received;
    return true;
  }
  if (message.kind == NodeMessageKind::alive)
    return message.payload.empty();
  if (own == 0) {
    if (message.kind != NodeMessageKind::ended || !message.payload.empty())
      return false;
    ended[from] = true;
    return true;
  }
  FinishRecord finish;
  if (message.kind != NodeMessageKind::finish || !message.read(&finish))
    return false;
  finished = true;
  anyLost = finish.anyLost;
  return true;
}

/// A node is cut off, or its launcher has ended too early.
void Nodes::lose(uint32_t node, const char *text) {
  links[node].close();
  anyLost = true;
  NodeCause message = {};
  message.node = node;
  message.status = DPC_PEER;
  message.isAboutNode = 1;
  copyText(message.text, text);
  if (own == 0) {
    ended[node] = true;
    causes.add(message, monotonicSeconds());
    return;
  }
  if (!decided)
    decided = message;
  finished = true;
}

void Nodes::noticeSilence(double now) {
  for (uint32_t node = 0; node < count; ++node) {
    if (node == own || (own != 0 && node != 0) || finished)
      continue;
    NodeLink &link = links[node];
    char text[80];
    std::snprintf(text, sizeof text, "cannot be reached: nothing was heard from it for %.0f s",
                  silentSeconds);
    if (link.isLost() && !(own == 0 && ended[node]))
      lose(node, link.isSenseless() ? kSenseless : "is lost: its dpc-run has ended");
    else if (!link.isLost() && now - link.heardAt() > silentSeconds)
      lose(node, text);
  }
}

/// Node 0: chooses the verdict, and sends it to all nodes.
void Nodes::decide(double now) {
  const bool isSuspicious = std::any_of(links.begin() + 1, links.end(), [&](const NodeLink &link) {
    return !link.isLost() && now - link.heardAt() > kSuspiciousPart * silentSeconds;
  });
  if (!decided && (decided = causes.find(now, isSuspicious)))
    for (NodeLink &link : links)
      link.send(NodeMessageKind::verdict, *decided);
  const bool allEnded = std::all_of(ended.begin(), ended.end(), [](bool is) { return is; });
  if (!allEnded || finished || (causes.hasSymptom() && !decided))
    return;
  for (NodeLink &link : links)
    link.send(NodeMessageKind::finish, FinishRecord{anyLost});
  finished = true;
}

void Nodes::poll() {
  const double now = monotonicSeconds();
  if (now - aliveAt > kAliveSeconds) {
    aliveAt = now;
    for (NodeLink &link : links)
      link.send(NodeMessageKind::alive, nullptr, 0);
  }
  for (uint32_t node = 0; node < count; ++node) {
    NodeMessage message;
    for (int i = 0; i < kMostMessages && links[node].receive(&message); ++i)
      if (!handle(node, message))
        links[node].refuse();
  }
  noticeSilence(now);
  if (own == 0)
    decide(now);
}

std::string Nodes::verdictText() const {
  if (decided->isAboutNode)
    return nameOf(decided->node) + " " + decided->text;
  return decided->node == own ? decided->text : nameOf(decided->node) + ": " + decided->text;
}

} // namespace dpc
