// The kinds of queues as parameters of tests, and a program that all of them can run. A
// test that has these parameters runs once for each kind of queue.
#ifndef DPC_TEST_RUNTIME_EVERYQUEUE_H
#define DPC_TEST_RUNTIME_EVERYQUEUE_H

#include "test/runtime/TinyProgram.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dpc::test {

/// A kind of queue, with the options under which a test uses it.
struct QueueKind {
  std::string name;
  enum { host, shadow, cuda } type;
  bool keepsEntries = true; ///< QueueOptions::keepsEntries
  bool isStaged = false;    ///< QueueOptions::isStaged
  const char *streams = ""; ///< cuda: DPC_EMU_STREAM, which decides when the emulated device
                            ///< does the work of its streams
};

inline void PrintTo(const QueueKind &kind, std::ostream *os) { *os << kind.name; }

inline std::vector<QueueKind> queueKinds() {
  return {{"Host", QueueKind::host},
          {"Shadow", QueueKind::shadow},
          {"Cuda", QueueKind::cuda},
          {"CudaLazy", QueueKind::cuda, true, false, "lazy"},
          {"CudaLazyNewest", QueueKind::cuda, false, false, "lazy-newest"},
          {"CudaWithoutGraphs", QueueKind::cuda, false},
          {"CudaStaged", QueueKind::cuda, true, true},
          {"CudaStagedWithoutGraphs", QueueKind::cuda, false, true}};
}

/// PTX of a kernel in which thread i adds 1 to double i of `from` and stores it to `to`.
constexpr char kAddOne[] = R"(.version 7.5
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<8>;
  .reg .f64 %fd<3>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd5, %r1, 8;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f64 %fd1, [%rd6];
  add.rn.f64 %fd2, %fd1, 0d3FF0000000000000;
  st.global.f64 [%rd7], %fd2;
  ret;
}
)";

/// The tables of TinyDevice, changed for a CUDA device: the kernel is PTX.
struct CudaTables : TinyDevice {
  CudaTables() {
    device.kind = DPC_DEVICE_CUDA;
    kernels[0].images = images;
    kernels[0].symbol = "add_one";
    launches[1].blocks = 1;
    launches[1].threads = 2;
  }
  dpc_image_t images[3] = {{DPC_IMAGE_PTX, 80, kAddOne, sizeof kAddOne}, {}, {}};
};

/// A program of several ranks with four functions, for any kind of queue. Let i be the
/// index of a rank in its group. For microbatch m, the functions of this rank do the
/// following:
///
/// 0: copies two doubles from kGiven + 16 m to kOwn + 16 i, adds 1 to the two
///    doubles at kOwn, writes the sums to kSums, and writes 100 + 10 m to kNumber
/// 1: adds 1 to the doubles at kSums, and writes the sums to kSent
/// 2: adds 1 to the doubles at kOwn, and writes the sums to kSums
/// 3: fails on the host. On a device it does the same as function 2, because a launch
///    cannot return a failure
struct QueueProgram : TinyProgram {
  static constexpr DeviceAddress kGiven = {DPC_SPACE_ARENA, 0}, kSums = {DPC_SPACE_ARENA, 1024},
                                 kNumber = {DPC_SPACE_ARENA, 2048}, kOwn = {DPC_SPACE_SHARED, 64},
                                 kSent = {DPC_SPACE_SHARED, 128},
                                 kReceived = {DPC_SPACE_SHARED, 192};

  QueueProgram(const QueueKind &kind, uint32_t rankCount)
      : allRanks(rankCount, rank), allMembers(rankCount) {
    for (uint32_t r = 0; r < rankCount; ++r)
      allMembers[r] = r;
    program.world_size = rankCount;
    program.ranks = allRanks.data();
    family = {"world", 1, rankCount, allMembers.data()};
    program.functions = allFunctions;
    program.function_count = 4;
    if (kind.type == QueueKind::host)
      return;
    std::copy(std::begin(tables.params), std::end(tables.params), params);
    params[5] = params[3]; // kSums
    params[6] = {kSent.space, DPC_NONE, kSent.offset, 0, 0, 16};
    std::copy(std::begin(tables.launches), std::end(tables.launches), launches);
    launches[3] = launches[1];
    launches[3].first_param = 5;
    tables.device.kind = kind.type == QueueKind::cuda ? DPC_DEVICE_CUDA : DPC_DEVICE_HOST;
    tables.device.params = params;
    tables.device.param_count = 7;
    tables.device.launches = launches;
    tables.device.launch_count = 4;
    tables.device.functions = launchesOf;
    program.device = &tables.device;
  }

  dpc_rank_t &ownRank(uint32_t index) { return allRanks[index]; }

private:
  static void addOne(dpc_call_t *call, DeviceAddress from, DeviceAddress to) {
    char *buffers[2] = {call->base[from.space] + from.offset, call->base[to.space] + to.offset};
    TinyDevice::addOne(buffers);
  }
  static int32_t copyAndAdd(dpc_call_t *call) {
    std::memcpy(call->base[kOwn.space] + kOwn.offset + 16 * call->group_index[0],
                call->base[kGiven.space] + kGiven.offset + 16 * call->micro, 16);
    addOne(call, kOwn, kSums);
    const int64_t number = 100 + 10 * call->micro;
    std::memcpy(call->base[kNumber.space] + kNumber.offset, &number, sizeof number);
    return DPC_OK;
  }
  static int32_t addToSums(dpc_call_t *call) {
    addOne(call, kSums, kSent);
    return DPC_OK;
  }
  static int32_t addToOwn(dpc_call_t *call) {
    addOne(call, kOwn, kSums);
    return DPC_OK;
  }
  static int32_t failAtOnce(dpc_call_t *) { return DPC_NUMERIC; }

  std::vector<dpc_rank_t> allRanks;
  std::vector<uint32_t> allMembers;
  const dpc_function_t allFunctions[4] = {{copyAndAdd, "copy and add", 0, 0, 0, 0},
                                          {addToSums, "add to sums", 0, 1, 0, 0},
                                          {addToOwn, "add to own", 0, 2, 0, 0},
                                          {failAtOnce, "fail", 0, 3, 0, 0}};
  CudaTables tables;
  dpc_param_t params[7];
  dpc_launch_t launches[4];
  dpc_launches_t launchesOf[4] = {{0, 3}, {3, 1}, {1, 1}, {1, 1}};
};

/// One rank of a QueueProgram, and its queue. If an error occurs, `queue` is null, and the test
/// fails unless it has changed the rank by `edit`.
struct QueueRank {
  QueueRank(const QueueKind &kind, uint32_t index, uint32_t rankCount, const std::string &directory,
            double timeoutSeconds, const std::function<void(dpc_rank_t &)> &edit = {})
      : index(index), tiny(kind, rankCount),
        world(index, rankCount, "file://" + directory,
              RankMemory::sharedBytes(tiny.program, index, kind.isStaged)) {
    setenv("DPC_CUDA_LIBRARIES", EMULATOR, /*overwrite=*/1);
    setenv("DPC_EMU_CHECK", "1", /*overwrite=*/0);
    if (*kind.streams)
      setenv("DPC_EMU_STREAM", kind.streams, /*overwrite=*/1);
    QueueOptions options;
    options.keepsEntries = kind.keepsEntries;
    options.isStaged = kind.isStaged;
    if (edit)
      edit(tiny.ownRank(index));
    world.options.timeout_seconds = options.timeoutSeconds = timeoutSeconds;
    if (dpc_comm_create("local", &world.options, &comm) ||
        memory.open(tiny.program, *comm, kind.isStaged) ||
        makeQueue(tiny.program, *comm, memory, options, &queue))
      failure = dpc_last_error();
    if (!failure.empty() && !edit)
      ADD_FAILURE() << failure;
  }
  ~QueueRank() {
    queue.reset();
    if (comm)
      dpc_comm_release(comm);
  }

  const uint32_t index;
  std::string failure;
  QueueProgram tiny;
  WorldOptions world;
  dpc_comm_t *comm = nullptr;
  RankMemory memory;
  std::unique_ptr<Queue> queue;
};

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_EVERYQUEUE_H
