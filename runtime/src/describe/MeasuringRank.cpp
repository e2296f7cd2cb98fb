// Times operations between ranks, and computation while one is under way.
#include "runtime/src/describe/MeasuringRank.h"

#include "dpc/action.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <unistd.h>

namespace dpc {

namespace {

constexpr uint64_t kMostBytes = 8 << 20, kFewBytes = 512 << 10;
/// A link on which an all-reduce of kFewBytes takes longer gets no larger operation.
constexpr double kSlowLinkSeconds = 0.025;
/// A block has as many operations as take this long, so that clocks and meetings do not count.
constexpr double kBlockSeconds = 0.05;
constexpr int kMostRuns = 50;
/// Blocks are repeated for this long, but not more often. A rank that another program interrupts
/// spoils a block, so many short ones are better than a few.
constexpr double kSecondsPerOperation = 0.25;
constexpr int kMostRounds = 50;
/// Blocks of one operation that say how many make a block of that length.
constexpr int kTrials = 3;

enum Family : uint32_t { kWorld, kInside, kAcross };

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The computation that an operation may slow: a product whose operands stay in the caches, and an
/// update of values that do not.
class Computation {
public:
  Computation()
      : a(kExtent * kExtent, 1.f), b(a), c(a), values(kValues, 1.f), steps(kValues, 1.f) {}
  void run() {
    for (int i = 0; i < kExtent; ++i)
      for (int k = 0; k < kExtent; ++k)
        for (int j = 0; j < kExtent; ++j)
          c[i * kExtent + j] += a[i * kExtent + k] * b[k * kExtent + j];
    constexpr size_t kPart = kValues / 256;
    for (size_t i = at; i < at + kPart; ++i)
      values[i] -= 1e-3f * steps[i];
    at = (at + kPart) % kValues;
  }

private:
  static constexpr int kExtent = 64;
  static constexpr size_t kValues = 4 << 20;
  std::vector<float> a, b, c, values, steps;
  size_t at = 0;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

} // namespace

MeasuringRank::MeasuringRank(const DescribeOptions &options, uint32_t self,
                             const std::string &rendezvous)
    : hosts(options.hosts), perHost(options.ranks), members(hosts * perHost), across(members),
      memory(members.size(), 2 * kMostBytes + 4 * DPC_ALIGNMENT), rendezvous(rendezvous),
      token(options.token), listen(options.listen),
      transport(!options.transport.empty() ? options.transport
                : hosts > 1                ? ""
                                           : "local") {
  std::iota(members.begin(), members.end(), 0);
  for (uint32_t i = 0; i < members.size(); ++i)
    across[i] = i % hosts * perHost + i / hosts;
  families[kWorld] = {"world", 1, uint32_t(members.size()), members.data()};
  families[kInside] = {"host", hosts, perHost, members.data()};
  families[kAcross] = {"hosts", perHost, hosts, across.data()};
  place.struct_size = sizeof place;
  place.rank = self;
  place.world_size = uint32_t(members.size());
  place.family_count = 3;
  place.families = families;
  place.memory_bytes = memory.data();
  place.rendezvous = this->rendezvous.c_str();
  place.token = token.empty() ? nullptr : token.c_str();
  place.listen = listen.empty() ? nullptr : listen.c_str();
  place.listen_fd = self == 0 ? options.listenFd : -1;
  place.bandwidth = options.bandwidth;
  place.latency = options.latency;
}

dpc_status_t MeasuringRank::open() {
  void *pieces[3] = {};
  dpc_status_t status =
      dpc_comm_create(transport.empty() ? nullptr : transport.c_str(), &place, &comm);
  const uint64_t sizes[] = {kMostBytes, kMostBytes, sizeof *vote};
  for (int i = 0; i < 3 && status == DPC_OK; ++i)
    status = comm->vtable->allocate(comm, sizes[i], &pieces[i]);
  if (status)
    return status;
  from = static_cast<float *>(pieces[0]);
  to = static_cast<float *>(pieces[1]);
  vote = static_cast<double *>(pieces[2]);
  std::fill(from, from + kMostBytes / sizeof(float), 1.f);
  return DPC_OK;
}

/// Sets `value` to the sum of those of all ranks.
dpc_status_t MeasuringRank::add(double *value) {
  dpc_comm_op_t op = {};
  op.op = DPC_OP_ALL_REDUCE;
  op.dtype = DPC_F64;
  op.reduction = DPC_SUM;
  op.location = DPC_NONE;
  op.count = 1;
  op.buffer_id = DPC_CONTROL_BUFFER;
  op.in = op.out = vote;
  *vote = *value;
  if (dpc_status_t status = dpc_comm_run(comm, &op))
    return status;
  *value = *vote;
  return DPC_OK;
}

/// Sets `value` to that of rank 0.
dpc_status_t MeasuringRank::agree(double *value) {
  if (place.rank != 0)
    *value = 0;
  return add(value);
}

/// The index of this rank in its group.
uint32_t MeasuringRank::indexIn(uint32_t family) const {
  return family == kWorld    ? place.rank
         : family == kInside ? place.rank % perHost
                             : place.rank / perHost;
}

dpc_comm_op_t MeasuringRank::operation(uint32_t family, int what, uint64_t bytes) const {
  static const uint32_t kinds[] = {DPC_OP_ALL_REDUCE, DPC_OP_ALL_GATHER, DPC_OP_REDUCE_SCATTER,
                                   DPC_OP_ALL_TO_ALL};
  const uint32_t size = families[family].group_size;
  const uint32_t index = indexIn(family);
  const uint64_t count = bytes / sizeof(float), part = count / size;
  dpc_comm_op_t op = {};
  op.family = family;
  op.dtype = DPC_F32;
  op.reduction = DPC_SUM;
  op.peer = DPC_NONE;
  op.location = DPC_NONE;
  op.buffer_id = 1;
  op.in = from;
  op.out = to;
  if (what == kTimedMessage) {
    op.op = index == 0 ? DPC_OP_SEND : DPC_OP_RECV;
    op.peer = 1 - index;
    op.count = count;
    op.buffer_id = 2;
    return op;
  }
  op.op = kinds[what];
  op.count = what == kTimedAllReduce ? count : part;
  if (what == kTimedAllReduce)
    op.out = from;
  if (what == kTimedAllGather) // each rank's part of the result
    op.in = from + index * part;
  return op;
}

dpc_status_t MeasuringRank::run(const Way &way, int what, uint64_t bytes) {
  const uint32_t index = indexIn(way.family);
  // The other ranks only wait.
  if ((way.isAlone && place.rank % perHost != 0) || (what == kTimedMessage && index > 1))
    return DPC_OK;
  const dpc_comm_op_t op = operation(way.family, what, bytes);
  return dpc_comm_run(comm, &op);
}

/// Waits for all ranks. An emulated link does not delay it, as it does a barrier.
dpc_status_t MeasuringRank::meet() {
  double nothing = 0;
  return add(&nothing);
}

/// The seconds of one of `runs` operations, after which all ranks meet.
dpc_status_t MeasuringRank::block(const Way &way, int what, uint64_t bytes, int runs,
                                  double *outSeconds) {
  // A process that has slept gets a core at once, also if other programs are busy.
  ::usleep(1000);
  if (dpc_status_t status = meet())
    return status;
  const auto begin = Clock::now();
  for (int i = 0; i < runs; ++i)
    if (dpc_status_t status = run(way, what, bytes))
      return status;
  if (dpc_status_t status = meet())
    return status;
  *outSeconds = since(begin) / runs;
  return agree(outSeconds);
}

dpc_status_t MeasuringRank::leastSeconds(const Way &way, int what, uint64_t bytes, double *out) {
  double once = HUGE_VAL, all = 0;
  for (int i = 0; i < kTrials && all < kSecondsPerOperation; ++i) {
    double seconds = 0;
    if (dpc_status_t status = block(way, what, bytes, 1, &seconds))
      return status;
    once = std::clamp(seconds, 1e-9, once);
    all += seconds;
  }
  const int runs = int(std::clamp(kBlockSeconds / once, 1., double(kMostRuns)));
  *out = runs == 1 ? once : HUGE_VAL;
  all = 0;
  for (int round = 0; round < kMostRounds && all < kSecondsPerOperation; ++round) {
    double seconds = 0;
    if (dpc_status_t status = block(way, what, bytes, runs, &seconds))
      return status;
    *out = std::min(*out, seconds);
    all += seconds * runs;
  }
  return DPC_OK;
}

/// The large operations come first, because they touch all memory.
dpc_status_t MeasuringRank::measureWay(const Way &way, WayTimes *out) {
  for (int what = 0; what < kTimedOperations; ++what)
    if (dpc_status_t status = leastSeconds(way, what, largeBytes, &out->large[what]))
      return status;
  for (int what = 0; what < kTimedOperations; ++what)
    if (dpc_status_t status = leastSeconds(way, what, kSmallBytes, &out->small[what]))
      return status;
  return DPC_OK;
}

/// Compares the times of a computation that ends before an all-reduce of all ranks would, without
/// and with the all-reduce.
dpc_status_t MeasuringRank::measureSlowdown(double *out) {
  constexpr double kSeconds = 2, kLeastPairs = 3, kMostPairs = 15;
  constexpr double kLeastRuns = 4, kMostComputations = 1 << 10;
  Computation computation;
  const dpc_comm_op_t op = operation(kWorld, kTimedAllReduce, largeBytes);
  double moving = 0;
  if (dpc_status_t status = block({kWorld, false}, kTimedAllReduce, largeBytes, 1, &moving))
    return status;
  computation.run(); // touches its memory
  const auto begin = Clock::now();
  computation.run();
  double computing = since(begin);
  if (dpc_status_t status = agree(&computing))
    return status;
  const int runs =
      int(std::clamp(0.7 * moving / std::max(computing, 1e-9), kLeastRuns, kMostComputations));
  const int pairs = int(std::clamp(kSeconds / std::max(moving, 1e-9), kLeastPairs, kMostPairs));
  std::vector<double> without, with;
  for (int i = 0; i < 2 * pairs; ++i) {
    const bool isOverlapped = i % 2 == 1;
    if (dpc_status_t status = meet())
      return status;
    dpc_request_t request = 0;
    if (isOverlapped)
      if (dpc_status_t status = comm->vtable->start(comm, &op, &request))
        return status;
    const auto start = Clock::now();
    for (int run = 0; run < runs; ++run)
      computation.run();
    (isOverlapped ? with : without).push_back(since(start));
    if (isOverlapped)
      if (dpc_status_t status = comm->vtable->wait(comm, request))
        return status;
  }
  *out = std::max(1., median(with) / std::max(median(without), 1e-9));
  // The mean of all ranks.
  *out /= double(members.size());
  return add(out);
}

dpc_status_t MeasuringRank::measure(RankTimes *out) {
  if (dpc_status_t status = open())
    return status;
  const Way widest = {hosts > 1 ? uint32_t(kAcross) : uint32_t(kInside), false};
  double seconds = 0;
  for (int i = 0; i < 2; ++i) // the first operation touches memory
    if (dpc_status_t status = block(widest, kTimedAllReduce, kFewBytes, 1, &seconds))
      return status;
  out->largeBytes = largeBytes = seconds > kSlowLinkSeconds ? kFewBytes : kMostBytes;
  if (perHost > 1)
    if (dpc_status_t status = measureWay({kInside, false}, &out->inside))
      return status;
  if (hosts > 1) {
    if (dpc_status_t status = measureWay({kAcross, true}, &out->alone))
      return status;
    out->together = out->alone;
    if (perHost > 1)
      if (dpc_status_t status = measureWay({kAcross, false}, &out->together))
        return status;
  }
  return measureSlowdown(&out->slowdown);
}

} // namespace dpc
