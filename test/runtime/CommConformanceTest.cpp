// What every transport must do: each operation, element type, size and number
// of ranks against a plain computation.
#include "dpc/action.h"
#include "test/runtime/EveryTransport.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <tuple>

using namespace dpc::test;

namespace {

/// A transport, or the local one with an emulated link.
struct Way {
  std::string name, transport;
  double bandwidth, latency;
};

/// The ways of MPI's standard ABI, which differs from other MPIs only in its constants, or all
/// others.
std::vector<Way> ways(bool overAbi) {
  std::vector<Way> out;
  for (const std::string &name : allTransportNames())
    if ((name.rfind("abi_", 0) == 0) == overAbi)
      out.push_back({name, name, 0, 0});
  if (!overAbi)
    out.push_back({"emulated", "local", 4e9, 20e-6});
  return out;
}

constexpr uint64_t kRegion = 8u << 20;
constexpr uint64_t kHalf = kRegion / 2; ///< for inputs, and for outputs

/// The value that `rank` puts at element i: small integers, so that every type
/// and order gives the same sum.
template <typename T> T value(uint32_t rank, uint64_t i) {
  return static_cast<T>(int64_t((i * 7 + rank * 13) % 31) - 15);
}

template <typename T> T combine(uint32_t reduction, T a, T b) {
  return reduction == DPC_SUM ? T(a + b) : reduction == DPC_MAX ? std::max(a, b) : std::min(a, b);
}

template <typename T> T reduced(uint32_t reduction, uint32_t ranks, uint64_t i) {
  T out = value<T>(0, i);
  for (uint32_t r = 1; r < ranks; ++r)
    out = combine(reduction, out, value<T>(r, i));
  return out;
}

/// Runs one operation on every rank and compares this rank's output.
template <typename T>
int check(dpc_comm_t *comm, uint32_t op, uint32_t dtype, uint32_t reduction, uint64_t count,
          char *memory, RankReport &report) {
  const uint32_t n = comm->world_size, me = comm->rank, root = n - 1;
  T *in = reinterpret_cast<T *>(memory), *out = reinterpret_cast<T *>(memory + kHalf);
  const bool wideIn =
      op == DPC_OP_REDUCE_SCATTER || op == DPC_OP_SCATTER || op == DPC_OP_ALL_TO_ALL;
  const bool wideOut = op == DPC_OP_ALL_GATHER || op == DPC_OP_GATHER || op == DPC_OP_ALL_TO_ALL;
  for (uint64_t i = 0; i < count * (wideIn ? n : 1); ++i)
    in[i] = value<T>(me, i);
  const uint64_t outCount = count * (wideOut ? n : 1);
  std::fill(out, out + outCount + 1, T(99));
  dpc_comm_op_t request = {op, 0, root, dtype, reduction, DPC_NONE, count, 7, in, out};
  if (op == DPC_OP_SEND) { // a ring
    request.peer = (me + 1) % n;
    dpc_request_t sent, received;
    if (n == 1)
      return 0;
    dpc_comm_op_t receive = request;
    receive.op = DPC_OP_RECV, receive.peer = (me + n - 1) % n;
    // Between hosts, both messages of each rank are outstanding at once. A device moves one after
    // the other, so one rank must receive first.
    const bool receivesFirst = me == root && isDeviceTransport(comm);
    auto start = [&](bool sends) {
      return sends ? comm->vtable->start(comm, &request, &sent)
                   : comm->vtable->start(comm, &receive, &received);
    };
    if (start(!receivesFirst) || start(receivesFirst) || comm->vtable->wait(comm, received) ||
        comm->vtable->wait(comm, sent)) {
      std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
      return 3;
    }
  } else if (dpc_comm_run(comm, &request)) {
    std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
    return 3;
  }
  const bool writes = (op != DPC_OP_REDUCE && op != DPC_OP_GATHER) || me == root;
  for (uint64_t i = 0; i < outCount; ++i) {
    T want = T(99);
    uint64_t part = count ? i / count : 0, within = count ? i % count : 0;
    switch (writes ? op : 0) {
    case DPC_OP_ALL_REDUCE:
    case DPC_OP_REDUCE:
      want = reduced<T>(reduction, n, i);
      break;
    case DPC_OP_REDUCE_SCATTER:
      want = reduced<T>(reduction, n, me * count + i);
      break;
    case DPC_OP_ALL_GATHER:
    case DPC_OP_GATHER:
      want = value<T>(static_cast<uint32_t>(part), within);
      break;
    case DPC_OP_BROADCAST:
      want = value<T>(root, i);
      break;
    case DPC_OP_SCATTER:
      want = value<T>(root, me * count + i);
      break;
    case DPC_OP_ALL_TO_ALL:
      want = value<T>(static_cast<uint32_t>(part), me * count + within);
      break;
    case DPC_OP_SEND:
      want = value<T>((me + n - 1) % n, i);
      break;
    }
    if (out[i] != want) {
      std::snprintf(report.message, sizeof report.message, "element %llu of %llu is %g, not %g",
                    (unsigned long long)i, (unsigned long long)outCount, double(out[i]),
                    double(want));
      return 9;
    }
  }
  if (out[outCount] != T(99)) {
    std::snprintf(report.message, sizeof report.message, "wrote past the end of %llu elements",
                  (unsigned long long)outCount);
    return 9;
  }
  return 0;
}

/// Runs `body` on a communicator and expects success everywhere.
void onRanks(const Way &way, uint32_t ranks,
             const std::function<int(dpc_comm_t *, RankReport &)> &body,
             const std::function<void(WorldOptions &)> &adjust = {}) {
  TemporaryDirectory directory;
  auto results = runRanks(way.transport, ranks, [&](uint32_t rank, RankReport &report) {
    WorldOptions world(rank, ranks, "file://" + directory.path, kRegion);
    world.options.bandwidth = way.bandwidth, world.options.latency = way.latency;
    if (adjust)
      adjust(world);
    dpc_comm_t *comm;
    int code = createComm(way.transport, world.options, &comm);
    if (code == 0) {
      code = body(comm, report);
      dpc_comm_release(comm);
    }
    if (code && !report.message[0])
      std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
    return code;
  });
  for (uint32_t r = 0; r < ranks; ++r)
    EXPECT_EQ(results[r].exitCode, 0) << "rank " << r << ": " << results[r].message;
}

using Case = std::tuple<Way, uint32_t, uint32_t>;
class CommConformance : public testing::TestWithParam<Case> {};

TEST_P(CommConformance, MatchesPlainComputation) {
  const auto &[way, ranks, op] = GetParam();
  onRanks(way, ranks, [op = op](dpc_comm_t *comm, RankReport &report) {
    const bool reduces =
        op == DPC_OP_ALL_REDUCE || op == DPC_OP_REDUCE || op == DPC_OP_REDUCE_SCATTER;
    char *memory = allocate<char>(comm, kRegion);
    int code = 0;
    for (uint64_t count : {0, 1, 5, 63, 64, 65, 1000, 2048, 2049, 5000, 70001})
      for (uint32_t reduction = 0; reduction < (reduces ? 3u : 1u); ++reduction) {
        code = code ? code : check<float>(comm, op, DPC_F32, reduction, count, memory, report);
        code = code ? code : check<double>(comm, op, DPC_F64, reduction, count, memory, report);
        code = code ? code : check<int32_t>(comm, op, DPC_I32, reduction, count, memory, report);
        code = code ? code : check<int64_t>(comm, op, DPC_I64, reduction, count, memory, report);
      }
    return code ? code : int(dpc_comm_barrier(comm));
  });
}

std::string caseName(const testing::TestParamInfo<Case> &info) {
  static const char *const ops[] = {"",          "AllReduce", "ReduceScatter", "AllGather",
                                    "Broadcast", "Reduce",    "Gather",        "Scatter",
                                    "AllToAll",  "Barrier",   "SendRecv",      "Recv"};
  return std::get<0>(info.param).name + ops[std::get<2>(info.param)] +
         std::to_string(std::get<1>(info.param)) + "Ranks";
}

const auto kOperations = testing::Values<uint32_t>(
    DPC_OP_ALL_REDUCE, DPC_OP_REDUCE_SCATTER, DPC_OP_ALL_GATHER, DPC_OP_BROADCAST, DPC_OP_REDUCE,
    DPC_OP_GATHER, DPC_OP_SCATTER, DPC_OP_ALL_TO_ALL, DPC_OP_SEND);
INSTANTIATE_TEST_SUITE_P(All, CommConformance,
                         testing::Combine(testing::ValuesIn(ways(false)),
                                          testing::Values(1u, 2u, 3u, 5u), kOperations),
                         caseName);

INSTANTIATE_TEST_SUITE_P(Abi, CommConformance,
                         testing::Combine(testing::ValuesIn(ways(true)), testing::Values(3u),
                                          kOperations),
                         caseName);

class Comm : public testing::TestWithParam<std::string> {
protected:
  void onRanks(uint32_t ranks, const std::function<int(dpc_comm_t *, RankReport &)> &body,
               const std::function<void(WorldOptions &)> &adjust = {}) {
    ::onRanks({GetParam(), GetParam(), 0, 0}, ranks, body, adjust);
  }
};
INSTANTIATE_TEST_SUITE_P(All, Comm, testing::ValuesIn(allTransportNames()),
                         [](const auto &info) { return info.param; });

// The sum is taken in rank order, whatever the size: floats of different
// magnitude show another order at once.
TEST_P(Comm, SumsInRankOrder) {
  onRanks(3, [](dpc_comm_t *comm, RankReport &) {
    float *x = allocate<float>(comm, kRegion);
    auto fill = [](uint32_t r, uint64_t i) {
      return r == 0 ? 1e8f : r == 1 ? -1e8f + float(i % 3) : 1.25f;
    };
    for (uint64_t count : {1000, 10000}) {
      for (uint64_t i = 0; i < count; ++i)
        x[i] = fill(comm->rank, i);
      dpc_comm_op_t op = {DPC_OP_ALL_REDUCE, 0, 0, DPC_F32, DPC_SUM, DPC_NONE, count, 1, x, x};
      if (int code = dpc_comm_run(comm, &op))
        return code;
      for (uint64_t i = 0; i < count; ++i)
        if (x[i] != (fill(0, i) + fill(1, i)) + fill(2, i))
          return 9;
    }
    return 0;
  });
}

// Waits may come in another order than starts, differently on each rank.
TEST_P(Comm, WaitsInAnyOrder) {
  onRanks(3, [](dpc_comm_t *comm, RankReport &) {
    constexpr int kOperations = 40;
    constexpr uint64_t kCount = 3000;
    float *x = allocate<float>(comm, kRegion);
    dpc_request_t requests[kOperations];
    for (int k = 0; k < kOperations; ++k) {
      std::fill(x + k * kCount, x + (k + 1) * kCount, float(k + comm->rank));
      dpc_comm_op_t op = {DPC_OP_ALL_REDUCE, 0,      0,           DPC_F32,        DPC_SUM,
                          DPC_NONE,          kCount, uint64_t(k), x + k * kCount, x + k * kCount};
      if (int code = comm->vtable->start(comm, &op, &requests[k]))
        return code;
    }
    for (int k = 0; k < kOperations; ++k) {
      int which = comm->rank == 0   ? k
                  : comm->rank == 1 ? kOperations - 1 - k
                                    : (k * 7) % kOperations;
      if (int code = comm->vtable->wait(comm, requests[which]))
        return code;
      if (x[which * kCount + 17] != float(3 * which + 3))
        return 9;
    }
    return 0;
  });
}

// More starts than the ring holds wait for room instead of overwriting.
TEST_P(Comm, LongQueueOfStarts) {
  onRanks(2, [](dpc_comm_t *comm, RankReport &) {
    int32_t *x = allocate<int32_t>(comm, kRegion);
    std::vector<dpc_request_t> requests(500);
    for (int k = 0; k < 500; ++k) {
      x[k] = k;
      dpc_comm_op_t op = {DPC_OP_ALL_REDUCE, 0, 0,           DPC_I32, DPC_SUM,
                          DPC_NONE,          1, uint64_t(k), x + k,   x + k};
      if (int code = comm->vtable->start(comm, &op, &requests[k]))
        return code;
    }
    for (int k = 499; k >= 0; --k) {
      if (int code = comm->vtable->wait(comm, requests[k]))
        return code;
      if (x[k] != 2 * k)
        return 9;
    }
    return 0;
  });
}

// Sub-groups: rows and columns of a 2x2 mesh, used in opposite orders of
// waiting.
TEST_P(Comm, GroupFamilies) {
  static const uint32_t rows[] = {0, 1, 2, 3}, columns[] = {0, 2, 1, 3}, world[] = {0, 1, 2, 3};
  static const dpc_group_family_t families[] = {
      {"world", 1, 4, world}, {"model", 2, 2, rows}, {"data", 2, 2, columns}};
  onRanks(
      4,
      [](dpc_comm_t *comm, RankReport &) {
        double *x = allocate<double>(comm, kRegion);
        x[0] = x[1] = 1 << comm->rank;
        dpc_comm_op_t row = {DPC_OP_ALL_REDUCE, 1, 0, DPC_F64, DPC_SUM, DPC_NONE, 1, 1, x, x + 2};
        dpc_comm_op_t column = {DPC_OP_ALL_REDUCE, 2, 0, DPC_F64, DPC_SUM,
                                DPC_NONE,          1, 2, x + 1,   x + 3};
        dpc_request_t a, b;
        if (int code = comm->vtable->start(comm, &row, &a))
          return code;
        if (int code = comm->vtable->start(comm, &column, &b))
          return code;
        const bool rowFirst = comm->rank % 2 == 0;
        if (int code = comm->vtable->wait(comm, rowFirst ? a : b))
          return code;
        if (int code = comm->vtable->wait(comm, rowFirst ? b : a))
          return code;
        const double wantRow[] = {3, 3, 12, 12}, wantColumn[] = {5, 10, 5, 10};
        return x[2] == wantRow[comm->rank] && x[3] == wantColumn[comm->rank] ? 0 : 9;
      },
      [](WorldOptions &w) { w.options.families = families, w.options.family_count = 3; });
}

/// An all-reduce or a message of a random size, in a random family.
dpc_comm_op_t randomOperation(std::mt19937 &random, uint64_t number, uint32_t rank) {
  const uint32_t family = random() % 3, kind = random() % 3;
  const uint64_t count = std::array<uint64_t, 4>{1, 100, 2049, 20000}[random() % 4];
  const uint32_t indices[] = {rank, rank % 2, rank / 2}, sizes[] = {6, 2, 3};
  dpc_comm_op_t op = {DPC_OP_ALL_REDUCE, family, 0,      DPC_F32, DPC_SUM,
                      DPC_NONE,          count,  number, nullptr, nullptr};
  if (kind == 1) { // member 0 of each group sends to the last one
    op.peer = indices[family] == 0 ? sizes[family] - 1 : 0;
    op.op = indices[family] == 0                   ? DPC_OP_SEND
            : indices[family] == sizes[family] - 1 ? DPC_OP_RECV
                                                   : DPC_OP_BARRIER;
  }
  return op;
}

// Operations of all groups are under way together, and each rank waits for them in another order.
TEST_P(Comm, OperationsOfAllGroupsTogether) {
  static const uint32_t pairs[] = {0, 1, 2, 3, 4, 5}, columns[] = {0, 2, 4, 1, 3, 5};
  static const dpc_group_family_t families[] = {
      {"world", 1, 6, pairs}, {"model", 3, 2, pairs}, {"data", 2, 3, columns}};
  onRanks(
      6,
      [](dpc_comm_t *comm, RankReport &report) {
        if (isDeviceTransport(comm))
          return 0; // a device moves one operation after the other
        constexpr int kRounds = 20, kTogether = 16;
        constexpr uint64_t kCount = 20000;
        float *x = allocate<float>(comm, kTogether * kCount * sizeof(float));
        std::mt19937 random(7), own(comm->rank);
        const uint32_t rank = comm->rank;
        for (int round = 0; round < kRounds; ++round) {
          std::vector<std::pair<dpc_comm_op_t, dpc_request_t>> started;
          for (int i = 0; i < kTogether; ++i) {
            dpc_comm_op_t op = randomOperation(random, i, rank);
            if (op.op == DPC_OP_BARRIER)
              continue; // this rank has no part in a message
            op.in = op.out = x + i * kCount;
            std::fill(x + i * kCount, x + i * kCount + op.count, float(rank + i));
            started.push_back({op, 0});
            if (int code = comm->vtable->start(comm, &op, &started.back().second))
              return code;
          }
          std::shuffle(started.begin(), started.end(), own);
          for (const auto &[op, request] : started) {
            if (int code = comm->vtable->wait(comm, request))
              return code;
            const float each = float(op.buffer_id);
            const float sums[] = {15 + 6 * each, float(rank / 2 * 4 + 1) + 2 * each,
                                  float(6 + 3 * (rank % 2)) + 3 * each};
            const uint32_t senders[] = {0, rank / 2 * 2, rank % 2};
            const float want = op.op == DPC_OP_SEND   ? rank + each
                               : op.op == DPC_OP_RECV ? senders[op.family] + each
                                                      : sums[op.family];
            const float *out = static_cast<float *>(op.out);
            for (uint64_t i = 0; i < op.count; ++i)
              if (out[i] != want) {
                std::snprintf(report.message, sizeof report.message, "%g, not %g", out[i], want);
                return 9;
              }
          }
        }
        return int(dpc_comm_barrier(comm));
      },
      [](WorldOptions &w) { w.options.families = families, w.options.family_count = 3; });
}

// Bad arguments are the caller's fault and are found before anything is
// announced.
TEST_P(Comm, RejectsBadArguments) {
  onRanks(1, [](dpc_comm_t *comm, RankReport &) {
    char *x = allocate<char>(comm, 64);
    float outside[4] = {};
    const dpc_comm_op_t bad[] = {
        {DPC_OP_ALL_REDUCE, 0, 0, DPC_F32, DPC_SUM, DPC_NONE, 4, 1, outside, outside},
        {DPC_OP_ALL_REDUCE, 0, 0, DPC_F32, DPC_SUM, DPC_NONE, 17, 1, x, x},
        {DPC_OP_ALL_REDUCE, 0, 0, DPC_F32, DPC_SUM, DPC_NONE, 1ull << 62, 1, x, x},
        {DPC_OP_ALL_REDUCE, 0, 0, DPC_BOOL, DPC_SUM, DPC_NONE, 4, 1, x, x},
        {DPC_OP_ALL_REDUCE, 0, 0, DPC_F32, 7, DPC_NONE, 4, 1, x, x},
        {DPC_OP_ALL_REDUCE, 3, 0, DPC_F32, DPC_SUM, DPC_NONE, 4, 1, x, x},
        {DPC_OP_BROADCAST, 0, 1, DPC_F32, DPC_SUM, DPC_NONE, 4, 1, x, x},
        {DPC_OP_SEND, 0, 0, DPC_F32, DPC_SUM, DPC_NONE, 4, 1, x, x},
        {77, 0, 0, DPC_F32, DPC_SUM, DPC_NONE, 4, 1, x, x},
        {DPC_OP_ALL_GATHER, 0, 0, 50, DPC_SUM, DPC_NONE, 4, 1, x, x}};
    for (const dpc_comm_op_t &op : bad)
      if (dpc_comm_run(comm, &op) != DPC_INVALID)
        return 9;
    return 0;
  });
}

// A communicator gives zeros, aligned and apart, as much as was promised.
TEST_P(Comm, AllocatesWhatWasPromised) {
  onRanks(2, [](dpc_comm_t *comm, RankReport &) {
    char *first = allocate<char>(comm, 1), *second = allocate<char>(comm, 100);
    char *rest = allocate<char>(comm, kRegion - 3 * DPC_ALIGNMENT);
    for (char *piece : {first, second, rest})
      if (reinterpret_cast<uintptr_t>(piece) % DPC_ALIGNMENT || *piece)
        return 9;
    std::memset(first, 1, 1);
    std::memset(second, 2, 100);
    std::memset(rest, 3, kRegion - 3 * DPC_ALIGNMENT);
    void *more = nullptr;
    return *first == 1 && second[99] == 2 && rest[0] == 3 &&
                   comm->vtable->allocate(comm, 1, &more) == DPC_INVALID &&
                   std::strstr(dpc_last_error(), "1 bytes") && !more
               ? 0
               : 9;
  });
}

TEST(Transports, AnUnknownNameListsTheKnown) {
  dpc_comm_options_t options = {};
  dpc_comm_t *comm = nullptr;
  EXPECT_EQ(dpc_comm_create("pigeon", &options, &comm), DPC_USAGE);
  const std::string text = dpc_last_error();
  for (const std::string &name : transportNames())
    EXPECT_NE(text.find(name), std::string::npos) << text;
}

// The emulated link delivers late, takes its time from the start of the
// operation, and uses no core.
TEST(EmulatedLink, TakesItsTime) {
  onRanks({"local", "local", 1e7, 0}, 2, [](dpc_comm_t *comm, RankReport &report) {
    float *x = allocate<float>(comm, kRegion);
    dpc_comm_op_t op = {DPC_OP_ALL_REDUCE, 0, 0, DPC_F32, DPC_SUM, DPC_NONE, 250000, 1, x, x};
    std::fill(x, x + op.count, 1.f);
    if (int code = dpc_comm_barrier(comm))
      return code;
    auto begin = std::chrono::steady_clock::now();
    clock_t busy = clock();
    if (int code = dpc_comm_run(comm, &op)) // 1 MB at 10 MB/s: 2 (n-1)/n of it is 0.1 s
      return code;
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double cpu = double(clock() - busy) / CLOCKS_PER_SEC;
    std::snprintf(report.message, sizeof report.message, "%.3f s, %.3f s of processor time",
                  seconds, cpu);
    return seconds > 0.099 && seconds < 0.5 && cpu < 0.05 && x[1] == 2 ? 0 : 9;
  });
}

} // namespace
