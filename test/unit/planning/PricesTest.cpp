// Prices of kernels, and of collectives between the ranks of a mesh.

#include "planning/Prices.h"

#include "test/unit/planning/FlatMachine.h"

#include "gtest/gtest.h"

#include <random>

using namespace dpc;
using dpc::test::makeFlatMachine;

namespace {

const Machine kMachine = makeFlatMachine(/*flopsPerSecond=*/100, /*memoryBytesPerSecond=*/10,
                                         /*bytesPerSecond=*/50, /*startSeconds=*/3);

double secondsOf(const Device &device, double flops, double bytes,
                 NumberType type = NumberType::f32) {
  return workSeconds(device, {flops, bytes, KernelClass::product, type});
}

TEST(Prices, WorkTakesTheLargerTimeOfOperationsAndBytes) {
  EXPECT_DOUBLE_EQ(secondsOf(kMachine.device(), 200, 10), 2);
  EXPECT_DOUBLE_EQ(secondsOf(kMachine.device(), 200, 30), 3);
}

TEST(Prices, ATypeHasItsOwnRateOrThatOfF32) {
  Device device = kMachine.device();
  EXPECT_DOUBLE_EQ(secondsOf(device, 200, 0, NumberType::bf16), 2);
  device.flopsPerSecond[size_t(NumberType::bf16)] = 400;
  EXPECT_DOUBLE_EQ(secondsOf(device, 200, 0, NumberType::bf16), 0.5);
}

TEST(Prices, AKernelIsLaunched) {
  Device device = kMachine.device();
  device.launchSeconds = 7;
  EXPECT_DOUBLE_EQ(kernelSeconds(device, {200, 10}), 9);
}

TEST(Prices, AClassReachesAShareOfTheRates) {
  Device device = kMachine.device();
  device.flopsEfficiency[size_t(KernelClass::product)].points = {{100, 0.2}, {10000, 0.8}};
  EXPECT_DOUBLE_EQ(secondsOf(device, 10, 0), 0.1 / 0.2);
  EXPECT_DOUBLE_EQ(secondsOf(device, 1000, 0), 10 / 0.5); // half-way between the sizes' logarithms
  EXPECT_DOUBLE_EQ(secondsOf(device, 1e6, 0), 1e4 / 0.8);
  device.bytesEfficiency[size_t(KernelClass::product)].points = {{1, 0.5}};
  EXPECT_DOUBLE_EQ(secondsOf(device, 0, 10), 2);
  EXPECT_DOUBLE_EQ(workSeconds(device, {200, 10, KernelClass::update}), 2);
}

TEST(Prices, AKernelOfALargeProgramHasTheShareOfItsFootprint) {
  Device device = kMachine.device();
  device.bytesEfficiency[size_t(KernelClass::copy)].points = {{10, 1}, {1000, 0.2}};
  Work work{0, 10, KernelClass::copy};
  const double alone = workSeconds(device, work);
  work.footprint = 5; // less than the kernel has
  EXPECT_DOUBLE_EQ(workSeconds(device, work), alone);
  work.footprint = 1000;
  EXPECT_DOUBLE_EQ(workSeconds(device, work), 5 * alone);
}

// Curves whose shares grow as fast as check() allows have times that grow with the size.
TEST(Prices, ALargerKernelTakesNoLessTime) {
  std::mt19937 random(40);
  std::uniform_real_distribution<double> factor(1, 3);
  for (int round = 0; round < 200; ++round) {
    Device device = kMachine.device();
    auto &points = device.bytesEfficiency[size_t(KernelClass::copy)].points;
    points = {{1, 1e-3}};
    while (points.size() < 6) {
      const double size = points.back().first * factor(random);
      points.push_back(
          {size, Efficiency::highestAfter(points.back().first, points.back().second, size)});
    }
    EXPECT_EQ(llvm::toString(device.check()), "");
    double last = 0;
    for (double bytes = 0.5; bytes < 2 * points.back().first; bytes *= 1.01) {
      const double seconds = workSeconds(device, {0, bytes, KernelClass::copy});
      EXPECT_GE(seconds, last * (1 - 1e-12)) << bytes;
      last = seconds;
    }
    points.back().second *= 1.001;
    EXPECT_NE(llvm::toString(device.check()), "");
  }
}

TEST(Prices, CopiesThatReorderCostAPartOfAPassOverMemory) {
  EXPECT_DOUBLE_EQ(reorderSeconds(kMachine.device(), 100), secondsOf(kMachine.device(), 0, 10));
}

TEST(Prices, CollectivesSendTheOthersParts) {
  const MeshPrices prices(kMachine, {{"data", 4}});
  for (CollectiveKind kind :
       {CollectiveKind::allGather, CollectiveKind::reduceScatter, CollectiveKind::allToAll}) {
    const Price price = prices.collective(kind, 400, {"data"});
    EXPECT_DOUBLE_EQ(price.bytes, 300);
    EXPECT_DOUBLE_EQ(price.seconds, 3 + 300. / 50);
  }
}

TEST(Prices, AnAllReduceSendsTwiceAndStartsOnce) {
  const Price price =
      MeshPrices(kMachine, {{"data", 4}}).collective(CollectiveKind::allReduce, 400, {"data"});
  EXPECT_DOUBLE_EQ(price.bytes, 600);
  EXPECT_DOUBLE_EQ(price.seconds, 3 + 600. / 50);
}

/// Hosts of four devices, which are connected by a network of a tenth of the bandwidth.
Machine makeHosts() {
  Machine machine = kMachine;
  machine.topology.levels.front().size = 4;
  machine.topology.levels.push_back({"network", 2, 5, 0, 0, 1});
  return machine;
}

double gatherSeconds(const MeshPrices &prices, llvm::StringRef axis) {
  return prices.collective(CollectiveKind::allGather, 400, {axis}).seconds;
}

TEST(Prices, TheLastAxisIsInsideAHost) {
  const MeshPrices prices(makeHosts(), {{"data", 2}, {"model", 4}});
  EXPECT_DOUBLE_EQ(gatherSeconds(prices, "model"), 3 + 300. / 50);
  EXPECT_DOUBLE_EQ(gatherSeconds(prices, "data"), 1 + 200. / 5);
  EXPECT_DOUBLE_EQ(prices.message(100, "model").seconds, 3 + 100. / 50);
  EXPECT_DOUBLE_EQ(prices.message(100, "data").seconds, 1 + 100. / 5);
}

TEST(Prices, TheSlowestGroupCounts) {
  // Of the groups 0-2, 3-5 the second one lies on two hosts.
  const MeshPrices prices(makeHosts(), {{"data", 2}, {"model", 3}});
  // The two of its members on one host get and send 2/3 of 400 bytes, through two connections.
  EXPECT_DOUBLE_EQ(gatherSeconds(prices, "model"), 3 + 1 + 2 / 3. * 400 / 10);
}

TEST(Prices, GroupsShareTheConnectionOfTheirHost) {
  Machine machine = makeHosts();
  machine.topology.levels[1].unitBytesPerSecond = 10;
  EXPECT_DOUBLE_EQ(gatherSeconds(MeshPrices(machine, {{"data", 2}, {"model", 4}}), "data"),
                   1 + 200. / (10. / 4));
  EXPECT_DOUBLE_EQ(gatherSeconds(MeshPrices(machine, {{"data", 8}}), "data"),
                   3 + 1 + 4 * 4 * 400. / 8 / 10);
}

TEST(Prices, SomeRanksOfAnAxis) {
  const MeshPrices prices(makeHosts(), {{"pipe", 8}});
  EXPECT_DOUBLE_EQ(prices.collective(CollectiveKind::allGather, 400, "pipe", {1, 2}).seconds,
                   3 + 200. / 50);
  EXPECT_DOUBLE_EQ(prices.collective(CollectiveKind::allGather, 400, "pipe", {0, 7}).seconds,
                   1 + 200. / 5);
}

} // namespace
