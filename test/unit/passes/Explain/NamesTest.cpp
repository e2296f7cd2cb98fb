// What names of repeated layers have in common.

#include "passes/Explain/Names.h"

#include <gtest/gtest.h>

using namespace dpc;

namespace {

TEST(Names, NumbersAreStars) {
  EXPECT_EQ(withoutNumbers("h.10.attn.c_2"), "h.*.attn.c_*");
  EXPECT_EQ(withoutNumbers("head"), "head");
  EXPECT_EQ(withoutNumbers(""), "");
}

// The first node of its kind has no number.
TEST(Names, FamiliesOfNodes) {
  EXPECT_EQ(nodeFamily("node_linear_12"), nodeFamily("node_linear"));
  EXPECT_EQ(nodeFamily("node_norm__0"), nodeFamily("node_norm_7__0"));
  EXPECT_NE(nodeFamily("node_linear_1"), nodeFamily("node_linear_b"));
}

// Numbers that all have in common stay.
TEST(Names, PatternsKeepWhatIsEqual) {
  EXPECT_EQ(commonPattern({"h.3.ln_1.weight"}), "h.3.ln_1.weight");
  EXPECT_EQ(commonPattern({"h.0.ln_1.weight", "h.1.ln_1.weight", "h.10.ln_1.weight"}),
            "h.*.ln_1.weight");
  EXPECT_EQ(commonPattern({"node_norm, ..", "node_norm_4, .."}), "node_norm*, ..");
  EXPECT_EQ(commonPattern({"node_norm_1", "node_norm_12", "node_norm"}), "node_norm*");
  EXPECT_EQ(commonPattern({"aa", "aa_1_aa"}), "aa*");
}

} // namespace
