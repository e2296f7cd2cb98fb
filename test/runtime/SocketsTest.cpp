// What the sockets transport refuses, from users and from peers.
#include "runtime/src/base/Sockets.h"
#include "dpc/action.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/comm/Connections.h"
#include "runtime/src/comm/sockets/Connection.h"
#include "test/runtime/EveryTransport.h"

#include <sys/socket.h>

using namespace dpc;
using namespace dpc::sockets;
using namespace dpc::test;

namespace {

TEST(Sockets, EmulateNoLink) {
  WorldOptions world(0, 1, "", 64);
  world.options.bandwidth = 1e9;
  dpc_comm_t *comm = nullptr;
  EXPECT_EQ(dpc_comm_create("sockets", &world.options, &comm), DPC_USAGE);
  EXPECT_NE(std::string(dpc_last_error()).find("bandwidth"), std::string::npos);
}

constexpr uint64_t kCount = 1000;

/// Rank 0 all-reduces with a rank 1 that starts the same and then sends `frame`
/// with `payload` bytes after it.
void expectRefused(const char *what, Frame frame, uint32_t payload) {
  TemporaryDirectory directory;
  frame.bytes = payload;
  auto results = forkRanks(2, [&](uint32_t rank, RankReport &report) {
    WorldOptions world(rank, 2, "file://" + directory.path, 1 << 20);
    if (rank == 1) {
      Lobby lobby;
      std::vector<Fd> connections;
      if (int code = lobby.open(world.options, "sockets"))
        return code;
      if (int code = connectRanks(lobby, &connections))
        return code;
      const int fd = connections[0].get();
      Frame start = frameOf(FrameKind::start);
      start.said = {DPC_OP_ALL_REDUCE, DPC_F32, DPC_SUM, 0, 0, kCount, 3};
      const std::string bytes(payload, 'x');
      const double deadline = monotonicSeconds() + 5;
      sendAll(fd, &start, sizeof start, deadline);
      Frame heard; // what comes before rank 0's start is refused anyway
      do {
        if (!receiveAll(fd, &heard, sizeof heard, deadline))
          return 8;
      } while (heard.kind != FrameKind::start);
      sendAll(fd, &frame, sizeof frame, deadline);
      sendAll(fd, bytes.data(), bytes.size(), deadline);
      char end[4096]; // rank 0 hangs up
      while (recv(fd, end, sizeof end, 0) > 0)
        continue;
      return 0;
    }
    dpc_comm_t *comm = nullptr;
    int code = dpc_comm_create("sockets", &world.options, &comm);
    if (code == 0) {
      float *x = allocate<float>(comm, kCount * 4);
      const dpc_comm_op_t op = {DPC_OP_ALL_REDUCE, 0,      0, DPC_F32, DPC_SUM,
                                DPC_NONE,          kCount, 3, x,       x};
      code = dpc_comm_run(comm, &op);
    }
    std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
    dpc_comm_release(comm);
    return code;
  });
  EXPECT_EQ(results[0].exitCode, DPC_PEER) << what;
  EXPECT_EQ(results[0].message, "rank 1 has sent what is no part of the run") << what;
}

// Nothing that a peer sends is written outside of the buffers that it belongs
// to.
TEST(Sockets, SenselessFramesAreRefused) {
  const Frame data = frameOf(FrameKind::data);
  Frame frame = data;
  expectRefused("data past the shard", frame, kCount / 2 * 4 + 1);
  frame.offset = 4;
  expectRefused("data out of order", frame, 4);
  frame = data, frame.phase = 2;
  expectRefused("data of no phase", frame, 4);
  frame = data, frame.sequence = 1;
  expectRefused("data of no operation", frame, 4);
  frame = data, frame.channel = 9;
  expectRefused("data of no channel", frame, 4);
  frame = data, frame.kind = FrameKind::start;
  expectRefused("a start with a payload", frame, 4);
  expectRefused("a second start", frame, 0);
  frame.channel = 9;
  expectRefused("a start in no channel", frame, 0);
  frame = data, frame.kind = FrameKind::report, frame.guilty = 2;
  expectRefused("a report of no rank", frame, 4);
  frame.guilty = 1;
  expectRefused("a report without end", frame, 4096);
  frame.kind = FrameKind::verdict, frame.guilty = 2;
  expectRefused("a verdict on no rank", frame, 4);
  frame = data, frame.kind = FrameKind::beat, frame.waitsFor = 2;
  expectRefused("a wait for no rank", frame, 0);
  frame = data, frame.kind = FrameKind(99);
  expectRefused("a frame of no kind", frame, 0);
}

// A rank that leaves is there until the others know: a connection that ends
// before would look like its death.
TEST(Sockets, LeavingIsHeard) {
  TemporaryDirectory directory;
  auto results = forkRanks(
      2,
      [&](uint32_t rank, RankReport &) {
        WorldOptions world(rank, 2, "file://" + directory.path, 64);
        dpc_comm_t *comm = nullptr;
        if (int code = dpc_comm_create("sockets", &world.options, &comm))
          return code;
        if (int code = dpc_comm_barrier(comm))
          return code;
        if (rank == 1)
          raise(SIGSTOP);
        else
          usleep(200000); // until it stands still
        const double begin = monotonicSeconds();
        dpc_comm_release(comm);
        return rank == 1 || monotonicSeconds() - begin > 0.5 ? 0 : 9;
      },
      [](const std::vector<pid_t> &pids) {
        int status = 0;
        waitpid(pids[1], &status, WUNTRACED);
        sleep(1);
        kill(pids[1], SIGCONT);
      });
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 0);
}

// A rank that dies while all leave is told by the lowest rank that is left, once.
TEST(Sockets, DeathInLeavingIsTold) {
  TemporaryDirectory directory;
  auto results = forkRanks(4, [&](uint32_t rank, RankReport &report) {
    WorldOptions world(rank, 4, "file://" + directory.path, 64);
    dpc_comm_t *comm = nullptr;
    if (int code = dpc_comm_create("sockets", &world.options, &comm))
      return code;
    if (int code = dpc_comm_barrier(comm))
      return code;
    usleep(rank == 2 ? 200000 : 400000); // all have the barrier's result when the rank dies
    if (rank == 2)
      raise(SIGKILL);
    const int code = dpc_comm_release(comm);
    std::snprintf(report.message, sizeof report.message, "%s", code ? dpc_last_error() : "");
    return code;
  });
  EXPECT_EQ(results[0].exitCode, DPC_PEER);
  EXPECT_EQ(results[0].message.rfind("rank 2 died", 0), 0u) << results[0].message;
  EXPECT_EQ(results[1].exitCode, 0) << results[1].message;
  EXPECT_EQ(results[3].exitCode, 0) << results[3].message;
}

} // namespace
