// Which message of the nodes counts as the cause of a run's failure.
#include "runtime/src/launch/NodeCause.h"
#include "dpc/program.h"
#include "runtime/src/base/Phrases.h"

#include <gtest/gtest.h>

#include <string>

using namespace dpc;

namespace {

NodeCause message(uint32_t node, const std::string &text, bool isSymptom) {
  NodeCause out = {};
  out.node = node;
  out.status = DPC_PEER;
  out.isSymptom = isSymptom;
  copyText(out.text, text);
  return out;
}

std::string textOf(const CauseFinder &finder, double now, bool isSuspicious = false) {
  const std::optional<NodeCause> found = finder.find(now, isSuspicious);
  return found ? found->text : "";
}

TEST(NodeCause, GuiltyRank) {
  EXPECT_EQ(guiltyRank("rank 12 died"), 12u);
  EXPECT_EQ(guiltyRank("no rank 12"), DPC_NONE);
  EXPECT_EQ(guiltyRank(""), DPC_NONE);
}

TEST(NodeCause, TheFirstCauseCounts) {
  CauseFinder finder(3);
  EXPECT_EQ(textOf(finder, 100), "");
  finder.add(message(1, "rank 2 does not answer", true), 0);
  finder.add(message(2, "rank 5 was killed", false), 0.5);
  finder.add(message(0, "rank 0 was killed", false), 0.6);
  EXPECT_EQ(textOf(finder, 0.6), "rank 5 was killed");
  EXPECT_EQ(textOf(finder, 100, true), "rank 5 was killed");
}

TEST(NodeCause, ASymptomWaits) {
  CauseFinder finder(3);
  finder.add(message(1, "rank 2 does not answer", true), 10);
  EXPECT_TRUE(finder.hasSymptom());
  EXPECT_EQ(textOf(finder, 10.9), "");
  EXPECT_EQ(textOf(finder, 11.1, true), "");
  EXPECT_EQ(textOf(finder, 11.1), "rank 2 does not answer");
}

// Rank 5 has lost its connections and accuses rank 0; the others accuse rank 5.
TEST(NodeCause, MostSymptomsAreRight) {
  CauseFinder finder(3);
  finder.add(message(2, "rank 0 is dead", true), 0);
  finder.add(message(0, "rank 5 is dead", true), 0.1);
  finder.add(message(1, "rank 5 has ended", true), 0.2);
  EXPECT_EQ(textOf(finder, 2), "rank 5 is dead");
}

TEST(NodeCause, ANodeHasOneSymptom) {
  CauseFinder finder(2);
  finder.add(message(1, "rank 1 is dead", true), 0);
  for (int i = 0; i < 1000; ++i)
    finder.add(message(1, "rank 0 is dead", true), 0);
  EXPECT_EQ(textOf(finder, 2), "rank 1 is dead");
}

} // namespace
