// A launcher whose peer knows the token and sends other messages than in a good run. The launcher
// ends with one line, and with a status that is a failure.
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Version.h"
#include "runtime/src/comm/Rendezvous.h"
#include "runtime/src/launch/Nodes.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/Mutator.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

using namespace dpc;
using namespace dpc::test;

namespace {

const char *const kToken = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

NodeRecord recordOf() {
  NodeRecord record = {};
  record.ranks = 1;
  record.programRanks = 2;
  copyText(record.host, hostName());
  copyText(record.version, runtimeVersion());
  return record;
}

/// How a launcher ended: "" with DPC_OK, or the line that it prints.
struct Ending {
  dpc_status_t status = DPC_OK;
  std::string line;
};

class NodesFuzz : public testing::Test {
protected:
  NodesFuzz() {
    tokenFile = directory.path + "/token";
    std::ofstream(tokenFile) << kToken;
    ::chmod(tokenFile.c_str(), 0600);
    address = "file://" + directory.path + "/meeting";
  }

  /// The launcher of a node whose ranks end at once.
  Ending launch(uint32_t node) const {
    LaunchOptions options;
    options.nodes = 2;
    options.nodeRank = node;
    options.rendezvous = address;
    options.tokenFile = tokenFile;
    Nodes nodes;
    NodeShare share;
    if (const dpc_status_t status = nodes.open(options))
      return {status, dpc_last_error()};
    if (const dpc_status_t status = nodes.agree(recordOf(), 1, &share))
      return {status, dpc_last_error()};
    nodes.end();
    for (nodes.poll(); !nodes.isFinished(); nodes.poll())
      ::usleep(100);
    return nodes.verdict() ? Ending{nodes.verdict()->status, nodes.verdictText()} : Ending{};
  }

  /// Meets the launcher of node `victim` as the other node, and sends it the bytes.
  Ending attack(uint32_t victim, const std::string &bytes) const {
    Ending ending;
    std::thread launcher([&] { ending = launch(victim); });
    RendezvousOptions meet;
    meet.rank = 1 - victim;
    meet.worldSize = 2;
    meet.transport = "dpc-run";
    meet.address = address;
    meet.timeoutSeconds = 10;
    parseToken(kToken, &meet.token);
    std::vector<Fd> connections(2);
    EXPECT_EQ(victim == 0 ? joinRendezvous(meet, &connections[0])
                          : serveRendezvous(meet, &connections),
              DPC_OK);
    const int fd = connections[victim].get();
    sendAll(fd, bytes.data(), bytes.size(), monotonicSeconds() + 5);
    ::shutdown(fd, SHUT_WR);
    launcher.join();
    return ending;
  }

  /// Attacks with the messages of a good run, changed.
  void attackWith(uint32_t victim, const Messages &good) const {
    const uint64_t memory = peakMemory(), attacks = attackCount(400, 250);
    for (uint64_t seed = 1; seed <= attacks && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const double begin = monotonicSeconds();
      const Ending ending = attack(victim, Mutator(seed).mutate(good));
      EXPECT_LT(monotonicSeconds() - begin, 10);
      if (ending.status)
        expectOneLine(ending.line);
      EXPECT_EQ(ending.status == DPC_OK, ending.line.empty()) << ending.line;
      EXPECT_STRNE(dpc_status_name(ending.status), "unknown status");
    }
    EXPECT_LE(peakMemory(), memory + kMostGrowth);
  }

  TemporaryDirectory directory;
  std::string tokenFile, address;
};

std::string messageOf(NodeMessageKind kind, const void *payload = nullptr, size_t bytes = 0) {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  const Fd far(fds[1]);
  NodeLink{Fd(fds[0])}.send(kind, payload, bytes);
  std::string message(12 + bytes, 0);
  EXPECT_TRUE(receiveAll(far.get(), message.data(), message.size(), monotonicSeconds() + 1));
  return message;
}

std::string causeOf(NodeMessageKind kind, const char *text, dpc_status_t status = DPC_PEER,
                    uint32_t node = 1) {
  NodeCause cause = {};
  cause.node = node;
  cause.status = status;
  copyText(cause.text, text);
  return messageOf(kind, &cause, sizeof cause);
}

std::string prepared() {
  const NodeRecord record = recordOf();
  return messageOf(NodeMessageKind::prepared, &record, sizeof record);
}

std::string started(const NodeRecord &second = recordOf()) {
  struct {
    RunRecord run;
    NodeRecord records[2];
  } told = {{{}, 1}, {recordOf(), second}};
  std::string payload(reinterpret_cast<const char *>(&told.run), sizeof told.run);
  payload.append(reinterpret_cast<const char *>(told.records), sizeof told.records);
  return messageOf(NodeMessageKind::start, payload.data(), payload.size());
}

const std::string kAlive = messageOf(NodeMessageKind::alive);

TEST_F(NodesFuzz, OtherMessagesToNodeZero) {
  const std::string end = messageOf(NodeMessageKind::ended);
  EXPECT_EQ(attack(0, prepared() + kAlive + end).line, "");
  attackWith(0, {prepared(), kAlive, causeOf(NodeMessageKind::cause, "rank 1 died:\n\tgone"),
                 kAlive, end});
}

TEST_F(NodesFuzz, OtherMessagesToNodeOne) {
  const FinishRecord record = {0};
  const std::string finish = messageOf(NodeMessageKind::finish, &record, sizeof record);
  EXPECT_EQ(attack(1, started() + kAlive + finish).line, "");
  attackWith(1, {started(), kAlive,
                 causeOf(NodeMessageKind::verdict, "rank 0 died:\n\tgone", DPC_PEER, 0), kAlive,
                 finish});
}

TEST_F(NodesFuzz, MessagesThatMakeNoSenseAreNamed) {
  const std::string who = "node 1 (" + hostName() + ") ",
                    senseless = "has sent what is no part of the run";
  EXPECT_EQ(attack(0, prepared() + "not a message").line, who + senseless);
  EXPECT_EQ(attack(0, prepared() + messageOf(NodeMessageKind(99))).line, who + senseless);
  EXPECT_EQ(attack(0, prepared() + causeOf(NodeMessageKind::cause, "x", DPC_PEER, 2)).line,
            who + senseless);
  EXPECT_EQ(attack(0, prepared() + messageOf(NodeMessageKind::ended, "x", 1)).line,
            who + senseless);
  EXPECT_EQ(attack(0, "not a message").line, "node 1: " + senseless);
  EXPECT_EQ(attack(0, messageOf(NodeMessageKind::prepared, "x", 1)).line,
            "node 1 has another version of dpc-run");
  NodeRecord other = recordOf();
  other.ranks = 1000000; // node 0 lets this node start more ranks than it said
  EXPECT_EQ(attack(1, started(other)).line, "node 0 " + senseless);
}

// A failure of another host stays a failure, and takes one line.
TEST_F(NodesFuzz, CausesAreMadeFit) {
  const Ending ending =
      attack(0, prepared() + causeOf(NodeMessageKind::cause, "rank 1 died:\n\x1b[2Jgone", 256));
  EXPECT_EQ(ending.status, DPC_PEER);
  EXPECT_EQ(ending.line, "node 1 (" + hostName() + "): rank 1 died:  [2Jgone");
}

// Only whole messages are signs of life. A header that announces too much is waited for no longer
// than a node that is silent.
TEST(NodeLink, PartsOfAMessageAreNoSignOfLife) {
  int fds[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  const Fd far(fds[1]);
  NodeLink link{Fd(fds[0])};
  const double before = link.heardAt();
  NodeMessage message;
  ::usleep(2000);
  sendAll(far.get(), kAlive.data(), 11, monotonicSeconds() + 1);
  EXPECT_FALSE(link.receive(&message));
  EXPECT_EQ(link.heardAt(), before);
  sendAll(far.get(), kAlive.data() + 11, 1, monotonicSeconds() + 1);
  EXPECT_TRUE(link.receive(&message));
  EXPECT_GT(link.heardAt(), before);
}

} // namespace
