// A rank whose peer sends other frames than those of a good run. The rank refuses them, or ends the
// run with one line, and writes nothing outside of its buffers.
#include "dpc/action.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/comm/sockets/Mesh.h"
#include "test/runtime/Mutator.h"

#include <array>
#include <deque>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>

using namespace dpc;
using namespace dpc::sockets;
using namespace dpc::test;

namespace {

/// How the data between two ranks moves.
enum class Way { socket, wire, memory };
constexpr Way kWays[] = {Way::socket, Way::wire, Way::memory};

constexpr uint64_t kCount = 600, kBytes = kCount * sizeof(float), kGuard = 64;

/// A wire that completes each move at once, in a thread of its own.
class QuickWire : public wires::Wire {
public:
  const char *name() const override { return "quick"; }
  dpc_status_t meet(const std::vector<Fd> &) override { return DPC_OK; }
  void attach(wires::WireListener &listener) override {
    thread = std::thread([this, &listener] {
      std::unique_lock<std::mutex> lock(mutex);
      for (;;) {
        changed.wait(lock, [this] { return isEnding || !tickets.empty(); });
        if (isEnding)
          return;
        const std::vector<uint64_t> done = std::move(tickets);
        tickets.clear();
        lock.unlock();
        listener.moved(done);
        lock.lock();
      }
    });
  }
  void send(uint32_t, uint64_t ticket, const char *, uint64_t) override { complete(ticket); }
  void receive(uint32_t, uint64_t ticket, char *to, uint64_t bytes) override {
    std::memset(to, 0, bytes);
    complete(ticket);
  }
  bool close(bool) override {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isEnding = true;
      changed.notify_all();
    }
    if (thread.joinable())
      thread.join();
    return true;
  }

private:
  void complete(uint64_t ticket) {
    std::lock_guard<std::mutex> lock(mutex);
    tickets.push_back(ticket);
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<uint64_t> tickets;
  bool isEnding = false;
  std::thread thread;
};

/// Memory that both ranks share.
class OneHost : public MeshHost {
public:
  bool shares(uint32_t) const override { return true; }
  uint64_t lend(const char *, uint64_t) const override { return 64; }
  const char *borrow(uint64_t place, uint64_t bytes) const override {
    return place <= memory.size() && bytes <= memory.size() - place ? memory.data() + place
                                                                    : nullptr;
  }
  void changed() override {}
  void failed() override {}

private:
  std::vector<char> memory = std::vector<char>(64 + 2 * kBytes);
};

/// One of two ranks, with its operations and their buffers.
class Rank {
public:
  Rank(uint32_t rank, Way way, Fd socket) : rank(rank) {
    dpc_comm_options_t options = {};
    options.rank = rank;
    options.world_size = 2;
    options.timeout_seconds = 20;
    std::vector<Fd> sockets(2);
    sockets[1 - rank] = std::move(socket);
    mesh.emplace(options, std::vector<Group>{{"world", 0, {0, 1}, rank}}, std::move(sockets),
                 way == Way::wire ? std::make_unique<QuickWire>() : nullptr,
                 way == Way::memory ? &host : nullptr);
  }

  void start() {
    for (const uint32_t op : {DPC_OP_ALL_REDUCE, DPC_OP_ALL_GATHER, DPC_OP_BROADCAST,
                              DPC_OP_REDUCE_SCATTER, DPC_OP_BARRIER})
      start(op, op == DPC_OP_BROADCAST ? 0 : DPC_NONE);
    for (const uint32_t sender : {0, 1})
      start(sender == rank ? DPC_OP_SEND : DPC_OP_RECV, 1 - rank);
  }

  /// The failure with which the run ended; "" if all operations are complete.
  std::string wait() {
    for (dpc_request_t request : requests)
      if (mesh->wait(request) != DPC_OK)
        return dpc_last_error();
    return "";
  }

  /// Waits until the thread has handled what it has read.
  void settle() { mesh->check(); }
  void leave() { mesh.reset(); }

  /// Whether nothing was written behind the buffers.
  bool isWhole() const {
    return std::all_of(blocks.begin(), blocks.end(), [](const std::vector<char> &block) {
      return std::all_of(block.end() - kGuard, block.end(), [](char c) { return c == 'g'; });
    });
  }

  float sumOf(uint64_t i) const {
    return reinterpret_cast<const float *>(
        blocks[1].data())[i]; // the output of the first operation
  }

private:
  char *block(float value) {
    blocks.emplace_back(2 * kBytes + kGuard, 'g');
    auto *elements = reinterpret_cast<float *>(blocks.back().data());
    std::fill(elements, elements + 2 * kCount, value);
    return blocks.back().data();
  }

  void start(uint32_t kind, uint32_t peer) {
    dpc_comm_op_t op = {};
    op.op = kind;
    op.dtype = DPC_F32;
    op.reduction = DPC_SUM;
    op.peer = peer;
    op.count = kind == DPC_OP_BARRIER ? 0 : kCount;
    op.buffer_id = requests.size();
    op.in = block(static_cast<float>(rank + 1));
    op.out = block(0);
    dpc_request_t request = 0;
    if (mesh->start(op, &request) == DPC_OK)
      requests.push_back(request);
  }

  uint32_t rank;
  OneHost host;
  std::deque<std::vector<char>> blocks;
  std::vector<dpc_request_t> requests;
  std::optional<Mesh> mesh;
};

std::pair<Fd, Fd> socketPair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

/// The order in which a peer could send frames to a rank that has started all operations.
auto orderOf(const std::string &message) {
  Frame frame;
  std::memcpy(&frame, message.data(), sizeof frame);
  const bool isStart = frame.kind == FrameKind::start, isLast = frame.kind == FrameKind::leave;
  return std::make_tuple(isStart  ? 0
                         : isLast ? 99
                                  : frame.phase + 1,
                         frame.kind, frame.channel, frame.sequence, frame.offset);
}

/// The frames that rank `rank` sends in a good run. Their order does not depend on threads.
Messages record(uint32_t rank, Way way) {
  auto [ownNear, ownFar] = socketPair();
  auto [peerNear, peerFar] = socketPair();
  std::string heard;
  std::thread relay([&heard, own = ownFar.get(), peer = peerFar.get()] {
    pollfd ends[2] = {{own, POLLIN, 0}, {peer, POLLIN, 0}};
    for (int open = 2; open > 0 && ::poll(ends, 2, 5000) > 0;)
      for (pollfd &end : ends) {
        char bytes[4096];
        const ssize_t n = end.revents ? ::recv(end.fd, bytes, sizeof bytes, 0) : 0;
        const int to = end.fd == own ? peer : own;
        if (end.revents && n <= 0) {
          ::shutdown(to, SHUT_WR);
          end.fd = -1, --open;
        } else if (n > 0) {
          if (end.fd == own)
            heard.append(bytes, static_cast<size_t>(n));
          sendAll(to, bytes, static_cast<size_t>(n), monotonicSeconds() + 5);
        }
      }
  });
  Rank recorded(rank, way, std::move(ownNear)), other(1 - rank, way, std::move(peerNear));
  recorded.start();
  other.start();
  EXPECT_EQ(recorded.wait(), "");
  EXPECT_EQ(other.wait(), "");
  std::thread leaving([&] { other.leave(); });
  recorded.leave();
  leaving.join();
  relay.join();
  Messages messages;
  for (size_t at = 0; at + sizeof(Frame) <= heard.size();) {
    Frame frame;
    std::memcpy(&frame, heard.data() + at, sizeof frame);
    // Heartbeats depend on the clock, and `farewell` answers what an attacked rank says later.
    if (frame.kind != FrameKind::beat && frame.kind != FrameKind::farewell)
      messages.push_back(heard.substr(at, sizeof frame + frame.bytes));
    at += sizeof frame + frame.bytes;
  }
  std::stable_sort(
      messages.begin(), messages.end(),
      [](const std::string &a, const std::string &b) { return orderOf(a) < orderOf(b); });
  return messages;
}

/// Sends the bytes to a rank that has started all operations. Returns how its run ended.
std::string attack(Rank &rank, const Fd &peer, const std::string &bytes) {
  rank.start();
  sendAll(peer.get(), bytes.data(), bytes.size(), monotonicSeconds() + 1);
  // The rank reads all of it before the peer hangs up, or hangs up itself.
  pollfd end = {peer.get(), POLLHUP, 0};
  for (int unread = 1; unread > 0 && ::poll(&end, 1, 0) >= 0 && !(end.revents & POLLHUP);) {
    ::sched_yield();
    ::ioctl(peer.get(), SIOCOUTQ, &unread);
  }
  rank.settle();
  ::shutdown(peer.get(), SHUT_WR);
  const std::string failure = rank.wait();
  rank.leave();
  return failure;
}

TEST(MeshFuzz, TheRecordedFramesAreAGoodRun) {
  for (const Way way : kWays)
    for (const uint32_t rank : {0, 1}) {
      SCOPED_TRACE("way " + std::to_string(int(way)) + ", rank " + std::to_string(rank));
      auto [near, far] = socketPair();
      Rank own(rank, way, std::move(near));
      const Messages good = record(1 - rank, way);
      EXPECT_GE(good.size(), 12u);
      EXPECT_EQ(attack(own, far, joined(good)), "");
      EXPECT_TRUE(own.isWhole());
      for (uint64_t i = 0; way == Way::socket && i < kCount; ++i)
        ASSERT_EQ(own.sumOf(i), 3) << i;
    }
}

Frame startOf(uint32_t channel, uint64_t sequence) {
  Frame frame = frameOf(FrameKind::start);
  frame.channel = channel;
  frame.sequence = sequence;
  frame.said = {DPC_OP_ALL_REDUCE, DPC_F32, DPC_SUM, 0, DPC_NONE, kCount, 0};
  return frame;
}

std::string bytesOf(const Frame &frame, const std::string &payload = {}) {
  Frame whole = frame;
  whole.bytes = static_cast<uint32_t>(payload.size());
  return std::string(reinterpret_cast<const char *>(&whole), sizeof whole) + payload;
}

/// Rank 1 sends the start of the first operation, and then `bytes`.
void expectRefused(const char *what, Way way, const std::string &bytes, uint32_t victim = 0) {
  auto [near, far] = socketPair();
  Rank own(victim, way, std::move(near));
  EXPECT_EQ(attack(own, far, bytesOf(startOf(0, 0)) + bytes),
            "rank " + std::to_string(1 - victim) + " has sent what is no part of the run")
      << what;
}

// What would count data twice, skip operations, or silence a rank that should print the failure.
TEST(MeshFuzz, FramesOfAnotherPlaceOrWayAreRefused) {
  Frame frame = frameOf(FrameKind::data);
  expectRefused("data of no bytes", Way::socket, bytesOf(frame));
  expectRefused("data beside the wire", Way::wire, bytesOf(frame, "abcd"));
  expectRefused("data beside the memory", Way::memory, bytesOf(frame, "abcd"));
  frame.kind = FrameKind::offer;
  expectRefused("an offer of nothing", Way::wire, bytesOf(frame));
  frame.length = 4;
  expectRefused("an offer without a wire", Way::socket, bytesOf(frame));
  frame.kind = FrameKind::taken;
  frame.phase = 1; // only phase 0 has begun
  expectRefused("data taken that was not lent", Way::memory, bytesOf(frame));
  expectRefused("a start before its turn", Way::socket, bytesOf(startOf(0, 2)));
  expectRefused("a start again", Way::socket, bytesOf(startOf(0, 0)));
  frame = frameOf(FrameKind::farewell);
  expectRefused("an answer that nobody asked for", Way::socket, bytesOf(frame));
  frame = frameOf(FrameKind::report);
  frame.guilty = 1;
  expectRefused("a report without a text", Way::socket, bytesOf(frame));
  frame.guilty = 0;
  frame.selfReported = 1;
  expectRefused("a report of what another rank has printed", Way::socket, bytesOf(frame, "x"));
  frame.kind = FrameKind::verdict;
  expectRefused("a verdict that this rank must have printed", Way::socket, bytesOf(frame, "x"));
}

TEST(MeshFuzz, AMessageOfAPeerIsOneLine) {
  auto [near, far] = socketPair();
  Rank own(0, Way::socket, std::move(near));
  Frame frame = frameOf(FrameKind::report);
  frame.guilty = 1;
  EXPECT_EQ(attack(own, far, bytesOf(frame, "rank 1:\n\x1b[2Jgone")), "rank 1:  [2Jgone");
}

// Memory does not grow with what a peer sends.
TEST(MeshFuzz, FloodsAreRefused) {
  const uint64_t memory = peakMemory();
  for (const FrameKind kind : {FrameKind::start, FrameKind::leave}) {
    auto [near, far] = socketPair();
    Rank own(0, Way::socket, std::move(near));
    bool isOpen = true;
    for (uint64_t sequence = 0; isOpen && sequence < 1000000; ++sequence) {
      Frame frame = startOf(0, sequence);
      frame.kind = kind;
      isOpen = sendAll(far.get(), &frame, sizeof frame, monotonicSeconds() + 5);
    }
    EXPECT_FALSE(isOpen) << "frames of kind " << int(kind);
    own.leave();
  }
  EXPECT_LE(peakMemory(), memory + kMostGrowth);
}

// The heartbeats for a peer that reads nothing do not pile up.
TEST(MeshFuzz, HeartbeatsAreNotKept) {
  auto [near, far] = socketPair();
  const int least = 1;
  ::setsockopt(near.get(), SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
  uint64_t held = 0; // frames that the socket itself holds
  const Frame beat = frameOf(FrameKind::beat);
  while (::send(near.get(), &beat, sizeof beat, MSG_DONTWAIT) == sizeof beat)
    ++held;
  Rank own(0, Way::socket, std::move(near));
  ::usleep(2000000);
  Frame frame;
  uint64_t kept = 0;
  while (::poll(std::array<pollfd, 1>{{{far.get(), POLLIN, 0}}}.data(), 1, 50) > 0 &&
         receiveAll(far.get(), &frame, sizeof frame, monotonicSeconds() + 1))
    ++kept;
  EXPECT_LE(kept, held + 4);
  far = Fd(); // it would answer no farewell
  own.leave();
}

TEST(MeshFuzz, OtherFramesEndTheRunWithOneLine) {
  const uint64_t memory = peakMemory();
  for (const Way way : kWays)
    for (const uint32_t rank : {0, 1}) {
      Messages good = record(1 - rank, way);
      // Frames that a good run of this kind need not have.
      good.insert(good.begin() + 3, bytesOf(frameOf(FrameKind::beat)));
      good.insert(good.end() - 1, bytesOf(frameOf(FrameKind::report), "rank 1 failed:\nbecause"));
      good.insert(good.end() - 1, bytesOf(frameOf(FrameKind::verdict), "rank 1 failed:\tbecause"));
      uint64_t failures = 0;
      const uint64_t attacks = attackCount(400, 1000);
      for (uint64_t seed = 1; seed <= attacks; ++seed) {
        SCOPED_TRACE("way " + std::to_string(int(way)) + ", rank " + std::to_string(rank) +
                     ", seed " + std::to_string(seed));
        auto [near, far] = socketPair();
        Rank own(rank, way, std::move(near));
        const double begin = monotonicSeconds();
        const std::string failure = attack(own, far, Mutator(seed).mutate(good));
        EXPECT_LT(monotonicSeconds() - begin, 10);
        EXPECT_TRUE(own.isWhole());
        if (!failure.empty())
          expectOneLine(failure), ++failures;
        if (testing::Test::HasFailure())
          return;
      }
      EXPECT_GT(failures, attacks / 2);
    }
  EXPECT_LE(peakMemory(), memory + kMostGrowth);
}

} // namespace
