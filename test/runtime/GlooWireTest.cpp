// The wire through Gloo: messages of all sizes in both directions, and connections that break. The
// suites of all transports run over it too.
#include "runtime/src/comm/gloo/GlooWire.h"
#include "dpc/action.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Connections.h"
#include "test/runtime/EveryTransport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <sys/socket.h>

using namespace dpc;
using namespace dpc::test;

namespace {

/// Notes what a wire tells.
class Notes : public wires::WireListener {
public:
  void moved(const std::vector<uint64_t> &tickets) override {
    std::lock_guard<std::mutex> lock(mutex);
    done.insert(done.end(), tickets.begin(), tickets.end());
    changed.notify_all();
  }
  void broke(const std::string &reason) override {
    std::lock_guard<std::mutex> lock(mutex);
    broken = reason;
    changed.notify_all();
  }
  /// Waits for a move. False if the wire breaks, or after 40 seconds.
  bool waitFor(uint64_t ticket) {
    std::unique_lock<std::mutex> lock(mutex);
    const auto is = [&] { return std::find(done.begin(), done.end(), ticket) != done.end(); };
    changed.wait_for(lock, std::chrono::seconds(40), [&] { return !broken.empty() || is(); });
    return is();
  }
  std::string waitUntilBroken() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(40), [&] { return !broken.empty(); });
    return broken;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<uint64_t> done;
  std::string broken;
};

/// One rank of a test.
struct End {
  uint32_t rank;
  Notes notes; // the wire uses it until it ends
  gloo::GlooWire wire;
  RankReport *report;

  int fails(const std::string &text) const {
    std::snprintf(report->message, sizeof report->message, "%s", text.c_str());
    return 9;
  }
};

/// What the ranks of a test tell each other.
struct Shared {
  std::atomic<int> stage;
  void reach(int value) { stage = value; }
  void waitFor(int value) const {
    while (stage < value)
      usleep(1000);
  }
};

class GlooWire : public testing::Test {
protected:
  void SetUp() override {
    if (!provideGloo())
      GTEST_SKIP() << "libdpc_gloo.so is not built: libgloo-dev is not installed";
    shared = static_cast<Shared *>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }

  /// Runs `body` on ranks whose wires have met. `listen` is the address that rank 1 names.
  std::vector<RankResult>
  run(uint32_t ranks, const std::function<int(End &)> &body, const char *listen = nullptr,
      const std::function<void(const std::vector<pid_t> &)> &meanwhile = {}) {
    const TemporaryDirectory directory;
    return forkRanks(
        ranks,
        [&](uint32_t rank, RankReport &report) -> int {
          WorldOptions world(rank, ranks, "file://" + directory.path, 0);
          End end;
          end.rank = rank, end.report = &report;
          Lobby lobby;
          std::vector<Fd> sockets;
          dpc_status_t status = lobby.open(world.options, "test");
          if (status == DPC_OK)
            status = connectRanks(lobby, &sockets);
          world.options.listen = rank == 1 ? listen : nullptr;
          if (status == DPC_OK)
            status = end.wire.open(world.options);
          if (status == DPC_OK)
            status = end.wire.meet(sockets);
          if (status != DPC_OK) {
            end.fails(dpc_last_error());
            return status;
          }
          return body(end);
        },
        meanwhile);
  }

  static void expectSuccess(const std::vector<RankResult> &results) {
    for (const RankResult &result : results)
      EXPECT_EQ(result.exitCode, 0) << result.message;
  }

  Shared *shared = nullptr;
};

/// The bytes of a message.
std::vector<char> content(uint32_t from, uint64_t message, uint64_t bytes) {
  std::vector<char> out(bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    out[i] = static_cast<char>(i * 31 + from * 7 + message);
  return out;
}

/// Both ranks send and receive many messages at once; nobody waits for one before the last one is
/// posted.
TEST_F(GlooWire, MovesMessagesOfAllSizesInBothDirections) {
  expectSuccess(run(2, [](End &end) {
    const uint32_t peer = 1 - end.rank;
    std::vector<uint64_t> sizes = {0, 1, 4096, 0, 64u << 20, 3, 0};
    for (uint64_t i = 0; i < 100; ++i)
      sizes.push_back(i * 1001);
    std::vector<std::vector<char>> sent, received;
    for (uint64_t i = 0; i < sizes.size(); ++i) {
      sent.push_back(content(end.rank, i, sizes[i]));
      received.emplace_back(sizes[i]);
    }
    end.wire.attach(end.notes);
    for (uint64_t i = 0; i < sizes.size(); ++i) {
      end.wire.send(peer, 1000 + i, sent[i].data(), sizes[i]);
      end.wire.receive(peer, 2000 + i, received[i].data(), sizes[i]);
    }
    for (uint64_t i = 0; i < sizes.size(); ++i)
      if (!end.notes.waitFor(1000 + i) || !end.notes.waitFor(2000 + i) ||
          received[i] != content(peer, i, sizes[i]))
        return end.fails("message " + std::to_string(i));
    return end.wire.close(/*isClean=*/true) ? 0 : 8;
  }));
}

/// Messages that are posted while an earlier one of the same pair waits.
TEST_F(GlooWire, MovesMessagesWhileAnotherWaits) {
  expectSuccess(run(2, [](End &end) {
    const uint32_t peer = 1 - end.rank;
    char first = 0, late[3] = {};
    end.wire.attach(end.notes);
    if (end.rank == 0) {
      end.wire.receive(peer, 1, &first, 1);
      usleep(300000); // the wire waits for it
      end.wire.receive(peer, 2, late, sizeof late);
      end.wire.send(peer, 3, "x", 1); // rank 1 sends only now
      if (!end.notes.waitFor(1) || !end.notes.waitFor(2) || first != 'a' || late[2] != 'd')
        return end.fails("other bytes");
    } else {
      end.wire.receive(peer, 1, &first, 1);
      if (!end.notes.waitFor(1))
        return end.fails("no message");
      end.wire.send(peer, 2, "a", 1);
      end.wire.send(peer, 3, "bcd", 3);
    }
    return end.notes.waitFor(3) && end.wire.close(true) ? 0 : 8;
  }));
}

/// Rank 1 sends only when rank 0 has told it that the message of rank 2 is there, which was posted
/// later.
TEST_F(GlooWire, CompletesPairsIndependently) {
  expectSuccess(run(3, [](End &end) {
    char byte[2] = {};
    end.wire.attach(end.notes);
    if (end.rank == 0) {
      end.wire.receive(1, 1, &byte[0], 1);
      end.wire.receive(2, 2, &byte[1], 1);
      if (!end.notes.waitFor(2))
        return end.fails("the message of rank 2 does not come");
      end.wire.send(1, 3, "g", 1);
      if (!end.notes.waitFor(1) || !end.notes.waitFor(3) || byte[0] != 'p' || byte[1] != 'q')
        return end.fails("other bytes");
    } else if (end.rank == 1) {
      end.wire.receive(0, 1, &byte[0], 1);
      if (!end.notes.waitFor(1))
        return end.fails("no message");
      end.wire.send(0, 2, "p", 1);
      if (!end.notes.waitFor(2))
        return end.fails("not sent");
    } else {
      end.wire.send(0, 1, "q", 1);
      if (!end.notes.waitFor(1))
        return end.fails("not sent");
    }
    return end.wire.close(true) ? 0 : 8;
  }));
}

/// A wire that has met the others, and connects with nobody, because the other rank is no more.
TEST_F(GlooWire, EndsIfAPeerDiesWhileConnecting) {
  for (const uint32_t victim : {0u, 1u}) {
    shared->reach(0);
    const auto results = run(
        2,
        [&](End &end) -> int {
          char byte = 0;
          if (end.rank == victim) {
            shared->reach(1);
            _exit(0);
          }
          shared->waitFor(1);
          end.wire.attach(end.notes);
          end.wire.receive(victim, 1, &byte, 1);
          usleep(200000); // in Gloo's connect, which would wait for a minute
          return end.wire.close(false) ? 0 : 8;
        },
        "127.0.0.2"); // Gloo lets rank 1 connect, and rank 0 wait, by their addresses
    EXPECT_EQ(results[1 - victim].exitCode, 0) << results[1 - victim].message;
    EXPECT_LT(results[1 - victim].seconds, 20);
  }
}

/// A rank that needs no messages leaves before the others are connected.
TEST_F(GlooWire, LeavesWithoutMessages) {
  expectSuccess(run(3, [](End &end) {
    char byte = 0;
    if (end.rank != 0)
      usleep(200000);
    end.wire.attach(end.notes);
    if (end.rank == 1) {
      end.wire.send(2, 1, "z", 1);
    } else if (end.rank == 2) {
      end.wire.receive(1, 1, &byte, 1);
    }
    if (end.rank != 0 && !end.notes.waitFor(1))
      return end.fails("not moved: " + end.notes.waitUntilBroken());
    return end.wire.close(true) ? 0 : 8;
  }));
}

/// The other rank closes its wire, and this one waits for a message of it.
TEST_F(GlooWire, NoticesAClosedConnection) {
  const auto results = run(2, [&](End &end) -> int {
    char bytes[2] = {};
    end.wire.attach(end.notes);
    if (end.rank == 1) {
      end.wire.send(0, 1, "a", 1);
      end.notes.waitFor(1);
      end.wire.close(false);
      return 0;
    }
    end.wire.receive(1, 1, &bytes[0], 1);
    end.wire.receive(1, 2, &bytes[1], 1);
    const std::string reason = end.notes.waitUntilBroken();
    end.wire.close(false);
    return reason.rfind("Gloo's connection with rank 1: ", 0) == 0 &&
                   reason.find('\n') == std::string::npos
               ? 0
               : end.fails("says \"" + reason + "\"");
  });
  expectSuccess(results);
}

/// The connection breaks when a part of a long message is there. Gloo itself tells nobody.
TEST_F(GlooWire, NoticesAConnectionThatBreaksWithinAMessage) {
  constexpr uint64_t kLong = 64u << 20;
  const auto results = run(
      2,
      [&](End &end) -> int {
        std::vector<char> bytes(kLong);
        char first = 0;
        if (end.rank == 1) {
          end.wire.attach(end.notes);
          end.wire.send(0, 1, "a", 1);
          shared->waitFor(2); // rank 0 is stopped, so no more than its buffers is sent
          end.wire.send(0, 2, bytes.data(), kLong);
          usleep(500000);
          _exit(0);
        }
        // Both are posted before the first one is complete.
        end.wire.receive(1, 1, &first, 1);
        end.wire.receive(1, 2, bytes.data(), kLong);
        end.wire.attach(end.notes);
        if (!end.notes.waitFor(1))
          return end.fails("no message");
        shared->reach(1);
        raise(SIGSTOP);
        const std::string reason = end.notes.waitUntilBroken();
        end.wire.close(false);
        return reason.rfind("Gloo's connection with rank 1: ", 0) == 0
                   ? 0
                   : end.fails("says \"" + reason + "\"");
      },
      nullptr,
      [&](const std::vector<pid_t> &pids) {
        shared->waitFor(1);
        int status = 0;
        ::waitpid(pids[0], &status, WUNTRACED);
        shared->reach(2);
        while (!hasEnded(pids[1]))
          usleep(1000);
        ::kill(pids[0], SIGCONT);
      });
  expectSuccess(results);
}

/// A rank that cannot listen says why, and the others name it.
TEST_F(GlooWire, SaysWhereItCannotListen) {
  const auto results = run(3, [](End &) { return 7; }, "10.9.9.9");
  EXPECT_EQ(results[1].exitCode, DPC_IO);
  EXPECT_EQ(results[1].message.rfind("--comm=gloo: cannot listen on 10.9.9.9", 0), 0u)
      << results[1].message;
  for (const uint32_t other : {0u, 2u}) {
    EXPECT_EQ(results[other].exitCode, DPC_PEER);
    EXPECT_EQ(results[other].message.rfind("rank 1 failed: --comm=gloo: cannot listen on ", 0), 0u)
        << results[other].message;
  }
  // Gloo would end the process.
  const RankResult unknown = run(2, [](End &) { return 7; }, "no.such.host.invalid")[1];
  EXPECT_LT(unknown.exitCode, 128);
  EXPECT_NE(unknown.message.find("no.such.host.invalid"), std::string::npos) << unknown.message;
}

/// Gloo gets a number even if the user gives a name.
TEST_F(GlooWire, ListensAtAName) {
  expectSuccess(run(
      2,
      [](End &end) {
        char byte = 0;
        end.wire.attach(end.notes);
        end.wire.send(1 - end.rank, 1, "n", 1);
        end.wire.receive(1 - end.rank, 2, &byte, 1);
        const bool moved = end.notes.waitFor(1) && end.notes.waitFor(2) && byte == 'n';
        return end.wire.close(true) && moved ? 0 : 8;
      },
      "localhost"));
}

/// Ends the connections of this process over TCP. If two ranks met in a directory, they are Gloo's.
void shutTcpConnections() {
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_storage name = {};
    socklen_t length = sizeof name;
    if (::getsockname(fd, reinterpret_cast<sockaddr *>(&name), &length) == 0 &&
        name.ss_family == AF_INET)
      ::shutdown(fd, SHUT_RDWR);
  }
}

/// Gloo notices the end of a rank before the sockets of the run do, which know that it died.
TEST_F(GlooWire, NamesTheRankThatDiedAndNotItsConnection) {
  for (const bool dies : {true, false}) {
    const TemporaryDirectory directory;
    const auto results = forkRanks(2, [&](uint32_t rank, RankReport &report) -> int {
      WorldOptions world(rank, 2, "file://" + directory.path, 4096);
      dpc_comm_t *comm = nullptr;
      dpc_status_t status = dpc_comm_create("gloo", &world.options, &comm);
      auto *x = status ? nullptr : allocate<float>(comm, 4096);
      const dpc_comm_op_t add = {DPC_OP_ALL_REDUCE, 0, 0, DPC_F32, DPC_SUM, DPC_NONE, 9, 1, x, x};
      for (int i = 0; status == DPC_OK; ++i) {
        if (i == 5 && rank == 1) {
          shutTcpConnections();
          dpc_request_t request = 0;
          comm->vtable->start(comm, &add, &request); // so that rank 0 uses Gloo
          usleep(50000);
          if (dies)
            raise(SIGKILL);
        }
        status = dpc_comm_run(comm, &add);
      }
      std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
      dpc_comm_release(comm);
      return status;
    });
    EXPECT_EQ(results[0].exitCode, DPC_PEER);
    const std::string &says = results[0].message;
    EXPECT_EQ(says.rfind(dies ? "rank 1 died" : "rank ", 0), 0u) << says;
    EXPECT_EQ(says.find(" cannot communicate: Gloo's connection with rank ") == std::string::npos,
              dies)
        << says;
  }
}

} // namespace
