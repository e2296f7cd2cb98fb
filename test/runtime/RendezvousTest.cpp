// How ranks meet, and who is turned away.
#include "runtime/src/comm/Rendezvous.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/comm/Lobby.h"
#include "test/runtime/EveryTransport.h"

#include <csignal>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dpc;
using namespace dpc::test;

namespace {

const char *const kToken = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

std::string hex(const Digest &digest) {
  std::string out;
  char pair[3];
  for (uint8_t byte : digest) {
    std::snprintf(pair, sizeof pair, "%02x", byte);
    out += pair;
  }
  return out;
}

TEST(Sha256, KnownAnswers) { // FIPS 180-4 examples
  Sha256 abc;
  abc.update("abc", 3);
  EXPECT_EQ(hex(abc.finish()), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 million;
  std::string block(1000, 'a');
  for (int i = 0; i < 1000; ++i)
    million.update(block.data(), block.size());
  EXPECT_EQ(hex(million.finish()),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, Hmac) { // RFC 4231 test case 2 has a 4-byte key, padded with zeros
                     // like any short key
  Digest key{'J', 'e', 'f', 'e'};
  const char *text = "what do ya want for nothing?";
  EXPECT_EQ(hex(hmacSha256(key, text, std::strlen(text))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

/// A loopback listener on a free port.
int listener(std::string *outAddress) {
  Fd fd;
  uint16_t port = 0;
  if (listenOn("127.0.0.1", &fd, &port))
    return -1;
  *outAddress = "tcp://127.0.0.1:" + std::to_string(port);
  return fd.release();
}

std::vector<RankResult> meet(
    uint32_t ranks, const std::function<void(WorldOptions &)> &adjust,
    const std::function<void(const std::string &)> &intrude = {},
    const std::function<std::string(uint32_t)> &transportOf = [](uint32_t) { return "local"; }) {
  std::string address;
  int fd = listener(&address);
  auto results = forkRanks(
      ranks,
      [&](uint32_t rank, RankReport &report) {
        WorldOptions world(rank, ranks, address, 4096);
        world.options.token = kToken;
        world.options.timeout_seconds = 2;
        if (rank == 0)
          world.options.listen_fd = fd;
        else
          close(fd);
        adjust(world);
        dpc_comm_t *comm;
        int code = dpc_comm_create(transportOf(rank).c_str(), &world.options, &comm);
        if (code == 0) {
          code = dpc_comm_barrier(comm);
          dpc_comm_release(comm);
        }
        std::snprintf(report.message, sizeof report.message, "%s", code ? dpc_last_error() : "");
        return code;
      },
      [&](const std::vector<pid_t> &) {
        if (intrude)
          intrude(address);
      });
  close(fd);
  return results;
}

TEST(Rendezvous, OverTcp) {
  for (const std::string &transport : transportNames())
    for (const RankResult &result :
         meet(4, [](WorldOptions &) {}, {}, [&](uint32_t) { return transport; }))
      EXPECT_EQ(result.exitCode, 0) << transport << ": " << result.message;
}

TEST(Rendezvous, AnotherTransportIsNamed) {
  auto results =
      meet(2, [](WorldOptions &) {}, {}, [](uint32_t rank) { return rank ? "sockets" : "local"; });
  for (const RankResult &result : results) {
    EXPECT_EQ(result.exitCode, DPC_INVALID);
    EXPECT_NE(result.message.find("rank 1 has the transport sockets, rank 0 has local"),
              std::string::npos)
        << result.message;
  }
}

TEST(Rendezvous, StrangersAreDroppedAndTheRunGoesOn) {
  auto results = meet(
      3,
      [](WorldOptions &world) {
        if (world.options.rank)
          usleep(300000); // leave the stage to the strangers
      },
      [](const std::string &address) {
        std::vector<Fd> open;
        for (int i = 0; i < 20; ++i) {
          Fd fd;
          if (connectTo(address, monotonicSeconds() + 1, &fd))
            continue;
          std::string noise(i % 2 ? 4096 : 3, 'x'); // too much, or never enough
          sendAll(fd.get(), noise.data(), noise.size(), monotonicSeconds() + 0.1);
          open.push_back(std::move(fd));
        }
        usleep(500000);
      });
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 0) << result.message;
}

/// Sizes of the messages of a handshake, as they go over the wire.
constexpr size_t kKnockBytes = 40, kChallengeBytes = 72, kHelloBytes = 96, kAnswerBytes = 208;

std::string receive(const Fd &fd, size_t bytes) {
  std::string out(bytes, 0);
  return receiveAll(fd.get(), out.data(), bytes, monotonicSeconds() + 5) ? out : "";
}

bool send(const Fd &fd, const std::string &bytes) {
  return sendAll(fd.get(), bytes.data(), bytes.size(), monotonicSeconds() + 5);
}

/// Passes on what both ends send, until one of them closes the connection.
void relay(const Fd &a, const Fd &b) {
  pollfd ends[2] = {{a.get(), POLLIN, 0}, {b.get(), POLLIN, 0}};
  char bytes[4096];
  while (poll(ends, 2, 5000) > 0)
    for (int i : {0, 1}) {
      if (!ends[i].revents)
        continue;
      const ssize_t n = recv(ends[i].fd, bytes, sizeof bytes, 0);
      if (n <= 0 || !sendAll(ends[1 - i].fd, bytes, size_t(n), monotonicSeconds() + 5))
        return;
    }
}

/// Lets rank 1 meet rank 0 through this process, which hears all they say:
/// `replay(address of rank 0, knock, hello)` comes before the answer, which
/// `change(answer)` may replace.
std::vector<RankResult> overhear(uint32_t ranks,
                                 const std::function<void(const std::string &, const std::string &,
                                                          const std::string &)> &replay,
                                 const std::function<void(std::string &)> &change) {
  std::string between;
  const Fd middle(listener(&between));
  return meet(
      ranks,
      [&](WorldOptions &world) {
        if (world.options.rank == 1)
          world.options.rendezvous = between.c_str();
        else if (world.options.rank == 2)
          usleep(700000); // the run does not begin before the replay
      },
      [&](const std::string &address) {
        const Fd client(accept(middle.get(), nullptr, nullptr));
        Fd server;
        ASSERT_EQ(connectTo(address, monotonicSeconds() + 5, &server), DPC_OK);
        const std::string knock = receive(client, kKnockBytes);
        ASSERT_TRUE(send(server, knock));
        ASSERT_TRUE(send(client, receive(server, kChallengeBytes)));
        const std::string hello = receive(client, kHelloBytes);
        ASSERT_TRUE(send(server, hello));
        replay(address, knock, hello);
        std::string answer = receive(server, kAnswerBytes);
        ASSERT_EQ(answer.size(), kAnswerBytes);
        change(answer);
        ASSERT_TRUE(send(client, answer));
        relay(client, server);
      });
}

// A proof is worth nothing on another connection: who repeats what a rank has
// said is a stranger, and the run goes on.
TEST(Rendezvous, ReplayedHelloIsDropped) {
  bool dropped = false;
  const auto results = overhear(
      3,
      [&](const std::string &address, const std::string &knock, const std::string &hello) {
        Fd again;
        ASSERT_EQ(connectTo(address, monotonicSeconds() + 5, &again), DPC_OK);
        ASSERT_TRUE(send(again, knock));
        ASSERT_EQ(receive(again, kChallengeBytes).size(), kChallengeBytes);
        ASSERT_TRUE(send(again, hello));
        char byte;
        dropped = recv(again.get(), &byte, 1, 0) <= 0;
      },
      [](std::string &) {});
  EXPECT_TRUE(dropped);
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 0) << result.message;
}

// Nor does a rank believe what rank 0 said to it in an earlier connection.
TEST(Rendezvous, ReplayedAnswerIsRefused) {
  std::string earlier;
  overhear(
      2, [](const std::string &, const std::string &, const std::string &) {},
      [&](std::string &answer) { earlier = answer; });
  ASSERT_EQ(earlier.size(), kAnswerBytes);
  const auto results = overhear(
      2, [](const std::string &, const std::string &, const std::string &) {},
      [&](std::string &answer) { answer = earlier; });
  EXPECT_EQ(results[1].exitCode, DPC_PEER);
  EXPECT_NE(results[1].message.find("token"), std::string::npos) << results[1].message;
}

TEST(Rendezvous, AnotherTokenIsRefused) {
  auto results = meet(2, [](WorldOptions &world) {
    static const std::string other(64, '7');
    if (world.options.rank == 1)
      world.options.token = other.c_str();
  });
  EXPECT_EQ(results[0].exitCode, DPC_PEER);
  EXPECT_NE(
      results[0].message.find("rank 1 did not join within 2 s (1 of 2 ranks did); a process at "
                              "127.0.0.1 came and left: its token may be another one"),
      std::string::npos)
      << results[0].message;
  EXPECT_EQ(results[1].exitCode, DPC_PEER);
  EXPECT_NE(results[1].message.find("token"), std::string::npos) << results[1].message;
}

TEST(Rendezvous, AllAbsentRanksAreNamed) {
  auto results = meet(4, [](WorldOptions &world) {
    if (world.options.rank % 2)
      _exit(0);
  });
  for (uint32_t rank : {0, 2})
    EXPECT_NE(
        results[rank].message.find("rank 1, rank 3 did not join within 2 s (2 of 4 ranks did)"),
        std::string::npos)
        << results[rank].message;
}

TEST(Rendezvous, TheServerMayGoOnWithoutAbsentRanks) {
  auto results = meet(3, [](WorldOptions &world) {
    if (world.options.rank == 1)
      _exit(0);
    std::set<std::string> strangers;
    std::vector<uint32_t> records;
    Lobby lobby;
    if (lobby.open(world.options, "local", &strangers) ||
        lobby.exchange(world.options.rank + 5, &records))
      _exit(1);
    _exit(strangers.empty() && records == std::vector<uint32_t>{5, 0, 7} ? 0 : 2);
  });
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 0);
}

TEST(Rendezvous, AnotherPlanIsNamedByAll) {
  static const uint8_t other[32] = {1};
  auto results = meet(3, [](WorldOptions &world) {
    if (world.options.rank == 2)
      world.options.plan_hash = other;
  });
  EXPECT_EQ(results[0].exitCode, DPC_INVALID);
  EXPECT_EQ(results[2].exitCode, DPC_INVALID);
  EXPECT_NE(results[2].message.find("rank 2 runs another program"), std::string::npos)
      << results[2].message;
}

TEST(Rendezvous, AnotherWorldSizeIsNamed) {
  static const uint32_t ranks[] = {0, 1, 2};
  static const dpc_group_family_t family = {"world", 1, 3, ranks};
  static const uint64_t memory[] = {4096, 4096, 4096};
  auto results = meet(2, [](WorldOptions &world) {
    if (world.options.rank == 1)
      world.options.world_size = 3, world.options.families = &family,
      world.options.memory_bytes = memory;
  });
  EXPECT_EQ(results[0].exitCode, DPC_INVALID);
  EXPECT_NE(results[1].message.find("world size 3"), std::string::npos) << results[1].message;
}

TEST(Rendezvous, DuplicateRankIsRefused) {
  auto results = meet(3, [](WorldOptions &world) {
    if (world.options.rank == 2)
      world.options.rank = 1;
  });
  EXPECT_EQ(results[0].exitCode, DPC_INVALID);
  EXPECT_NE(results[0].message.find("rank 1 was started twice"), std::string::npos)
      << results[0].message;
}

TEST(Rendezvous, BadAddresses) {
  Fd fd;
  for (const char *address :
       {"", "http://x", "tcp://127.0.0.1", "tcp://127.0.0.1:0", "tcp://127.0.0.1:-1",
        "tcp://127.0.0.1:abc", "tcp://127.0.0.1:2147483647", "tcp://127.0.0.1:4294967295",
        "tcp://0.0.0.0:4000", "tcp://:4000", "tcp://10.0.0.1:4000", "file://", "file://relative"})
    EXPECT_EQ(listenAt(address, &fd), DPC_INVALID) << address << ": " << dpc_last_error();
}

TEST(Rendezvous, EndpointsOfManyForms) {
  Endpoint endpoint;
  ASSERT_EQ(parseEndpoint("tcp://node-7.cluster:29500", &endpoint), DPC_OK);
  EXPECT_EQ(endpoint.host, "node-7.cluster");
  EXPECT_EQ(endpoint.port, 29500);
  EXPECT_EQ(endpoint.lastPort, 29500);
  ASSERT_EQ(parseEndpoint("tcp://[fe80::1]:29501-29516", &endpoint), DPC_OK);
  EXPECT_EQ(endpoint.host, "fe80::1");
  EXPECT_EQ(endpoint.port, 29501);
  EXPECT_EQ(endpoint.lastPort, 29516);
  EXPECT_EQ(endpointText(endpoint.host, endpoint.port, endpoint.lastPort), endpoint.text);
  for (const char *bad :
       {"tcp://fe80::1:29500", "tcp://[node]:29500", "tcp://[::]:29500", "tcp://0.0.0.0:29500",
        "tcp://0:29500", "tcp://a:5-4", "tcp://a:5-", "tcp://a:5-70000", "tcp://[]:29500"})
    EXPECT_EQ(parseEndpoint(bad, &endpoint), DPC_INVALID) << bad;
}

TEST(Rendezvous, UnknownHostIsNamed) {
  Fd fd;
  EXPECT_EQ(connectTo("tcp://no-host.invalid:4000", monotonicSeconds(), &fd), DPC_PEER);
  EXPECT_NE(std::string(dpc_last_error()).find("\"no-host.invalid\""), std::string::npos)
      << dpc_last_error();
}

/// Lets ranks meet at `address`, where rank 0 has to listen itself.
void expectMeeting(const std::string &address) {
  for (const RankResult &result : meet(3, [&](WorldOptions &world) {
         world.options.listen_fd = -1;
         world.options.rendezvous = address.c_str();
       }))
    EXPECT_EQ(result.exitCode, 0) << address << ": " << result.message;
}

/// A port that was free a moment ago.
uint16_t freePort(const char *host) {
  Fd fd;
  uint16_t port = 0;
  return listenOn(host, &fd, &port) ? 0 : port;
}

TEST(Rendezvous, ByNameAndOverIpv6) {
  expectMeeting("tcp://localhost:" + std::to_string(freePort("127.0.0.1")));
  if (const uint16_t port = freePort("::1"))
    expectMeeting("tcp://[::1]:" + std::to_string(port));
}

// A launcher's own service may have the first port: ranks pass over a stranger that
// says something else, and find rank 0. A rank may come to the stranger several times before
// rank 0 listens. The stranger is a process, because ranks are forked: a thread of this process may
// hold a lock of the allocator at that moment, and the rank would wait for it forever.
TEST(Rendezvous, StrangersPortIsPassedOver) {
  Fd stranger;
  uint16_t port = 0;
  ASSERT_EQ(listenOn("127.0.0.1", &stranger, &port), DPC_OK);
  ASSERT_LT(port, 65530);
  const pid_t talker = fork();
  if (talker == 0) {
    alarm(60); // ends the process if the test fails
    const char text[100] = {'x'};
    for (;;) {
      const Fd client(accept(stranger.get(), nullptr, nullptr));
      sendAll(client.get(), text, sizeof text, monotonicSeconds() + 1);
    }
  }
  ASSERT_GT(talker, 0);
  expectMeeting(endpointText("127.0.0.1", port, port + 5u));
  kill(talker, SIGKILL);
  waitpid(talker, nullptr, 0);
}

// Ranks pass over a stranger that says nothing long before the time for joining ends.
TEST(Rendezvous, SilentStrangersPortIsPassedOver) {
  Fd stranger;
  uint16_t port = 0;
  ASSERT_EQ(listenOn("127.0.0.1", &stranger, &port), DPC_OK);
  ASSERT_LT(port, 65530);
  expectMeeting(endpointText("127.0.0.1", port, port + 5u));
}

TEST(Rendezvous, OpenDirectoryIsRefused) {
  TemporaryDirectory directory;
  chmod(directory.path.c_str(), 0755);
  Fd fd;
  EXPECT_EQ(listenAt("file://" + directory.path, &fd), DPC_INVALID);
  EXPECT_EQ(connectTo("file://" + directory.path, monotonicSeconds() + 1, &fd), DPC_INVALID);
}

TEST(Rendezvous, TokenDigits) {
  Digest token;
  EXPECT_TRUE(parseToken(kToken, &token));
  EXPECT_EQ(token[31], 0x1f);
  EXPECT_FALSE(parseToken("00", &token));
  EXPECT_FALSE(parseToken(nullptr, &token));
  std::string bad = kToken;
  bad[3] = 'g';
  EXPECT_FALSE(parseToken(bad.c_str(), &token));
}

} // namespace
