// Ranks that meet while strangers, or ranks that know the token and say something else than in a
// good run, talk to them.
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/comm/Connections.h"
#include "runtime/src/comm/Hosts.h"
#include "runtime/src/comm/Lobby.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/Mutator.h"

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

using namespace dpc;
using namespace dpc::test;

namespace {

const char *const kToken = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
/// Sizes of the messages of a handshake.
constexpr size_t kKnockBytes = 40, kChallengeBytes = 72, kHelloBytes = 96, kAnswerBytes = 208;

/// A rank of two that meets the other one.
struct Meeting {
  Meeting(uint32_t rank, const std::string &address, double seconds) : world(rank, 2, address, 64) {
    world.options.token = kToken;
    world.options.timeout_seconds = seconds;
  }

  RendezvousOptions handshake() {
    RendezvousOptions meet;
    EXPECT_EQ(rendezvousOptions(world.options, "sockets", &meet), DPC_OK);
    return meet;
  }

  /// Does what a rank does before it has a communicator. Returns the failure, or "".
  std::string run() {
    Lobby lobby;
    Hosts hosts;
    std::vector<Fd> sockets;
    const bool failed = lobby.open(world.options, "sockets") || findHosts(lobby, &hosts) ||
                        connectRanks(lobby, &sockets);
    return failed ? dpc_last_error() : "";
  }

  WorldOptions world;
};

/// A rank that meets in a thread.
class Victim {
public:
  Victim(uint32_t rank, const std::string &address, double seconds)
      : thread([this, rank, address, seconds] {
          failure = Meeting(rank, address, seconds).run();
          hasEnded = true;
        }) {}
  ~Victim() {
    if (thread.joinable())
      thread.join();
  }
  std::string join() {
    thread.join();
    return failure;
  }
  std::atomic<bool> hasEnded{false};

private:
  std::string failure;
  std::thread thread; // the last member, because it uses the others
};

/// What the two ranks of a good run send.
struct Recording {
  Messages up, down; ///< to rank 0, and to rank 1: two of the handshake, and those after it
};

Messages split(const std::string &bytes, const std::vector<size_t> &sizes) {
  Messages messages;
  size_t at = 0;
  for (const size_t size : sizes) {
    messages.push_back(bytes.substr(at, size));
    at += size;
  }
  messages.push_back(bytes.substr(at));
  return messages;
}

Recording record(const std::string &address) {
  Fd listener;
  uint16_t port = 0;
  EXPECT_EQ(listenOn("127.0.0.1", &listener, &port), DPC_OK);
  Victim server(0, address, 10), client(1, "tcp://127.0.0.1:" + std::to_string(port), 10);
  std::string heard[2];
  const Fd near(::accept(listener.get(), nullptr, nullptr));
  Fd far;
  EXPECT_EQ(connectTo(address, monotonicSeconds() + 5, &far), DPC_OK);
  pollfd ends[2] = {{near.get(), POLLIN, 0}, {far.get(), POLLIN, 0}};
  for (bool isOpen = true; isOpen && ::poll(ends, 2, 5000) > 0;)
    for (const int i : {0, 1}) {
      char bytes[4096];
      const ssize_t n = ends[i].revents ? ::recv(ends[i].fd, bytes, sizeof bytes, 0) : 0;
      isOpen = isOpen && (!ends[i].revents || n > 0);
      if (n > 0) {
        heard[i].append(bytes, static_cast<size_t>(n));
        sendAll(ends[1 - i].fd, bytes, static_cast<size_t>(n), monotonicSeconds() + 5);
      }
    }
  EXPECT_EQ(client.join(), "");
  EXPECT_EQ(server.join(), "");
  return {split(heard[0], {kKnockBytes, kHelloBytes, 48, 4}),
          split(heard[1], {kChallengeBytes, kAnswerBytes, 96, 8})};
}

/// Sends the bytes, ends the own stream, and returns how many bytes come back until the other
/// side hangs up.
size_t tell(const Fd &fd, const std::string &bytes) {
  sendAll(fd.get(), bytes.data(), bytes.size(), monotonicSeconds() + 5);
  ::shutdown(fd.get(), SHUT_WR);
  size_t heard = 0;
  for (pollfd entry = {fd.get(), POLLIN, 0}; ::poll(&entry, 1, 5000) > 0;) {
    char answer[4096];
    const ssize_t n = ::recv(fd.get(), answer, sizeof answer, 0);
    if (n <= 0)
      return heard;
    heard += static_cast<size_t>(n);
  }
  ADD_FAILURE() << "the connection stays open";
  return heard;
}

Messages handshakeOf(const Messages &messages) { return {messages.begin(), messages.begin() + 2}; }
Messages restOf(const Messages &messages) { return {messages.begin() + 2, messages.end()}; }

size_t openDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

class MeetingFuzz : public testing::Test {
protected:
  TemporaryDirectory directory;
  const std::string address = "file://" + directory.path + "/meeting";
  const Recording good = record(address);
  const uint64_t memory = peakMemory();
  void TearDown() override { EXPECT_LE(peakMemory(), memory + kMostGrowth); }
};

// Who replays or changes what a rank has said gets a challenge and no more, and ranks still meet.
TEST_F(MeetingFuzz, StrangersAreNotServed) {
  const Messages handshake = handshakeOf(good.up);
  const uint64_t servers = attackCount(2, 100);
  constexpr uint64_t kStrangers = 5000; // of each server, which waits 60 s for its rank
  for (uint64_t server = 0; server < servers && !HasFailure(); ++server) {
    Victim rank(0, address, 60);
    for (uint64_t seed = server * kStrangers; seed < (server + 1) * kStrangers; ++seed) {
      Fd fd;
      ASSERT_EQ(connectTo(address, monotonicSeconds() + 5, &fd), DPC_OK);
      // Seed 0 is the recorded handshake itself.
      ASSERT_LE(tell(fd, seed ? Mutator(seed).mutate(handshake) : joined(handshake)),
                kChallengeBytes)
          << "seed " << seed;
    }
    EXPECT_EQ(Meeting(1, address, 10).run(), "");
    EXPECT_EQ(rank.join(), "");
  }
}

// Clients that say nothing cannot fill the server: the oldest ones make room.
TEST_F(MeetingFuzz, SilentClientsMakeRoom) {
  constexpr size_t kClients = 1000;
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4 * kClients);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  Victim server(0, address, 60);
  std::deque<Fd> silent;
  size_t most = 0;
  for (size_t i = 0; i < kClients; ++i) {
    silent.emplace_back();
    ASSERT_EQ(connectTo(address, monotonicSeconds() + 5, &silent.back()), DPC_OK);
    most = std::max(most, openDescriptors() - silent.size());
  }
  EXPECT_EQ(Meeting(1, address, 10).run(), "");
  EXPECT_EQ(server.join(), "");
  EXPECT_LT(most, 400u);
}

// A rank leaves a server that answers what another server has said.
TEST_F(MeetingFuzz, OtherServersAreNotBelieved) {
  const uint64_t servers = attackCount(60, 100);
  for (uint64_t seed = 0; seed < servers; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Fd listener;
    ASSERT_EQ(listenAt(address, &listener), DPC_OK);
    const Messages handshake = handshakeOf(good.down);
    const std::string bytes = seed ? Mutator(seed).mutate(handshake) : joined(handshake);
    Victim client(1, address, 0.05);
    while (!client.hasEnded) {
      pollfd entry = {listener.get(), POLLIN, 0};
      if (::poll(&entry, 1, 10) > 0) {
        const Fd fd(::accept(listener.get(), nullptr, nullptr));
        sendAll(fd.get(), bytes.data(), bytes.size(), monotonicSeconds() + 1);
      }
    }
    expectOneLine(client.join());
    stopListening(address);
  }
}

// The other rank knows the token, and then sends records of another kind.
TEST_F(MeetingFuzz, OtherRecordsEndTheMeetingOfRankZero) {
  const uint64_t attacks = attackCount(500, 200);
  for (uint64_t seed = 0; seed < attacks && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Victim server(0, address, 10);
    Fd fd;
    ASSERT_EQ(joinRendezvous(Meeting(1, address, 10).handshake(), &fd), DPC_OK);
    tell(fd, seed ? Mutator(seed).mutate(restOf(good.up)) : joined(restOf(good.up)));
    const std::string failure = server.join();
    if (!failure.empty())
      expectOneLine(failure);
    EXPECT_TRUE(seed || failure.empty()) << failure;
  }
}

TEST_F(MeetingFuzz, OtherRecordsEndTheMeetingOfRankOne) {
  const uint64_t attacks = attackCount(500, 200);
  for (uint64_t seed = 0; seed < attacks && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Victim client(1, address, 10);
    std::vector<Fd> connections;
    ASSERT_EQ(serveRendezvous(Meeting(0, address, 10).handshake(), &connections), DPC_OK);
    tell(connections[1],
         seed ? Mutator(seed).mutate(restOf(good.down)) : joined(restOf(good.down)));
    const std::string failure = client.join();
    if (!failure.empty())
      expectOneLine(failure);
    EXPECT_TRUE(seed || failure.empty()) << failure;
  }
}

} // namespace
