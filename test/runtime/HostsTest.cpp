// Ranks find out which of them share a host, and choose a transport by that. A rank without /proc
// stands for a rank on another host: it can open nobody's memory.
#include "runtime/src/comm/Hosts.h"
#include "runtime/src/base/Status.h"
#include "test/runtime/EveryTransport.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

using namespace dpc;
using namespace dpc::test;

namespace {

/// Hides the processes of this machine from this one. False if the system does not allow it.
bool hideProcesses() {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return false;
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", "/proc", "tmpfs", 0, nullptr) == 0;
}

bool canHideProcesses() {
  return forkRanks(1, [](uint32_t, RankReport &) { return hideProcesses() ? 0 : 1; })[0].exitCode ==
         0;
}

/// Runs `body` on ranks that meet in a directory. Those of `hidden` see no processes.
std::vector<RankResult> onHosts(uint32_t ranks, const std::vector<uint32_t> &hidden,
                                const std::function<int(WorldOptions &, RankReport &)> &body) {
  const TemporaryDirectory directory;
  return forkRanks(ranks, [&](uint32_t rank, RankReport &report) {
    if (std::count(hidden.begin(), hidden.end(), rank) && !hideProcesses())
      return 9;
    WorldOptions world(rank, ranks, "file://" + directory.path, 4096);
    world.options.timeout_seconds = 5;
    return body(world, report);
  });
}

std::string textOf(const uint32_t *hosts, uint32_t count) {
  std::string text;
  for (uint32_t r = 0; r < count; ++r)
    text += (r ? " " : "") + std::to_string(hosts[r]);
  return text;
}

void expectHosts(const std::vector<uint32_t> &hidden, const std::string &expected) {
  for (const RankResult &result :
       onHosts(4, hidden, [](WorldOptions &world, RankReport &report) -> int {
         Lobby lobby;
         Hosts hosts;
         if (dpc_status_t status = lobby.open(world.options, "any"))
           return status;
         if (dpc_status_t status = findHosts(lobby, &hosts))
           return status;
         std::snprintf(report.message, sizeof report.message, "%s",
                       textOf(hosts.data(), 4).c_str());
         return 0;
       })) {
    EXPECT_EQ(result.exitCode, 0);
    EXPECT_EQ(result.message, expected);
  }
}

TEST(Hosts, RanksThatOpenEachOthersMemoryShareAHost) { expectHosts({}, "0 0 0 0"); }

TEST(Hosts, OthersHaveTheirOwn) {
  if (!canHideProcesses())
    GTEST_SKIP() << "this machine makes no namespaces";
  expectHosts({2}, "0 0 2 0");
  expectHosts({1, 3}, "0 1 0 3");
}

/// Expects that `auto` chooses the transport, and that it works.
void expectChoice(const std::vector<uint32_t> &hidden, const std::string &expected,
                  double bandwidth = 0) {
  for (const RankResult &result :
       onHosts(3, hidden, [&](WorldOptions &world, RankReport &report) -> int {
         world.options.bandwidth = bandwidth;
         dpc_comm_t *comm = nullptr;
         if (dpc_status_t status = dpc_comm_create("auto", &world.options, &comm)) {
           std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
           return status;
         }
         std::snprintf(report.message, sizeof report.message, "%s on %u, hosts %s",
                       comm->vtable->name, dpc_comm_host_count(comm),
                       textOf(comm->hosts, comm->world_size).c_str());
         const dpc_status_t status = dpc_comm_barrier(comm);
         dpc_comm_release(comm);
         return status;
       })) {
    EXPECT_EQ(result.exitCode, 0) << result.message;
    EXPECT_EQ(result.message, expected);
  }
}

TEST(Hosts, AutoChoosesTheTransport) {
  expectChoice({}, "local on 1, hosts 0 0 0");
  expectChoice({}, "local on 1, hosts 0 0 0", 1e9);
  if (canHideProcesses())
    expectChoice({1}, "sockets on 2, hosts 0 1 0");
}

TEST(Hosts, TheDefaultIsAuto) { EXPECT_STREQ(dpc_transport_find(nullptr)->name, "auto"); }

// If the user names the transport, nothing is tried.
TEST(Hosts, NamedTransportsSeparateRanks) {
  for (const RankResult &result :
       onHosts(2, {}, [](WorldOptions &world, RankReport &report) -> int {
         dpc_comm_t *comm = nullptr;
         if (dpc_status_t status = dpc_comm_create("sockets", &world.options, &comm))
           return status;
         std::snprintf(report.message, sizeof report.message, "%s", textOf(comm->hosts, 2).c_str());
         dpc_comm_release(comm);
         return 0;
       })) {
    EXPECT_EQ(result.exitCode, 0);
    EXPECT_EQ(result.message, "0 1");
  }
}

} // namespace
