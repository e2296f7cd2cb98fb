// Times of collectives against measured ones, and their properties.

#include "planning/CollectiveTimes.h"

#include "planning/TopologyFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace dpc;
using namespace llvm;

namespace {

std::string contentsOf(const std::string &path) {
  auto file = MemoryBuffer::getFile(PROJECT_ROOT "/" + path);
  EXPECT_TRUE(bool(file)) << path;
  return (*file)->getBuffer().str();
}

Topology readFile(const std::string &path) { return cantFail(readTopology(contentsOf(path))); }

/// The places of the first `ranks` devices of each of the first `hosts` hosts.
GroupPlaces placesOn(const Topology &topology, int64_t hosts, int64_t ranks) {
  SmallVector<int64_t> members;
  for (int64_t host = 0; host < hosts; ++host)
    for (int64_t rank = 0; rank < ranks; ++rank)
      members.push_back(host * topology.levels[0].size + rank);
  return {topology, members};
}

CollectiveTime ringTime(const Topology &topology, CollectiveKind kind, int64_t hosts,
                        int64_t ranks) {
  // An all-to-all is direct.
  const auto algorithm =
      kind == CollectiveKind::allToAll ? CollectiveAlgorithm::direct : CollectiveAlgorithm::rings;
  return *timeOf(topology, kind, algorithm, placesOn(topology, hosts, ranks));
}

/// The time of an all-reduce of `bytes` bytes.
double secondsOf(const Topology &topology, const GroupPlaces &places, CollectiveAlgorithm algorithm,
                 double bytes) {
  return timeOf(topology, CollectiveKind::allReduce, algorithm, places)->seconds(bytes);
}

double median(std::vector<double> values) {
  llvm::sort(values);
  return values[values.size() / 2];
}

struct Errors {
  std::vector<double> bandwidth, start;
};

/// The relative errors of h100-roce.json for the measured shapes of `collective`, except the two
/// from which it was made.
Errors errorsOf(StringRef collective, CollectiveKind kind,
                ArrayRef<std::pair<int64_t, int64_t>> calibrated) {
  const Topology topology = readFile("topologies/h100-roce.json");
  const json::Value table = cantFail(json::parse(contentsOf("test/planner/collectives-h100.json")));
  Errors errors;
  for (const json::Value &value : *table.getAsObject()->getArray("rows")) {
    const json::Object &row = *value.getAsObject();
    const std::pair<int64_t, int64_t> shape(*row.getInteger("nodes"),
                                            *row.getInteger("ranks_per_node"));
    if (row.getString("collective") != collective || llvm::is_contained(calibrated, shape))
      continue;
    const CollectiveTime time = ringTime(topology, kind, shape.first, shape.second);
    errors.bandwidth.push_back(
        std::abs(time.bytesPerSecond / 1e9 / *row.getNumber("GB_per_s") - 1));
    errors.start.push_back(std::abs(time.startSeconds * 1e6 / *row.getNumber("start_us") - 1));
  }
  return errors;
}

/// The most that predictions may be off, in the median and at worst.
void expectFit(const Errors &errors) {
  ASSERT_EQ(errors.bandwidth.size(), 21u);
  EXPECT_LE(median(errors.bandwidth), 0.08);
  EXPECT_LE(*llvm::max_element(errors.bandwidth), 0.50);
  EXPECT_LE(median(errors.start), 0.20);
}

TEST(CollectiveTimes, FitMeasuredAllGathers) {
  expectFit(errorsOf("all_gather", CollectiveKind::allGather, {{1, 8}, {32, 8}}));
}

TEST(CollectiveTimes, FitMeasuredAllToAlls) {
  expectFit(errorsOf("all_to_all", CollectiveKind::allToAll, {{1, 8}, {4, 4}}));
}

/// Two hosts of four devices: 100 and 10 bytes in a second, 1 and 2 seconds a step, 5 to cross.
Topology small() {
  Topology topology;
  topology.levels = {{"host", 4, 100, 0, 1, 0}, {"network", 2, 10, 0, 2, 5}};
  topology.startSeconds = {3, 3, 3, 3};
  return topology;
}

TEST(CollectiveTimes, RingsShareTheBorderOfAUnit) {
  const CollectiveTime time = ringTime(small(), CollectiveKind::allGather, 2, 4);
  EXPECT_DOUBLE_EQ(time.bytesPerSecond, 4 * 10 * 8. / 7); // all four devices of a host send
  EXPECT_DOUBLE_EQ(time.startSeconds, 3 + 5 + 7 * 2);
  const CollectiveTime both = ringTime(small(), CollectiveKind::allReduce, 2, 4);
  EXPECT_DOUBLE_EQ(both.bytesPerSecond, time.bytesPerSecond / 2);
  EXPECT_DOUBLE_EQ(both.startSeconds, 3 + 5 + 2 * 7 * 2);
}

TEST(CollectiveTimes, DirectPartsPassEachLevelThatSeparatesThem) {
  const Topology topology = small();
  const GroupPlaces places = placesOn(topology, 2, 4);
  const CollectiveTime time =
      *timeOf(topology, CollectiveKind::allGather, CollectiveAlgorithm::direct, places);
  EXPECT_DOUBLE_EQ(time.bytesPerSecond, 10 * 8. / 4); // half of a member's bytes leave its host
}

TEST(CollectiveTimes, AGroupUsesOnlyTheLevelsBetweenItsMembers) {
  const Topology topology = small();
  EXPECT_DOUBLE_EQ(ringTime(topology, CollectiveKind::allGather, 1, 4).startSeconds, 3 + 3 * 1);
  EXPECT_DOUBLE_EQ(ringTime(topology, CollectiveKind::allGather, 2, 1).bytesPerSecond, 20);
  EXPECT_FALSE(placesOn(topology, 2, 1).crosses(0));
}

TEST(CollectiveTimes, DevicesShareTheConnectionOfTheirUnit) {
  Topology topology = small();
  topology.levels[1].unitBytesPerSecond = 20;
  EXPECT_DOUBLE_EQ(ringTime(topology, CollectiveKind::allGather, 2, 4).bytesPerSecond, 20 * 8. / 7);
  EXPECT_DOUBLE_EQ(ringTime(topology, CollectiveKind::allGather, 2, 1).bytesPerSecond, 20);
}

TEST(CollectiveTimes, GroupsThatSendAtTheSameTimeShareAConnection) {
  Topology topology = small();
  topology.levels[1].unitBytesPerSecond = 20;
  const GroupPlaces one = placesOf(topology, {{0, 4}}).front(),
                    four = placesOf(topology, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}).front();
  EXPECT_EQ(four.sharing, (SmallVector<int64_t>{1, 4}));
  EXPECT_DOUBLE_EQ(secondsOf(topology, one, CollectiveAlgorithm::rings, 100),
                   3 + 5 + 2 * (2 + 50 / 10.));
  EXPECT_DOUBLE_EQ(secondsOf(topology, four, CollectiveAlgorithm::rings, 100),
                   3 + 5 + 2 * (2 + 50 / 5.));
}

// Chains of four members, and trees of two hosts: up and down, each byte passes each border once.
TEST(CollectiveTimes, TreesTakeFewSteps) {
  EXPECT_DOUBLE_EQ(secondsOf(small(), placesOn(small(), 2, 4), CollectiveAlgorithm::trees, 100),
                   3 + 5 + 2 * (3 * 1 + 1 * 2 + 100 / 40.));
}

TEST(CollectiveTimes, LevelsFollowEachOtherInAHierarchy) {
  EXPECT_DOUBLE_EQ(
      secondsOf(small(), placesOn(small(), 2, 4), CollectiveAlgorithm::hierarchical, 100),
      3 + 5 + 2 * (3 * 1 + 0.75 * 100 / 100 + 1 * 2 + 0.5 * 100 / 40));
}

TEST(CollectiveTimes, SwitchesThatSumPassBytesOnce) {
  Topology topology = small();
  const GroupPlaces inside = placesOn(topology, 1, 4), both = placesOn(topology, 2, 4);
  auto time = [&](const GroupPlaces &places, CollectiveKind kind) {
    return timeOf(topology, kind, CollectiveAlgorithm::inNetwork, places);
  };
  EXPECT_FALSE(time(inside, CollectiveKind::allReduce));
  topology.levels[0].sumsInNetwork = true;
  EXPECT_DOUBLE_EQ(time(inside, CollectiveKind::allReduce)->seconds(100), 3 + 2 * 1 + 100 / 100.);
  EXPECT_FALSE(time(both, CollectiveKind::allReduce)); // all levels must sum
  EXPECT_FALSE(time(inside, CollectiveKind::allToAll));
}

TEST(CollectiveTimes, NcclTakesTheFastestAlgorithm) {
  const Topology topology = small();
  const GroupPlaces places = placesOn(topology, 2, 4);
  double least = std::numeric_limits<double>::infinity();
  for (auto algorithm :
       {CollectiveAlgorithm::rings, CollectiveAlgorithm::trees, CollectiveAlgorithm::hierarchical})
    least = std::min(least, secondsOf(topology, places, algorithm, 100));
  EXPECT_DOUBLE_EQ(
      collectiveSeconds(topology, Transport::nccl, CollectiveKind::allReduce, places, 100), least);
  EXPECT_DOUBLE_EQ(
      collectiveSeconds(topology, Transport::wires, CollectiveKind::allReduce, places, 100),
      secondsOf(topology, places, CollectiveAlgorithm::direct, 100));
}

TEST(CollectiveTimes, DirectPartsPassSeveralConnectionsOfARing) {
  Topology topology = makeFlatTopology("ring", {}, 10, 0);
  LinkLevel &level = topology.levels.front();
  level.size = 8;
  auto seconds = [&] {
    const GroupPlaces all(topology, {0, 1, 2, 3, 4, 5, 6, 7});
    return collectiveSeconds(topology, Transport::wires, CollectiveKind::allToAll, all, 80);
  };
  EXPECT_DOUBLE_EQ(seconds(), 7);
  level.shape = LevelShape::ring; // distances 1 1 2 2 3 3 4
  EXPECT_DOUBLE_EQ(seconds(), 7 * 16 / 7.);
  level.shape = LevelShape::torus; // two rows of four: 1 1 2 of a row, and one more each, and 1
  EXPECT_DOUBLE_EQ(seconds(), 7 * 12 / 7.);
}

TEST(CollectiveTimes, AGroupOfOneOnlyStarts) {
  const Topology topology = small();
  EXPECT_DOUBLE_EQ(collectiveSeconds(topology, Transport::nccl, CollectiveKind::allReduce,
                                     GroupPlaces(topology, {3}), 100),
                   3);
}

TEST(CollectiveTimes, AMessagePassesTheLevelsBetweenItsRanks) {
  const Topology topology = small();
  EXPECT_DOUBLE_EQ(messageSeconds(topology, {topology, {0, 1}}, 100), 1 + 100 / 100.);
  EXPECT_DOUBLE_EQ(messageSeconds(topology, {topology, {0, 4}}, 100), 5 + 2 + 100 / 10.);
  Topology late = topology;
  late.messageStartSeconds = 4;
  EXPECT_DOUBLE_EQ(messageSeconds(late, {late, {0, 1}}, 100), 4 + 1 + 100 / 100.);
}

// Three members on one host and one on the other: as two hosts with three.
TEST(CollectiveTimes, AnIrregularGroupIsAsItsLargestUnits) {
  const Topology topology = small();
  const GroupPlaces places(topology, {0, 1, 2, 4});
  EXPECT_EQ(places.members, 4);
  EXPECT_EQ(places.membersInside(1), 3);
  EXPECT_EQ(places.units, (SmallVector<int64_t>{3, 2}));
}

TEST(CollectiveTimes, AllRatesTimesKGiveTimesOverK) {
  Topology slow = readFile("topologies/h100-roce.json"), fast = slow;
  for (LinkLevel &level : fast.levels) {
    level.bytesPerSecond *= 4, level.unitBytesPerSecond *= 4;
    level.stepSeconds /= 4, level.startSeconds /= 4;
  }
  for (double &start : fast.startSeconds)
    start /= 4;
  for (int64_t hosts : {1, 2, 32})
    for (int64_t ranks : {2, 8}) {
      const double bytes = 1e8,
                   before = ringTime(slow, CollectiveKind::allReduce, hosts, ranks).seconds(bytes);
      EXPECT_NEAR(ringTime(fast, CollectiveKind::allReduce, hosts, ranks).seconds(bytes),
                  before / 4, before * 1e-12);
    }
}

TEST(CollectiveTimes, MoreBandwidthIsNeverSlower) {
  const Topology topology = readFile("topologies/h100-roce.json");
  for (size_t level = 0; level < topology.levels.size(); ++level) {
    Topology wider = topology;
    wider.levels[level].bytesPerSecond *= 2;
    for (auto kind :
         {CollectiveKind::allReduce, CollectiveKind::allGather, CollectiveKind::allToAll})
      for (int64_t hosts : {1, 2, 32})
        EXPECT_LE(ringTime(wider, kind, hosts, 8).seconds(1e8),
                  ringTime(topology, kind, hosts, 8).seconds(1e8));
  }
}

} // namespace
