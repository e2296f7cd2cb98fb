// The numbers that the host gives an entry arrive in the types of their
// buffers.
#include "runtime/src/program/Controls.h"
#include "test/runtime/TinyProgram.h"

using namespace dpc;
using namespace dpc::test;

namespace {

template <typename T> T at(Queue &queue, uint64_t offset) {
  T value = {};
  EXPECT_EQ(queue.download(&value, {DPC_SPACE_ARENA, offset}, sizeof value), DPC_OK);
  return value;
}

TEST(Controls, AreConvertedToTheTypeOfTheirBuffer) {
  TinyProgram tiny;
  const dpc_place_t places[] = {{DPC_SPACE_ARENA, 0, 0},   {DPC_SPACE_ARENA, 0, 64},
                                {DPC_SPACE_ARENA, 0, 128}, {DPC_SPACE_ARENA, 0, 192},
                                {DPC_SPACE_ARENA, 0, 256}, {DPC_SPACE_ARENA, 0, 384},
                                {DPC_NONE, 0, 0}};
  const dpc_control_t controls[] = {{DPC_CONTROL_STEP, DPC_I64, DPC_NONE, 0, places},
                                    {DPC_CONTROL_STEP, DPC_F32, DPC_NONE, 0, places + 1},
                                    {DPC_CONTROL_SEED, DPC_I64, DPC_NONE, 0, places + 2},
                                    {DPC_CONTROL_SEED, DPC_I32, DPC_NONE, 0, places + 3},
                                    {DPC_CONTROL_LEARNING_RATE, DPC_F32, DPC_NONE, 0, places + 4},
                                    {DPC_CONTROL_VALID_ROWS, DPC_F64, DPC_NONE, 0, places + 5},
                                    // This rank has no buffer for the last one.
                                    {DPC_CONTROL_SEED, DPC_I64, DPC_NONE, 0, places + 6}};
  tiny.program.controls = controls;
  tiny.program.control_count = 7;
  OneRank rank(tiny.program);
  Controls given;
  given.step = 41;
  given.seed = 0xfedcba9876543210;
  given.validRows = 3;
  given.learningRate = 0.1;
  ASSERT_EQ(uploadControls(tiny.program, 0, given, *rank.queue), DPC_OK);
  EXPECT_EQ(at<int64_t>(*rank.queue, 0), 41);
  EXPECT_EQ(at<float>(*rank.queue, 64), 41.f);
  EXPECT_EQ(at<uint64_t>(*rank.queue, 128), 0xfedcba9876543210);
  EXPECT_EQ(at<uint32_t>(*rank.queue, 192), 0x76543210u);
  EXPECT_EQ(at<float>(*rank.queue, 256), 0.1f);
  EXPECT_EQ(at<double>(*rank.queue, 384), 3);
}

// Ranks count their coordinates with the last axis fastest; a sequential axis
// is not one of them.
TEST(Controls, CoordinatesAreTheRanks) {
  TinyProgram tiny;
  const dpc_axis_t axes[] = {{"pipe", 2, 0}, {"micro", 4, 1}, {"data", 3, 0}, {"model", 2, 0}};
  const std::vector<dpc_place_t> places(12, {DPC_SPACE_ARENA, 0, 0});
  dpc_control_t control = {DPC_CONTROL_COORDINATE, DPC_I64, 0, 0, places.data()};
  tiny.program.axes = axes;
  tiny.program.axis_count = 4;
  tiny.program.controls = &control;
  tiny.program.control_count = 1;
  OneRank rank(tiny.program);
  const struct {
    uint32_t rank, axis;
    int64_t coordinate;
  } cases[] = {{0, 0, 0}, {5, 0, 0},  {6, 0, 1},  {11, 0, 1}, {1, 2, 0},
               {2, 2, 1}, {10, 2, 2}, {10, 3, 0}, {11, 3, 1}};
  for (const auto &each : cases) {
    control.axis = each.axis;
    ASSERT_EQ(uploadControls(tiny.program, each.rank, {}, *rank.queue), DPC_OK);
    EXPECT_EQ(at<int64_t>(*rank.queue, 0), each.coordinate)
        << "rank " << each.rank << " axis " << each.axis;
  }
}

} // namespace
