// Measures the collectives of the local transport as multiples of a copy: the
// time in which all ranks copy the same number of bytes at once.
//
//   dpc-bench-collectives RANKS            prints a table; copies and
//                                          collectives take turns
//   dpc-bench-collectives RANKS --serve    all-reduce contender of the
//                                          scoreboard: RUN bytes iters, QUIT
#include "bench/Memory.h"
#include "dpc/action.h"
#include "dpc/comm.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr uint64_t kLargest = 256ull << 20;
constexpr int kRounds = 7;

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// The columns of the table. The bytes of a reduce-scatter or an all-gather are
/// the bytes of the unsharded buffer, the sum over all parts.
enum Work { copy, allReduce, reduceScatter, allGather, barrier, workCount };
const char *const workNames[] = {"copy", "all-reduce", "reduce-scatter", "all-gather", "barrier"};

/// One rank with its buffers. The communicator allocates `shared`; `from` and `to`
/// are private memory.
struct Rank {
  dpc_comm_t *comm = nullptr;
  float *shared = nullptr;
  char *from = nullptr, *to = nullptr;
  uint64_t *command = nullptr; ///< bytes and repetitions of the next run, from rank 0

  dpc_status_t one(Work work, uint64_t bytes) {
    const uint64_t n = comm->world_size, count = bytes / sizeof(float), part = count / n;
    float *own = shared + comm->rank * part;
    dpc_comm_op_t op = {DPC_OP_ALL_REDUCE, 0, 0, DPC_F32, DPC_SUM,
                        DPC_NONE,          0, 1, nullptr, nullptr};
    switch (work) {
    case copy:
      std::memcpy(to, from, bytes);
      __asm__ volatile("" ::: "memory");
      return DPC_OK;
    case barrier:
      return dpc_comm_barrier(comm);
    case reduceScatter: // in place: the result is this rank's part of the operand
      op.op = DPC_OP_REDUCE_SCATTER;
      op.count = part, op.in = shared, op.out = own;
      break;
    case allGather:
      op.op = DPC_OP_ALL_GATHER;
      op.count = part, op.in = own, op.out = shared;
      break;
    default:
      op.count = count, op.in = op.out = shared;
      break;
    }
    return dpc_comm_run(comm, &op);
  }

  /// Measures the seconds of `times` runs on all ranks at once, between two barriers.
  dpc_status_t block(Work work, uint64_t bytes, uint64_t times, double *outSeconds) {
    if (dpc_status_t status = dpc_comm_barrier(comm))
      return status;
    const double begin = now();
    for (uint64_t i = 0; i < times; ++i)
      if (dpc_status_t status = one(work, bytes))
        return status;
    if (dpc_status_t status = dpc_comm_barrier(comm))
      return status;
    *outSeconds = now() - begin;
    return DPC_OK;
  }

  /// Whether an all-reduce in which each rank contributes rank + 1 gives the right sum.
  bool sums(uint64_t bytes) {
    const uint64_t count = bytes / sizeof(float), n = comm->world_size;
    std::fill(shared, shared + count, float(comm->rank + 1));
    if (dpc_comm_barrier(comm) || one(allReduce, bytes))
      return false;
    const float want = float(n * (n + 1) / 2);
    const bool right = shared[0] == want && shared[count / 2] == want && shared[count - 1] == want;
    std::memset(shared, 0, bytes);
    return right;
  }
};

dpc_status_t table(Rank &rank) {
  const bool first = rank.comm->rank == 0;
  if (first)
    std::printf("%u ranks; us, and multiples of the copy\n%10s %10s", rank.comm->world_size, "KiB",
                workNames[0]);
  for (int work = 1; work < workCount && first; ++work)
    std::printf(" %20s", workNames[work]);
  if (first)
    std::printf("\n");
  for (uint64_t bytes = 4096; bytes <= kLargest; bytes *= 4) {
    std::vector<double> best(workCount, 1e9);
    const uint64_t times = std::max<uint64_t>(2, (32ull << 20) / bytes / 8);
    for (int round = 0; round < kRounds; ++round)
      for (int work = 0; work < workCount; ++work) {
        double seconds;
        if (dpc_status_t status = rank.block(Work(work), bytes, times, &seconds))
          return status;
        best[work] = std::min(best[work], seconds / double(times) * 1e6);
      }
    if (!first)
      continue;
    std::printf("%10llu %10.2f", (unsigned long long)bytes / 1024, best[0]);
    for (int work = 1; work < workCount; ++work)
      std::printf(" %12.2f %6.2fx", best[work], best[work] / best[0]);
    std::printf("\n");
    std::fflush(stdout);
  }
  return DPC_OK;
}

/// Serves commands until QUIT. Rank 0 reads them and broadcasts them to the other ranks.
dpc_status_t serve(Rank &rank) {
  const bool first = rank.comm->rank == 0;
  if (first)
    std::printf("READY {}\n");
  for (;;) {
    if (first) {
      unsigned long long bytes = 0, times = 0;
      char line[256];
      std::fflush(stdout);
      if (!std::fgets(line, sizeof line, stdin) ||
          std::sscanf(line, "RUN %llu %llu", &bytes, &times) != 2 || bytes > kLargest)
        times = 0;
      rank.command[0] = bytes;
      rank.command[1] = times;
    }
    const dpc_comm_op_t tell = {DPC_OP_BROADCAST, 0, 0, DPC_I64,      DPC_SUM,
                                DPC_NONE,         2, 2, rank.command, rank.command};
    if (dpc_status_t status = dpc_comm_run(rank.comm, &tell))
      return status;
    const uint64_t bytes = rank.command[0], times = rank.command[1];
    if (times == 0)
      return DPC_OK;
    const bool right = rank.sums(bytes);
    double seconds;
    if (dpc_status_t status = rank.block(allReduce, bytes, times, &seconds))
      return status;
    if (first)
      std::printf("DONE {\"s\": %.9f, \"ok\": %d}\n", seconds, right);
  }
}

int run(uint32_t ranks, uint32_t self, const std::string &rendezvous, bool serves) {
  cpu_set_t set, one;
  sched_getaffinity(0, sizeof set, &set);
  int skip = static_cast<int>(self % uint32_t(CPU_COUNT(&set))), cpu = 0;
  while (!CPU_ISSET(cpu, &set) || skip-- > 0)
    ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);

  std::vector<uint32_t> members(ranks);
  for (uint32_t r = 0; r < ranks; ++r)
    members[r] = r;
  const dpc_group_family_t world = {"world", 1, ranks, members.data()};
  const std::vector<uint64_t> memory(ranks, kLargest + DPC_ALIGNMENT);
  dpc_comm_options_t options = {};
  options.struct_size = sizeof options;
  options.rank = self;
  options.world_size = ranks;
  options.family_count = 1;
  options.families = &world;
  options.memory_bytes = memory.data();
  options.rendezvous = rendezvous.c_str();
  options.listen_fd = -1;
  Rank rank;
  dpc_status_t status = dpc_comm_create("local", &options, &rank.comm);
  sched_setaffinity(0, sizeof one, &one);
  void *memoryAt = nullptr, *commandAt = nullptr;
  if (status == DPC_OK)
    status = rank.comm->vtable->allocate(rank.comm, kLargest, &memoryAt);
  if (status == DPC_OK)
    status = rank.comm->vtable->allocate(rank.comm, DPC_ALIGNMENT, &commandAt);
  if (status == DPC_OK) {
    rank.shared = static_cast<float *>(memoryAt);
    rank.command = static_cast<uint64_t *>(commandAt);
    rank.from = serves ? nullptr : dpc::bench::allocate(kLargest);
    rank.to = serves ? nullptr : dpc::bench::allocate(kLargest);
    std::memset(rank.shared, 0, kLargest);
    status = serves ? serve(rank) : table(rank);
  }
  if (status != DPC_OK)
    std::fprintf(stderr, "error: rank %u: %s\n", self, dpc_last_error());
  dpc_comm_release(rank.comm);
  return status;
}

} // namespace

int main(int argc, char **argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 0;
  const bool serves = argc > 2 && std::strcmp(argv[2], "--serve") == 0;
  if (ranks < 1 || ranks > 64 || argc > (serves ? 3 : 2)) {
    std::fprintf(stderr, "usage: dpc-bench-collectives RANKS [--serve]\n");
    return DPC_USAGE;
  }
  char directory[] = "/tmp/dpc-bench-XXXXXX";
  if (!mkdtemp(directory)) {
    std::perror(directory);
    return DPC_IO;
  }
  uint32_t self = 0;
  for (int r = 1; r < ranks && self == 0; ++r)
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      self = static_cast<uint32_t>(r);
    }
  const int code =
      run(static_cast<uint32_t>(ranks), self, std::string("file://") + directory, serves);
  if (self == 0) {
    while (wait(nullptr) > 0)
      continue;
    rmdir(directory);
  }
  return code;
}
