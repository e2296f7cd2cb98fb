// Runs a function as N ranks, each a process, and gathers how they ended. For
// tests of everything that ranks share.
#ifndef DPC_TEST_RUNTIME_FORKRANKS_H
#define DPC_TEST_RUNTIME_FORKRANKS_H

#include "dpc/comm.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dpc::test {

struct RankResult {
  int exitCode = -1; ///< 128 + signal for a killed rank
  std::string message;
  double seconds = 0; ///< from the start of all to the end of this one
};

/// What a rank may tell the test about a failed check.
struct RankReport {
  char message[600];
};

/// A directory of mode 0700 that is removed with what lies in it (one level
/// deep). In a rank that mpirun has started (MpiRanks.h), it is the directory of the test.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    char pattern[] = "/tmp/dpc-test-XXXXXX";
    const char *shared = std::getenv("DPC_TEST_SHARED");
    path = shared ? shared : mkdtemp(pattern);
  }
  ~TemporaryDirectory() {
    if (std::getenv("DPC_TEST_SHARED"))
      return;
    std::string command = "rm -rf " + path;
    if (std::system(command.c_str()) != 0)
      std::perror("rm");
  }
  std::string path;
};

/// Runs body(rank, report) in `ranks` processes; its result is the exit code.
/// `meanwhile` runs here once all are started.
inline std::vector<RankResult>
forkRanks(uint32_t ranks, const std::function<int(uint32_t, RankReport &)> &body,
          const std::function<void(const std::vector<pid_t> &)> &meanwhile = {}) {
  auto *reports =
      static_cast<RankReport *>(mmap(nullptr, ranks * sizeof(RankReport), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  auto begin = std::chrono::steady_clock::now();
  std::vector<pid_t> pids;
  std::fflush(nullptr);
  for (uint32_t r = 0; r < ranks; ++r) {
    pid_t pid = fork();
    if (pid == 0) {
      alarm(60); // no test leaves a process behind
      int code = body(r, reports[r]);
      std::fflush(nullptr);
      _exit(code);
    }
    pids.push_back(pid);
  }
  if (meanwhile)
    meanwhile(pids);
  std::vector<RankResult> results(ranks);
  for (uint32_t left = ranks; left > 0;) {
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0 && errno == EINTR)
      continue;
    for (uint32_t r = 0; r < ranks; ++r)
      if (pids[r] == pid) {
        results[r].exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        results[r].message = reports[r].message;
        results[r].seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        --left;
      }
  }
  munmap(reports, ranks * sizeof(RankReport));
  return results;
}

/// The options of a rank in a world with the single group family "world".
struct WorldOptions {
  explicit WorldOptions(uint32_t rank, uint32_t world, const std::string &rendezvous,
                        uint64_t memoryBytes)
      : members(world), memory(world, memoryBytes), address(rendezvous) {
    for (uint32_t r = 0; r < world; ++r)
      members[r] = r;
    family = {"world", 1, world, members.data()};
    options.struct_size = sizeof options;
    options.rank = rank;
    options.world_size = world;
    options.family_count = 1;
    options.families = &family;
    options.memory_bytes = memory.data();
    options.rendezvous = address.c_str();
    options.listen_fd = -1;
    options.timeout_seconds = 20;
  }
  WorldOptions(const WorldOptions &) = delete;
  std::vector<uint32_t> members;
  std::vector<uint64_t> memory;
  std::string address;
  dpc_group_family_t family;
  dpc_comm_options_t options = {};
};

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_FORKRANKS_H
