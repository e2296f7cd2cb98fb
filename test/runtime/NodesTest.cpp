// The launchers of three hosts, each a process here. One of them ends early, and the others must
// agree on what follows.
#include "runtime/src/launch/Nodes.h"
#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Sockets.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

using namespace dpc;
using namespace dpc::test;

namespace {

/// Lets three launchers meet, and runs `body` in each. Node 2 ends with its body.
std::vector<RankResult> withNodes(const std::function<int(Nodes &, RankReport &)> &body) {
  const TemporaryDirectory folder;
  LaunchOptions options;
  options.nodes = 3;
  options.tokenFile = folder.path + "/token";
  writeFile(options.tokenFile, std::string(64, '7'));
  ::chmod(options.tokenFile.c_str(), 0600);
  Fd trial;
  uint16_t port = 0;
  if (listenOn("127.0.0.1", &trial, &port))
    return {};
  trial = Fd();
  options.rendezvous = endpointText("127.0.0.1", port);
  return forkRanks(3, [&](uint32_t node, RankReport &report) {
    LaunchOptions own = options;
    own.nodeRank = node;
    Nodes nodes;
    if (nodes.open(own)) {
      std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
      return 9;
    }
    return body(nodes, report);
  });
}

dpc_status_t agree(Nodes &nodes) {
  NodeRecord record = {};
  record.ranks = 1;
  record.programRanks = 3;
  record.maxRestarts = 1;
  NodeShare share;
  return nodes.agree(record, 1, &share);
}

void waitUntil(Nodes &nodes, const std::function<bool()> &isDone) {
  for (nodes.poll(); !isDone(); nodes.poll())
    ::usleep(1000);
}

/// Ends the ranks of this node when the others have ended, or with a verdict.
int finish(Nodes &nodes, RankReport &report) {
  waitUntil(nodes, [&] { return nodes.verdict() != nullptr; });
  std::snprintf(report.message, sizeof report.message, "%s", nodes.verdictText().c_str());
  nodes.end();
  waitUntil(nodes, [&] { return nodes.isFinished(); });
  return nodes.canRestart() ? 1 : 0;
}

TEST(Nodes, NobodyStartsAgainWithoutALostNode) {
  const auto results = withNodes([](Nodes &nodes, RankReport &report) {
    if (agree(nodes))
      return 8;
    return nodes.index() == 2 ? 7 : finish(nodes, report);
  });
  ASSERT_EQ(results.size(), 3u);
  for (const uint32_t node : {0, 1}) {
    EXPECT_EQ(results[node].exitCode, 0) << node;
    EXPECT_NE(results[node].message.find("node 2 ("), std::string::npos) << results[node].message;
  }
}

TEST(Nodes, NobodyStartsAgainAfterADeathAndALostNode) {
  const auto results = withNodes([](Nodes &nodes, RankReport &report) {
    if (agree(nodes))
      return 8;
    if (nodes.index() == 1)
      nodes.tell(DPC_PEER, "rank 1 died", /*isSymptom=*/false);
    if (nodes.index() != 2)
      return finish(nodes, report);
    waitUntil(nodes, [&] { return nodes.verdict() != nullptr; });
    return 7;
  });
  ASSERT_EQ(results.size(), 3u);
  for (const uint32_t node : {0, 1}) {
    EXPECT_EQ(results[node].exitCode, 0) << node;
    EXPECT_NE(results[node].message.find("rank 1 died"), std::string::npos)
        << results[node].message;
  }
}

TEST(Nodes, AllStartAgainAfterADeath) {
  const auto results = withNodes([](Nodes &nodes, RankReport &report) {
    if (agree(nodes))
      return 8;
    if (nodes.index() == 1)
      nodes.tell(DPC_PEER, "rank 1 died", /*isSymptom=*/false);
    return finish(nodes, report) == 1 && agree(nodes) == DPC_OK ? 0 : 1;
  });
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 0) << result.message;
}

TEST(Nodes, NameTheNodeThatEndsBeforeTheStart) {
  for (const bool isFirstStart : {true, false}) {
    const auto results = withNodes([&](Nodes &nodes, RankReport &report) {
      if (!isFirstStart && agree(nodes))
        return 8;
      if (nodes.index() == 2)
        return 7;
      const dpc_status_t status = agree(nodes);
      std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
      return int(status);
    });
    ASSERT_EQ(results.size(), 3u);
    for (const uint32_t node : {0, 1}) {
      EXPECT_EQ(results[node].exitCode, int(DPC_PEER));
      const std::string name = isFirstStart ? "node 2: " : "node 2 (";
      EXPECT_EQ(results[node].message.rfind(name, 0), 0u) << results[node].message;
      EXPECT_NE(results[node].message.find("ended before the ranks were started"),
                std::string::npos)
          << results[node].message;
    }
  }
}

// A rank that has lost its connections takes another one for dead, and its launcher is the first to
// tell. The others name that rank.
TEST(Nodes, TheRankThatMostNameIsGuilty) {
  const auto results = withNodes([](Nodes &nodes, RankReport &report) {
    if (agree(nodes))
      return 8;
    if (nodes.index() != 1)
      ::usleep(200000);
    nodes.tell(DPC_PEER, nodes.index() == 1 ? "rank 0 died" : "rank 1 died", /*isSymptom=*/true);
    return finish(nodes, report);
  });
  ASSERT_EQ(results.size(), 3u);
  for (const RankResult &result : results) {
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_NE(result.message.find("rank 1 died"), std::string::npos) << result.message;
  }
}

// Node 2 reads nothing until node 0 has finished and left, and has sent much that node 0 has not
// read by then.
TEST(Nodes, LastMessagesOfNode0SurviveItsEnd) {
  const auto results = withNodes([](Nodes &nodes, RankReport &report) {
    if (agree(nodes))
      return 8;
    if (nodes.index() == 2) {
      nodes.tell(DPC_PEER, "rank 2 died", /*isSymptom=*/false);
      nodes.end();
      for (int i = 0; i < 100; ++i) {
        ::usleep(2000);
        nodes.end(); // node 0 has left at some of these times
      }
    }
    return finish(nodes, report);
  });
  ASSERT_EQ(results.size(), 3u);
  for (const RankResult &result : results) {
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_NE(result.message.find("rank 2 died"), std::string::npos) << result.message;
  }
}

} // namespace
