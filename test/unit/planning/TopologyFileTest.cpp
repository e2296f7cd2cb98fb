// Topology files are read, and each bad one has one line.

#include "planning/TopologyFile.h"

#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace dpc;
using namespace llvm;

namespace {

const char *const kGood = R"({
  "name": "two hosts", "source": "none",
  "device": {"memory_GiB": 16, "memory_GB_per_s": 100, "launch_us": 2, "TFLOP_per_s": {"f32": 1.5}},
  "start_us": {"all_gather": 10},
  "levels": [{"name": "host", "size": 4, "GB_per_s": 50, "step_us": 1},
             {"name": "net", "size": 2, "GB_per_s": 5, "unit_GB_per_s": 10, "step_us": 3, "start_us": 7}]
})";

/// The error for kGood with `from` replaced by `to`.
std::string errorOf(StringRef from, StringRef to) {
  std::string text = kGood;
  const size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  text.replace(place, from.size(), to.str());
  Expected<Topology> topology = readTopology(text);
  return topology ? "" : toString(topology.takeError());
}

TEST(TopologyFile, IsRead) {
  Topology topology = cantFail(readTopology(kGood));
  EXPECT_EQ(topology.name, "two hosts");
  EXPECT_EQ(topology.countDevices(), 8);
  EXPECT_DOUBLE_EQ(topology.device.memoryBytes, 16. * (1 << 30));
  EXPECT_DOUBLE_EQ(topology.device.rateOf(NumberType::f32), 1.5e12);
  EXPECT_DOUBLE_EQ(topology.startSeconds[size_t(CollectiveKind::allGather)], 1e-5);
  EXPECT_DOUBLE_EQ(topology.startSeconds[size_t(CollectiveKind::allToAll)], 0);
  EXPECT_DOUBLE_EQ(topology.levels[1].unitBytesPerSecond, 1e10);
  EXPECT_DOUBLE_EQ(topology.levels[1].startSeconds, 7e-6);
}

TEST(TopologyFile, BadFilesHaveOneLine) {
  EXPECT_EQ(errorOf("\"two hosts\",", "\"two hosts\""),
            "this is not JSON: [2:23, byte=25]: Expected , or } after object property");
  EXPECT_EQ(errorOf("\"size\": 4, ", ""),
            "level 'host' has no size, which only the outermost level may leave out");
  EXPECT_EQ(errorOf("\"size\": 4", "\"size\": 0"),
            "level 0 has the size 0, which is not a whole number from 1 on");
  EXPECT_EQ(errorOf("\"size\": 4", "\"size\": 1.5"),
            "level 0 has the size 1.5, which is not a whole number from 1 on");
  EXPECT_EQ(errorOf("\"step_us\": 3", "\"step_ms\": 3"), "level 1 has the unknown key 'step_ms'");
  EXPECT_EQ(errorOf("\"step_us\": 3", "\"step_us\": 3, \"colour\": 1"),
            "level 1 has the unknown key 'colour'");
  EXPECT_EQ(errorOf("\"launch_us\": 2", "\"launch_us\": \"fast\""),
            "'device' has a 'launch_us' that is not a number");
  EXPECT_EQ(errorOf("{\"f32\": 1.5}", "7"), "'TFLOP_per_s' of 'device' is not an object");
  EXPECT_EQ(errorOf("\"all_gather\"", "\"all_gathers\""),
            "'start_us' has the unknown key 'all_gathers'");
  EXPECT_EQ(errorOf("\"f32\": 1.5", "\"f32\": -1"),
            "the device has the rate of f32 -1e+12, which must be above 0, and finite");
  EXPECT_EQ(errorOf("\"GB_per_s\": 5,", "\"GB_per_s\": 0,"),
            "level 'net' has the bandwidth 0, which must be above 0, and finite");
  EXPECT_EQ(errorOf("\"size\": 2", "\"size\": 10000000"),
            "level 'net' has the size 10000000, which must be 1 or more, and give at most 16777216 "
            "devices");
  EXPECT_EQ(errorOf("\"levels\": [", "\"levels\": 1, \"x\": ["),
            "the topology has no list 'levels'");
  EXPECT_EQ(errorOf("\"launch_us\": 2", "\"efficiency\": {\"sum\": {}}"),
            "'efficiency' of 'device' has the unknown key 'sum'");
  EXPECT_EQ(errorOf("\"launch_us\": 2", "\"efficiency\": {\"product\": {\"MB\": [1]}}"),
            "the efficiency of class 'product' has a 'MB' that is not a list of [size, share]");
  EXPECT_EQ(
      errorOf("\"launch_us\": 2", "\"efficiency\": {\"product\": {\"MB\": [[2, 1], [1, 1]]}}"),
      "the efficiency of class product has the size 1e+06 after 2e+06, which must be larger");
  EXPECT_EQ(
      errorOf("\"launch_us\": 2", "\"efficiency\": {\"copy\": {\"MB\": [[1, 0.1], [2, 0.2]]}}"),
      "the efficiency of class copy has the share 0.2 at the size 2e+06, after 0.1 at 1e+06: "
      "above 0.169315, larger kernels would take less time");
  EXPECT_EQ(
      errorOf("\"launch_us\": 2", "\"slowdown_of_communication\": 0.5"),
      "the device has the slow-down of communication 0.5, which must be 1 or more, and finite");
  EXPECT_EQ(errorOf("\"size\": 2", "\"shape\": \"line\""),
            "level 1 has a 'shape' that is none of switch, ring and torus");
}

TEST(TopologyFile, EveryFileOfTheProjectIsReadAndWrittenBack) {
  std::error_code code;
  int files = 0;
  for (sys::fs::directory_iterator file(PROJECT_ROOT "/topologies", code), end;
       file != end && !code; file.increment(code), ++files) {
    Expected<Topology> topology = readTopologyFile(file->path());
    ASSERT_TRUE(bool(topology)) << toString(topology.takeError());
    const json::Value object = toJson(*topology);
    EXPECT_EQ(object, toJson(cantFail(topologyFrom(object)))) << file->path();
  }
  EXPECT_FALSE(code) << code.message();
  EXPECT_GT(files, 5);
}

TEST(TopologyFile, AllKeysAreWrittenBack) {
  std::string text = kGood;
  const std::string device = "\"launch_us\": 2,";
  text.replace(text.find(device), device.size(),
               device + "\"slowdown_of_communication\": 1.25, \"efficiency\": {\"product\": "
                        "{\"GFLOP\": [[1, 0.5], [8, 1]], \"MB\": [[2, 0.25]]}},");
  const std::string level = "\"start_us\": 7";
  text.replace(text.find(level), level.size(), level + ", \"shape\": \"torus\", \"sums\": true");
  const std::string start = "\"all_gather\": 10";
  text.replace(text.find(start), start.size(), start + ", \"message\": 3");
  const Topology topology = cantFail(readTopology(text));
  const Topology again = cantFail(topologyFrom(toJson(topology)));
  for (const Topology *each : {&topology, &again}) {
    EXPECT_DOUBLE_EQ(each->device.slowdownOfCommunication, 1.25);
    EXPECT_DOUBLE_EQ(each->device.launchSeconds, 2e-6);
    EXPECT_DOUBLE_EQ(each->device.flopsEfficiency[size_t(KernelClass::product)].at(1e9), 0.5);
    EXPECT_DOUBLE_EQ(each->device.bytesEfficiency[size_t(KernelClass::product)].at(1e9), 0.25);
    EXPECT_DOUBLE_EQ(each->startSeconds[size_t(CollectiveKind::allGather)], 1e-5);
    EXPECT_DOUBLE_EQ(each->messageStartSeconds, 3e-6);
    EXPECT_TRUE(each->levels[1].sumsInNetwork);
    EXPECT_EQ(each->levels[1].shape, LevelShape::torus);
    EXPECT_DOUBLE_EQ(each->levels[1].unitBytesPerSecond, 1e10);
    EXPECT_DOUBLE_EQ(each->levels[0].stepSeconds, 1e-6);
    EXPECT_EQ(each->levels[0].size, 4);
  }
}

} // namespace
