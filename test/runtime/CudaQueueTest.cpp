// Tests the behaviour that only a CudaQueue has, on the emulated device. It does no work
// other than that of the launch tables, chooses an image that the device can run, and lets a
// library compute products. QueueConformanceTest tests the contract of all queues.
#include "dpc/product.h"
#include "test/runtime/EveryQueue.h"

#include <filesystem>

using namespace dpc;
using namespace dpc::test;

namespace {

class CudaQueueTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("DPC_CUDA_LIBRARIES", EMULATOR, /*overwrite=*/1);
    setenv("DPC_EMU_CHECK", "1", /*overwrite=*/0);
  }
  CudaQueueTest() { tiny.program.device = &tables.device; }

  /// Runs function 0 for microbatch 1, whose input is the numbers 10 and 20. Returns the
  /// `count` numbers that are then at the address `at`.
  std::vector<double> compute(DeviceAddress at, uint64_t count = 2) {
    OneRank rank(tiny.program);
    std::vector<double> back(count);
    if (!rank.queue)
      return back;
    const double given[4] = {0, 0, 10, 20};
    bool isDone = false;
    EXPECT_EQ(rank.queue->upload({DPC_SPACE_ARENA, 0}, given, sizeof given), DPC_OK);
    EXPECT_EQ(rank.queue->begin(0, &isDone), DPC_OK);
    EXPECT_EQ(rank.queue->compute(0, 1, nullptr), DPC_OK) << dpc_last_error();
    EXPECT_EQ(rank.queue->finish(), DPC_OK) << dpc_last_error();
    EXPECT_EQ(rank.queue->download(back.data(), at, 8 * count), DPC_OK);
    return back;
  }
  /// The message with which makeQueue fails; "" if it succeeds.
  std::string refusal() {
    WorldOptions world(0, 1, "", RankMemory::sharedBytes(tiny.program, 0, /*isStaged=*/false));
    dpc_comm_t *comm = nullptr;
    RankMemory memory;
    std::unique_ptr<Queue> queue;
    EXPECT_EQ(dpc_comm_create("local", &world.options, &comm), DPC_OK);
    EXPECT_EQ(memory.open(tiny.program, *comm, /*isStaged=*/false), DPC_OK);
    const dpc_status_t status = makeQueue(tiny.program, *comm, memory, {}, &queue);
    const std::string said = status ? dpc_last_error() : "";
    queue.reset();
    dpc_comm_release(comm);
    return said;
  }

  CudaTables tables;
  TinyProgram tiny;
};

using Numbers = std::vector<double>;

// A queue of one rank has no communicator.
TEST_F(CudaQueueTest, RefusesCommunicationOfOneRank) {
  OneRank rank(tiny.program);
  dpc_comm_op_t sum = {DPC_OP_ALL_REDUCE, 0, 0, DPC_F64, DPC_SUM, DPC_NONE, 2, 7, nullptr, nullptr};
  EXPECT_EQ(rank.queue->start(sum, {DPC_SPACE_SHARED, 0}, {DPC_SPACE_SHARED, 0}, 1), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "the program has one rank, and communicates");
  EXPECT_EQ(rank.queue->wait(1), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "event 1 is waited for before its start");
}

// A queue takes all facts about its work from the tables, so each change of a table changes
// the results.
TEST_F(CudaQueueTest, AnEditedTableChangesTheRun) {
  tables.launches[1].threads = 1;
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}), Numbers({11, 0}));
  tables.launches[1].threads = 2;
  tables.params[3].offset = 1032;
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}, 3), Numbers({0, 11, 21}));
  tables.params[0].micro_stride = 0; // microbatch 1 has the place of microbatch 0
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}, 3), Numbers({0, 1, 1}));
  tables.launches[1].kind = DPC_LAUNCH_COPY;
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}, 3), Numbers({0, 0, 0}));
  tables.functions[0].count = 1;
  tables.params[0].micro_stride = 16;
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}, 3), Numbers({0, 0, 0}));
  EXPECT_EQ(compute({DPC_SPACE_SHARED, 64}), Numbers({10, 20}));
}

// The emulated device is an sm_80 and refuses all machine code.
TEST_F(CudaQueueTest, TakesAnImageThatTheDeviceRuns) {
  const dpc_image_t code = {DPC_IMAGE_CUBIN, 80, "\177ELF", 5},
                    ptx = {DPC_IMAGE_PTX, 80, kAddOne, sizeof kAddOne},
                    later = {DPC_IMAGE_PTX, 90, "no PTX", 7},
                    other = {DPC_IMAGE_CUBIN, 70, "no machine code", 16};
  for (const dpc_image_t &first : {code, later, other}) {
    tables.images[0] = first;
    tables.images[1] = ptx;
    EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}), Numbers({11, 21}));
  }
  tables.images[0] = later;
  tables.images[1] = {DPC_IMAGE_CUBIN, 90, "\177ELF", 5};
  EXPECT_EQ(refusal(), "the program is for devices from sm_90 on, this one is sm_80");
  tables.images[0] = code;
  tables.images[1] = {};
  EXPECT_NE(refusal().find("CUDA: loading kernel add_one: "), std::string::npos);
}

// The emulated sm_80 has 163 KiB for a block, 48 of them without asking.
TEST_F(CudaQueueTest, AsksForSharedMemory) {
  tables.launches[1].shared_bytes = 163 << 10;
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}), Numbers({11, 21}));
  tables.launches[1].shared_bytes = 164 << 10;
  EXPECT_EQ(refusal(),
            "kernel add_one: a block needs 167936 bytes of shared memory, and has 166912 "
            "on this sm_80: compile the program for older devices too (--cuda-arch)");
}

// A sixteenth of the memory is for libraries, here 256 MiB of 4 GiB. One byte more does not fit.
TEST_F(CudaQueueTest, LeavesMemoryToLibraries) {
  tiny.rank.arena_bytes = (3840ull << 20) - kSharedBytes + 1;
  EXPECT_EQ(refusal(),
            "the plan needs 3.75 GiB of the device's memory, of which 4.00 GiB are free, "
            "and 256.0 MiB must stay free for libraries");
}

/// A program whose function 0 multiplies two matrices of 2 x 2 by a library call. The kernel
/// of this launch computes something else, so the results show whether the library ran.
class CudaProductTest : public CudaQueueTest {
protected:
  CudaProductTest() {
    std::copy(std::begin(tables.params), std::end(tables.params), params);
    const uint64_t bytes[] = {32, 32, 32, 1024, 32};
    for (uint64_t i = 0; i < 5; ++i)
      params[5 + i] = {DPC_SPACE_ARENA, DPC_NONE, 4096 + 2048 * i, 0, 0, bytes[i]};
    params[5].offset = 0; // the input
    params[6].offset = 0;
    product.dtype = product.result_dtype = DPC_F64;
    product.batches = 1;
    product.rows = product.columns = product.depth = 2;
    product.a = {2, 0, 0, 0};
    product.b = {2, 0, 1, 0};
    product.d = {2, 0, 0, 0};
    tables.device.params = params;
    tables.device.param_count = 10;
    tables.device.calls = &call;
    tables.device.call_count = 1;
    tables.launches[1].kind = DPC_LAUNCH_CALL;
    tables.launches[1].first_call_param = 5;
    tables.launches[1].call_param_count = 4;
  }
  // [[0, 0], [10, 20]] times its own transpose.
  const DeviceAddress result = {DPC_SPACE_ARENA, 8192};
  dpc_param_t params[10];
  dpc_product_t product = {};
  dpc_library_call_t call = {DPC_CALL_PRODUCT, sizeof product, &product};
};

TEST_F(CudaProductTest, TheLibraryMakesIt) {
  EXPECT_EQ(compute(result, 4), Numbers({0, 0, 0, 500}));
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}), Numbers({0, 0}));
  product.a.transposed = 1;
  EXPECT_EQ(compute(result, 4), Numbers({0, 200, 0, 400}));
  product.b.transposed = 0;
  EXPECT_EQ(compute(result, 4), Numbers({100, 200, 200, 400}));
}

// The epilogue adds a matrix, here the input. The calls before the first step must not have
// changed it.
TEST_F(CudaProductTest, AddsToTheResult) {
  product.epilogue = DPC_EPILOGUE_ADD;
  tables.launches[1].call_param_count = 5;
  params[9] = params[5];
  EXPECT_EQ(compute(result, 4), Numbers({0, 0, 10, 520}));
}

// The matrices are aligned to 8 bytes only, the size of an element. The library must learn
// this, because it would otherwise choose an algorithm that needs a larger alignment.
TEST_F(CudaProductTest, KnowsHowBuffersAreAligned) {
  params[7].offset += 8;
  params[8].offset += 8;
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 8200}, 4), Numbers({0, 0, 0, 500}));
}

TEST_F(CudaProductTest, TheKernelMakesItWithoutALibrary) {
  const std::string folder = testing::TempDir() + "/driver-alone-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(EMULATOR "/libcuda.so.1", folder + "/libcuda.so.1");
  setenv("DPC_CUDA_LIBRARIES", folder.c_str(), 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(compute({DPC_SPACE_ARENA, 1024}), Numbers({11, 21}));
  EXPECT_EQ(compute(result, 4), Numbers({0, 0, 0, 0}));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("note: products of matrices are made by kernels: cuBLASLt is not there"),
            std::string::npos)
      << said;
  setenv("DPC_CUDA_LIBRARIES", EMULATOR, 1);
  std::filesystem::remove_all(folder);
}

} // namespace
