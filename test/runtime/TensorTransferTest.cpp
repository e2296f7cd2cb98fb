// Tensors that lie in a rank's memory in pieces, there and back.
#include "runtime/src/device/TensorTransfer.h"
#include "test/runtime/TinyProgram.h"

#include <numeric>

using namespace dpc;
using namespace dpc::test;

namespace {

/// Counts what a device would be asked for.
class CountingQueue : public Queue {
public:
  explicit CountingQueue(Queue &queue) : queue(queue) {}
  dpc_status_t compute(uint32_t, uint32_t, const void *) override { return DPC_INVALID; }
  dpc_status_t start(dpc_comm_op_t, DeviceAddress, DeviceAddress, uint32_t) override {
    return DPC_INVALID;
  }
  dpc_status_t wait(uint32_t) override { return DPC_INVALID; }
  dpc_status_t zero(DeviceAddress, uint64_t) override { return DPC_INVALID; }
  dpc_status_t upload(DeviceAddress to, const void *from, uint64_t bytes) override {
    ++uploads;
    return queue.upload(to, from, bytes);
  }
  dpc_status_t download(void *to, DeviceAddress from, uint64_t bytes) override {
    ++downloads;
    return queue.download(to, from, bytes);
  }
  dpc_status_t finish() override { return queue.finish(); }

  int uploads = 0, downloads = 0;

private:
  Queue &queue;
};

class TensorTransfer : public testing::Test {
protected:
  TinyProgram tiny;
  OneRank rank{tiny.program};
  CountingQueue queue{*rank.queue};

  std::vector<float> floats(uint64_t offset, size_t count) {
    std::vector<float> out(count);
    rank.queue->download(out.data(), {DPC_SPACE_ARENA, offset}, count * 4);
    return out;
  }
};

/// Columns 2 and 3 of a tensor [3, 4], in a buffer of 3 columns whose last is
/// padding, or of 2.
dpc_placement_t columns(const dpc_run_t &run) { return {DPC_SPACE_ARENA, 1, 256, 9, 1, &run}; }
const dpc_run_t padded = {0, 2, 2, {3, 1}, {3, 0}, {4, 0}};
const dpc_run_t dense = {0, 2, 2, {3, 1}, {2, 0}, {4, 0}};

TEST_F(TensorTransfer, PiecesThatFollowEachOtherTravelTogether) {
  std::vector<double> whole(12);
  std::iota(whole.begin(), whole.end(), 0);
  const dpc_placement_t place = columns(dense);
  ASSERT_EQ(uploadTensor(queue, place, DPC_F32, DPC_F64, whole.data()), DPC_OK);
  EXPECT_EQ(queue.uploads, 1);
  EXPECT_EQ(floats(256, 6), (std::vector<float>{2, 3, 6, 7, 10, 11}));
  // Elements [3, 10) of the tensor, of which this rank has some.
  std::vector<float> back(7, -1);
  ASSERT_EQ(downloadTensor(queue, place, DPC_F32, 0, 3, 10, reinterpret_cast<char *>(back.data())),
            DPC_OK);
  EXPECT_EQ(back, (std::vector<float>{3, -1, -1, 6, 7, -1, -1}));
  EXPECT_EQ(queue.downloads, 1);
}

TEST_F(TensorTransfer, PaddingStaysAsItIs) {
  const std::vector<float> nines(9, 9);
  rank.queue->upload({DPC_SPACE_ARENA, 256}, nines.data(), 36);
  const std::vector<float> whole = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const dpc_placement_t place = columns(padded);
  ASSERT_EQ(uploadTensor(queue, place, DPC_F32, DPC_F32, whole.data()), DPC_OK);
  EXPECT_EQ(queue.uploads, 3);
  EXPECT_EQ(floats(256, 9), (std::vector<float>{2, 3, 9, 6, 7, 9, 10, 11, 9}));
  ASSERT_EQ(uploadSplat(queue, place, DPC_F32, 0.5), DPC_OK);
  EXPECT_EQ(floats(256, 9), (std::vector<float>{.5, .5, 9, .5, .5, 9, .5, .5, 9}));
  // The buffer of a later microbatch.
  std::vector<float> back(12, -1);
  rank.queue->upload({DPC_SPACE_ARENA, 320}, nines.data(), 36);
  ASSERT_EQ(downloadTensor(queue, place, DPC_F32, 64, 0, 12, reinterpret_cast<char *>(back.data())),
            DPC_OK);
  EXPECT_EQ(back, (std::vector<float>{-1, -1, 9, 9, -1, -1, 9, 9, -1, -1, 9, 9}));
}

// More than is carried at once.
TEST_F(TensorTransfer, LargeTensors) {
  const uint64_t count = 3 * (1u << 17) + 5;
  const dpc_run_t run = {0, 7, count, {1, 1}, {0, 0}, {0, 0}};
  const dpc_placement_t place = {DPC_SPACE_ARENA, 1, 0, count, 1, &run};
  std::vector<float> whole(count + 7);
  std::iota(whole.begin(), whole.end(), 0.f);
  ASSERT_EQ(uploadTensor(queue, place, DPC_F64, DPC_F32, whole.data()), DPC_OK);
  EXPECT_EQ(queue.uploads, 4);
  std::vector<double> back(count + 7, -1);
  ASSERT_EQ(
      downloadTensor(queue, place, DPC_F64, 0, 0, count + 7, reinterpret_cast<char *>(back.data())),
      DPC_OK);
  EXPECT_EQ(back[6], -1);
  for (uint64_t i : {uint64_t(7), uint64_t(1u << 17) + 6, uint64_t(1u << 17) + 7, count + 6})
    EXPECT_EQ(back[i], double(i));
  ASSERT_EQ(uploadSplat(queue, place, DPC_F64, 2), DPC_OK);
  ASSERT_EQ(rank.queue->download(back.data(), {DPC_SPACE_ARENA, (count - 1) * 8}, 8), DPC_OK);
  EXPECT_EQ(back[0], 2);
}

} // namespace
