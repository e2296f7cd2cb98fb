// Shares of the bytes of collectives by level.

#include "planning/LevelTraffic.h"

#include <gtest/gtest.h>

using namespace dpc;

namespace {

/// Hosts of 4 devices, in racks of 2 hosts, in one network.
Topology racks() {
  Topology topology;
  topology.levels.resize(3);
  topology.levels[0].size = 4;
  topology.levels[1].size = 2;
  topology.levels[2].size = 0;
  return topology;
}

std::vector<double> sharesOf(Transport transport, CollectiveKind kind,
                             llvm::ArrayRef<int64_t> ranks) {
  const Topology topology = racks();
  return levelShares(topology, transport, kind, GroupPlaces(topology, ranks));
}

const int64_t kTwoRacks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// Each of 16 members has 3 peers on its host, 4 on the other host of its rack, and 8 elsewhere.
TEST(LevelTraffic, DirectPartsGoToEachPeer) {
  for (Transport transport : {Transport::wires, Transport::nccl}) {
    const std::vector<double> shares = sharesOf(transport, CollectiveKind::allToAll, kTwoRacks);
    EXPECT_DOUBLE_EQ(shares[0], 3. / 15);
    EXPECT_DOUBLE_EQ(shares[1], 4. / 15);
    EXPECT_DOUBLE_EQ(shares[2], 8. / 15);
  }
}

// A tree over 16 members has 15 edges: 3 in each of 4 hosts, one in each of 2 racks, one between.
TEST(LevelTraffic, RingsEnterAUnitOnce) {
  const std::vector<double> shares =
      sharesOf(Transport::nccl, CollectiveKind::allReduce, kTwoRacks);
  EXPECT_DOUBLE_EQ(shares[0], 12. / 15);
  EXPECT_DOUBLE_EQ(shares[1], 2. / 15);
  EXPECT_DOUBLE_EQ(shares[2], 1. / 15);
}

// A group with one member per rack uses only the network, and a group of one member no level.
TEST(LevelTraffic, GroupsSkipLevels) {
  EXPECT_EQ(sharesOf(Transport::nccl, CollectiveKind::allGather, {0, 8, 16}),
            (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(sharesOf(Transport::wires, CollectiveKind::allGather, {5}),
            (std::vector<double>{0, 0, 0}));
}

TEST(LevelTraffic, MessagesPassOneLevel) {
  const Topology topology = racks();
  EXPECT_EQ(levelBetween(topology, 0, 3), 0u);
  EXPECT_EQ(levelBetween(topology, 3, 4), 1u);
  EXPECT_EQ(levelBetween(topology, 7, 8), 2u);
  EXPECT_EQ(levelBetween(topology, 100, 0), 2u);
}

} // namespace
