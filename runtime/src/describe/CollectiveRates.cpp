// Times collectives between processes of this host.
#include "runtime/src/describe/CollectiveRates.h"

#include "dpc/action.h"
#include "dpc/comm.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dpc {

namespace {

constexpr uint64_t kSmall = 4 << 10, kLarge = 8 << 20;
constexpr int kRounds = 9;
/// Blocks of small operations have this many, so that clocks do not count.
constexpr int kSmallRuns = 50, kLargeRuns = 2;

/// The least times of both sizes: of the collectives in the order of CollectiveRates, and of a
/// message.
struct Times {
  double small[CollectiveRates::kKinds + 1], large[CollectiveRates::kKinds + 1];
};

class MeasuringRank {
public:
  MeasuringRank(const DescribeOptions &options, uint32_t ranks, uint32_t self,
                const std::string &folder)
      : members(ranks), memory(ranks, 2 * kLarge + 2 * DPC_ALIGNMENT),
        rendezvous("file://" + folder) {
    for (uint32_t rank = 0; rank < ranks; ++rank)
      members[rank] = rank;
    family = {"world", 1, ranks, members.data()};
    place.struct_size = sizeof place;
    place.rank = self;
    place.world_size = ranks;
    place.family_count = 1;
    place.families = &family;
    place.memory_bytes = memory.data();
    place.rendezvous = rendezvous.c_str();
    place.listen_fd = -1;
    place.bandwidth = options.bandwidth;
    place.latency = options.latency;
    transport = options.transport.empty() ? "local" : options.transport;
  }
  ~MeasuringRank() { dpc_comm_release(comm); }

  dpc_status_t measure(Times *out) {
    void *first = nullptr, *second = nullptr;
    dpc_status_t status = dpc_comm_create(transport.c_str(), &place, &comm);
    if (status == DPC_OK)
      status = comm->vtable->allocate(comm, kLarge, &first);
    if (status == DPC_OK)
      status = comm->vtable->allocate(comm, kLarge, &second);
    if (status)
      return status;
    from = static_cast<float *>(first);
    to = static_cast<float *>(second);
    std::fill(from, from + kLarge / sizeof(float), 1.f);
    for (int kind = 0; kind <= CollectiveRates::kKinds; ++kind)
      for (bool isLarge : {false, true}) {
        double &least = isLarge ? out->large[kind] : out->small[kind];
        least = HUGE_VAL;
        for (int round = 0; round < kRounds; ++round) {
          double seconds = 0;
          if ((status = block(kind, isLarge ? kLarge : kSmall, isLarge ? kLargeRuns : kSmallRuns,
                              &seconds)))
            return status;
          least = std::min(least, seconds);
        }
      }
    return DPC_OK;
  }

private:
  /// The seconds of one of `runs` operations between two barriers.
  dpc_status_t block(int kind, uint64_t bytes, int runs, double *outSeconds) {
    if (dpc_status_t status = dpc_comm_barrier(comm))
      return status;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i)
      if (dpc_status_t status =
              kind < CollectiveRates::kKinds ? collective(kind, bytes) : message(bytes))
        return status;
    if (dpc_status_t status = dpc_comm_barrier(comm))
      return status;
    *outSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / runs;
    return DPC_OK;
  }

  /// `bytes` is the size of the larger buffer.
  dpc_status_t collective(int kind, uint64_t bytes) {
    const uint64_t count = bytes / sizeof(float), part = count / place.world_size;
    static const uint32_t kinds[] = {DPC_OP_ALL_REDUCE, DPC_OP_ALL_GATHER, DPC_OP_REDUCE_SCATTER,
                                     DPC_OP_ALL_TO_ALL};
    dpc_comm_op_t op = {};
    op.op = kinds[kind];
    op.dtype = DPC_F32;
    op.reduction = DPC_SUM;
    op.peer = DPC_NONE;
    op.count = kind == 0 ? count : part;
    op.buffer_id = 1;
    op.in = from;
    op.out = kind == 0 ? from : to;
    if (kind == 1) // each rank's part of the result
      op.in = from + place.rank * part;
    return dpc_comm_run(comm, &op);
  }

  /// From rank 0 to rank 1. The other ranks only wait at the barriers.
  dpc_status_t message(uint64_t bytes) {
    if (place.rank > 1)
      return DPC_OK;
    dpc_comm_op_t op = {};
    op.op = place.rank == 0 ? DPC_OP_SEND : DPC_OP_RECV;
    op.dtype = DPC_F32;
    op.peer = 1 - place.rank;
    op.count = bytes / sizeof(float);
    op.buffer_id = 2;
    if (place.rank == 0)
      op.in = from;
    else
      op.out = to;
    return dpc_comm_run(comm, &op);
  }

  std::vector<uint32_t> members;
  std::vector<uint64_t> memory;
  std::string rendezvous, transport;
  dpc_group_family_t family = {};
  dpc_comm_options_t place = {};
  dpc_comm_t *comm = nullptr;
  float *from = nullptr, *to = nullptr;
};

/// Runs rank `self` in a process of its own, and ends it.
[[noreturn]] void runRank(const DescribeOptions &options, uint32_t ranks, uint32_t self,
                          const std::string &folder, int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(DPC_PEER);
  Times times = {};
  dpc_status_t status;
  {
    MeasuringRank rank(options, ranks, self, folder);
    status = rank.measure(&times);
  }
  if (status && self == 0)
    std::fprintf(stderr, "dpc-run: error: --describe: %s\n", dpc_last_error());
  if (status == DPC_OK && self == 0 && ::write(output, &times, sizeof times) != sizeof times)
    status = DPC_IO;
  ::_exit(status);
}

/// The share of its larger buffer that a rank sends: twice in an all-reduce.
double sharesOf(int kind, uint32_t ranks) {
  return (kind == 0 ? 2. : 1.) * double(ranks - 1) / double(ranks);
}

CollectiveRates fit(const Times &times, uint32_t ranks) {
  CollectiveRates rates;
  double logarithms = 0;
  for (int kind = 0; kind < CollectiveRates::kKinds; ++kind) {
    const double seconds = std::max(times.large[kind] - times.small[kind], 1e-9);
    logarithms += std::log(sharesOf(kind, ranks) * double(kLarge - kSmall) / seconds);
  }
  // One number stands for all kinds: the geometric mean errs by the same factor in both directions.
  rates.bytesPerSecond = std::exp(logarithms / CollectiveRates::kKinds);
  auto startOf = [&](double seconds, double sent) {
    return std::max(0., seconds - sent / rates.bytesPerSecond);
  };
  rates.messageSeconds = startOf(times.small[CollectiveRates::kKinds], double(kSmall));
  for (int kind = 0; kind < CollectiveRates::kKinds; ++kind)
    rates.startSeconds[kind] = startOf(times.small[kind], sharesOf(kind, ranks) * double(kSmall));
  return rates;
}

} // namespace

dpc_status_t measureCollectives(const DescribeOptions &options, uint32_t ranks,
                                CollectiveRates *out) {
  char folder[] = "/tmp/dpc-describe-XXXXXX";
  int ends[2];
  if (!::mkdtemp(folder))
    return fail(DPC_IO, "%s: %s", folder, std::strerror(errno));
  if (::pipe(ends) != 0) {
    ::rmdir(folder);
    return fail(DPC_IO, "a pipe: %s", std::strerror(errno));
  }
  const pid_t self = ::getpid();
  std::vector<pid_t> processes;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0)
      runRank(options, ranks, rank, folder, ends[1], self);
    if (child > 0)
      processes.push_back(child);
  }
  ::close(ends[1]);
  Times times = {};
  ssize_t got;
  while ((got = ::read(ends[0], &times, sizeof times)) < 0 && errno == EINTR)
    continue;
  ::close(ends[0]);
  int failed = processes.size() == ranks ? 0 : int(DPC_IO);
  for (pid_t process : processes) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR)
      continue;
    if (status && !failed)
      failed = WIFEXITED(status) ? WEXITSTATUS(status) : int(DPC_PEER);
  }
  ::rmdir(folder);
  if (failed || got != ssize_t(sizeof times))
    return fail(failed ? dpc_status_t(failed) : dpc_status_t(DPC_PEER),
                "the %u ranks measured nothing", ranks);
  *out = fit(times, ranks);
  return DPC_OK;
}

} // namespace dpc
