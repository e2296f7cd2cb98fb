// Collectives of the emulated NCCL between processes, each with its device:
// results, orders of streams, ranks that disagree, fail, end or are aborted.
#include "test/cuda_emulator/tests/Emulated.h"

#include "test/runtime/ForkRanks.h"

#include <array>

using namespace dpc::cuda;
using namespace dpc::test;

namespace {

constexpr size_t kCount = 50000;

/// One rank: its device, and the communicator of all.
class Rank {
public:
  Rank(int rank, int ranks, const NcclId &id, int device)
      : rank(rank), ranks(ranks), device(device) {
    if (openNccl(nccl))
      TestDevice::stop(dpc_last_error());
    NcclConfig config;
    result = nccl.ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  }
  void must(NcclResult got) const {
    if (got != NcclResult::success)
      TestDevice::stop(nccl.ncclGetErrorString(got));
  }
  /// Waits for the error of what was started; success if all went well.
  NcclResult outcome() const {
    NcclResult error = NcclResult::success;
    device.synchronize();
    must(nccl.ncclCommGetAsyncError(comm, &error));
    return error;
  }

  int rank, ranks;
  TestDevice device;
  Nccl nccl;
  NcclComm comm = nullptr;
  NcclResult result;
};

void *pointer(const Buffer<float> &buffer, size_t element = 0) {
  return reinterpret_cast<void *>(buffer.pointer + element * sizeof(float));
}

/// Runs `body` as each rank; EXPECTs that all end with 0.
std::vector<RankResult> runRanks(int ranks, const Variables &variables,
                                 const std::function<int(Rank &)> &body, bool ownDevices = true) {
  NcclId id = {};
  std::snprintf(id.bytes, sizeof id.bytes, "/dpc-test-nccl-%d-%u", getpid(),
                static_cast<unsigned>(std::random_device()()));
  return forkRanks(static_cast<uint32_t>(ranks), [&](uint32_t rank, RankReport &) {
    alarm(60);
    setenv("DPC_CUDA_LIBRARIES", EMULATOR, 1);
    setenv("DPC_EMU_DEVICES", "8", 1);
    for (const auto &[name, value] : variables)
      setenv(("DPC_EMU_" + name).c_str(), value.c_str(), 1);
    Rank self(static_cast<int>(rank), ranks, id, ownDevices ? static_cast<int>(rank) : 0);
    return body(self);
  });
}

void expectAllWell(int ranks, const Variables &variables, const std::function<int(Rank &)> &body) {
  for (const RankResult &result : runRanks(ranks, variables, body))
    EXPECT_EQ(result.exitCode, 0) << result.message;
}

std::vector<float> valuesOf(int rank) {
  std::vector<float> values(kCount);
  for (size_t i = 0; i < kCount; ++i)
    values[i] = static_cast<float>(rank) + static_cast<float>(i % 17);
  return values;
}

float sumAt(size_t i, int ranks) {
  return static_cast<float>(ranks) * static_cast<float>(i % 17) +
         static_cast<float>(ranks) * static_cast<float>(ranks - 1) / 2;
}

int everyCollective(Rank &self) {
  const auto n = static_cast<size_t>(self.ranks);
  const size_t part = kCount / n;
  Buffer<float> in(self.device, valuesOf(self.rank)), out(self.device, kCount),
      all(self.device, kCount * n), piece(self.device, part), ring(self.device, kCount),
      reduced(self.device, kCount);
  const auto stream = self.device.stream;
  const auto f32 = NcclType::f32;
  const auto sum = NcclReduction::sum;
  self.must(
      self.nccl.ncclAllReduce(pointer(in), pointer(out), kCount, f32, sum, self.comm, stream));
  self.must(self.nccl.ncclAllGather(pointer(in), pointer(all), kCount, f32, self.comm, stream));
  self.must(
      self.nccl.ncclReduceScatter(pointer(in), pointer(piece), part, f32, sum, self.comm, stream));
  self.must(self.nccl.ncclReduce(pointer(in), pointer(reduced), kCount, f32, NcclReduction::max, 0,
                                 self.comm, stream));
  self.must(self.nccl.ncclGroupStart());
  self.must(self.nccl.ncclSend(pointer(in), kCount, f32, (self.rank + 1) % self.ranks, self.comm,
                               stream));
  self.must(self.nccl.ncclRecv(pointer(ring), kCount, f32,
                               (self.rank + self.ranks - 1) % self.ranks, self.comm, stream));
  self.must(self.nccl.ncclGroupEnd());
  self.must(self.nccl.ncclBroadcast(pointer(in), pointer(in), kCount, f32, self.ranks - 1,
                                    self.comm, stream));
  std::vector<float> sums(kCount), maxima(kCount), gathered, pieces(part);
  for (size_t i = 0; i < kCount; ++i) {
    sums[i] = sumAt(i, self.ranks);
    maxima[i] = static_cast<float>(self.ranks - 1) + static_cast<float>(i % 17);
  }
  for (int r = 0; r < self.ranks; ++r)
    for (float value : valuesOf(r))
      gathered.push_back(value);
  for (size_t i = 0; i < part; ++i)
    pieces[i] = sumAt(static_cast<size_t>(self.rank) * part + i, self.ranks);
  return compare("all-reduce", out.get(), sums, 0) + compare("all-gather", all.get(), gathered, 0) +
         compare("reduce-scatter", piece.get(), pieces, 0) +
         (self.rank == 0 ? compare("reduce", reduced.get(), maxima, 0) : 0) +
         compare("ring", ring.get(), valuesOf((self.rank + self.ranks - 1) % self.ranks), 0) +
         compare("broadcast", in.get(), valuesOf(self.ranks - 1), 0);
}

TEST(EmulatedNccl, EveryCollective) {
  for (int ranks : {1, 2, 3, 4})
    for (const char *stream : {"async", "eager", "lazy", "lazy-newest"}) {
      SCOPED_TRACE(std::string(stream) + ", ranks: " + std::to_string(ranks));
      expectAllWell(ranks, {{"STREAM", stream}}, everyCollective);
    }
}

TEST(EmulatedNccl, MovesNothingIfSomeBlocksRun) {
  expectAllWell(2, {{"BLOCKS", "1"}}, [](Rank &self) {
    Buffer<float> in(self.device, valuesOf(self.rank + 1)), sum(self.device, kCount),
        received(self.device, kCount);
    const auto stream = self.device.stream;
    self.must(self.nccl.ncclAllReduce(pointer(in), pointer(sum), kCount, NcclType::f32,
                                      NcclReduction::sum, self.comm, stream));
    self.must(self.nccl.ncclGroupStart());
    self.must(
        self.nccl.ncclSend(pointer(in), kCount, NcclType::f32, 1 - self.rank, self.comm, stream));
    self.must(self.nccl.ncclRecv(pointer(received), kCount, NcclType::f32, 1 - self.rank, self.comm,
                                 stream));
    self.must(self.nccl.ncclGroupEnd());
    if (self.outcome() != NcclResult::success)
      return 1;
    const std::vector<float> zeros(kCount);
    return compare("sum", sum.get(), zeros, 0) + compare("received", received.get(), zeros, 0);
  });
}

TEST(EmulatedNccl, InPlace) {
  expectAllWell(3, {}, [](Rank &self) {
    const size_t part = 1000;
    std::vector<float> mine(part * 3);
    for (size_t i = 0; i < mine.size(); ++i)
      mine[i] = static_cast<float>(self.rank + 1) * static_cast<float>(i);
    Buffer<float> buffer(self.device, mine);
    const size_t own = static_cast<size_t>(self.rank) * part;
    self.must(self.nccl.ncclReduceScatter(pointer(buffer), pointer(buffer, own), part,
                                          NcclType::f32, NcclReduction::sum, self.comm,
                                          self.device.stream));
    self.must(self.nccl.ncclAllGather(pointer(buffer, own), pointer(buffer), part, NcclType::f32,
                                      self.comm, self.device.stream));
    std::vector<float> expected(mine.size());
    for (size_t i = 0; i < mine.size(); ++i)
      expected[i] = 6.0f * static_cast<float>(i);
    return compare("in place", buffer.get(), expected, 0);
  });
}

TEST(EmulatedNccl, SplitsByColour) {
  expectAllWell(4, {}, [](Rank &self) {
    NcclComm half = nullptr;
    NcclConfig config;
    // Keys turn the order of ranks around.
    self.must(self.nccl.ncclCommSplit(self.comm, self.rank % 2, -self.rank, &half, &config));
    int rank = -1, ranks = 0;
    self.must(self.nccl.ncclCommUserRank(half, &rank));
    self.must(self.nccl.ncclCommCount(half, &ranks));
    if (ranks != 2 || rank != (self.rank < 2 ? 1 : 0))
      return 2;
    Buffer<float> value(self.device, std::vector<float>{static_cast<float>(self.rank)});
    self.must(self.nccl.ncclAllReduce(pointer(value), pointer(value), 1, NcclType::f32,
                                      NcclReduction::sum, half, self.device.stream));
    return compare("sum of a half", value.get(), {self.rank % 2 ? 4.0f : 2.0f}, 0);
  });
}

TEST(EmulatedNccl, StartsWithoutBlocking) {
  expectAllWell(2, {}, [](Rank &self) {
    NcclComm other = nullptr;
    NcclConfig config;
    config.blocking = 0;
    self.must(self.nccl.ncclCommSplit(self.comm, 0, self.rank, &other, &config));
    // The whole is in progress until the part is there.
    NcclResult result = NcclResult::inProgress;
    if (other || self.nccl.ncclCommSplit(self.comm, 0, self.rank, &other, &config) !=
                     NcclResult::invalidArgument)
      return 100;
    for (int round = 0; result == NcclResult::inProgress && round < 5000; ++round) {
      usleep(1000);
      self.must(self.nccl.ncclCommGetAsyncError(self.comm, &result));
    }
    return other ? static_cast<int>(result) : 101;
  });
}

TEST(EmulatedNccl, RefusesTwoRanksOnOneDevice) {
  for (const RankResult &result : runRanks(
           2, {}, [](Rank &self) { return self.result == NcclResult::invalidUsage ? 0 : 1; },
           false))
    EXPECT_EQ(result.exitCode, 0);
}

/// An all-reduce that must end with this error on every rank that takes part.
int reduceExpecting(Rank &self, size_t count, NcclResult error) {
  Buffer<float> buffer(self.device, std::vector<float>(2000));
  self.must(self.nccl.ncclAllReduce(pointer(buffer), pointer(buffer), count, NcclType::f32,
                                    NcclReduction::sum, self.comm, self.device.stream));
  return self.outcome() == error ? 0 : 1;
}

TEST(EmulatedNccl, NamesRanksThatDisagree) {
  expectAllWell(3, {}, [](Rank &self) {
    return reduceExpecting(self, self.rank == 1 ? 1999 : 2000, NcclResult::invalidUsage);
  });
}

TEST(EmulatedNccl, NoticesARankThatEnds) {
  expectAllWell(3, {}, [](Rank &self) {
    if (self.rank == 0)
      _exit(0);
    return reduceExpecting(self, 2000, NcclResult::remoteError);
  });
}

TEST(EmulatedNccl, NoticesARankThatDoesNotCome) {
  expectAllWell(2, {{"NCCL_TIMEOUT_S", "1"}}, [](Rank &self) {
    if (self.rank == 0) {
      sleep(3);
      return 0;
    }
    return reduceExpecting(self, 2000, NcclResult::remoteError);
  });
}

TEST(EmulatedNccl, FailsWhereItIsAskedTo) {
  expectAllWell(2, {{"NCCL_FAIL", "1:1"}, {"NCCL_TIMEOUT_S", "1"}}, [](Rank &self) {
    return reduceExpecting(self, 2000,
                           self.rank == 1 ? NcclResult::systemError : NcclResult::remoteError);
  });
}

TEST(EmulatedNccl, AnAbortedRankWaitsNoLonger) {
  expectAllWell(2, {}, [](Rank &self) {
    if (self.rank == 0) {
      sleep(2);
      return 0;
    }
    Buffer<float> buffer(self.device, std::vector<float>(2000));
    self.must(self.nccl.ncclAllReduce(pointer(buffer), pointer(buffer), 2000, NcclType::f32,
                                      NcclReduction::sum, self.comm, self.device.stream));
    self.must(self.nccl.ncclCommAbort(self.comm));
    self.device.synchronize();
    return 0;
  });
}

TEST(EmulatedNccl, RefusesBuffersThatOverlap) {
  const auto results = runRanks(2, {}, [](Rank &self) {
    Buffer<float> buffer(self.device, std::vector<float>(2000));
    self.nccl.ncclAllReduce(pointer(buffer), pointer(buffer, 1), 1000, NcclType::f32,
                            NcclReduction::sum, self.comm, self.device.stream);
    return 0;
  });
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 97);
}

} // namespace
