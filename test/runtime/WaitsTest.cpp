// For which rank all others wait, and the times after which ranks say so.
#include "runtime/src/comm/Waits.h"
#include "dpc/action.h"
#include "runtime/src/comm/Timeouts.h"

#include <gtest/gtest.h>
#include <vector>

using namespace dpc;

namespace {

constexpr uint32_t kNone = DPC_NONE;

/// The last wait after rank 0's wait for rank 1, where rank r waits for waits[r].
void expectLast(const std::vector<uint32_t> &waits, uint32_t rank, uint32_t late) {
  const Wait last = findLastWait({0, 1}, static_cast<uint32_t>(waits.size()),
                                 [&](uint32_t r) { return waits[r]; });
  EXPECT_EQ(last.rank, rank);
  EXPECT_EQ(last.late, late);
}

TEST(Waits, LeadToTheRankThatDoesNotWait) {
  expectLast({1, kNone, kNone, kNone}, 0, 1);
  expectLast({1, 3, kNone, kNone}, 1, 3);
  expectLast({1, 2, 3, kNone}, 2, 3);
  expectLast({kNone, 3, kNone, 2}, 3, 2); // rank 0 has not told the others of its wait
}

TEST(Waits, InACycleAreOfTheNeighbour) {
  expectLast({1, 0, kNone, kNone}, 0, 1);
  expectLast({1, 2, 3, 0}, 0, 1);
  expectLast({1, 2, 3, 1}, 0, 1); // rank 0 waits for a cycle of others
  expectLast({1, 1}, 0, 1);
}

TEST(Waits, HaveOneText) {
  dpc_comm_op_t op = {};
  op.op = DPC_OP_RECV;
  op.buffer_id = 11;
  EXPECT_EQ(waitText({2, 3}, "has left the run", &op),
            "rank 3 has left the run, and rank 2 waits for it in recv of buffer 11");
  EXPECT_EQ(waitText({2, 3}, silence(300), nullptr),
            "rank 3 has not answered for 300 s, and rank 2 waits for it");
}

// A frozen rank is noticed before the waits for it end.
TEST(Waits, EndAfterFrozenRanksAreNoticed) {
  for (const double timeout : {0.0, 2.5, 3.0, 10.0, 15.0, 300.0}) {
    dpc_comm_options_t options = {};
    options.timeout_seconds = timeout;
    EXPECT_LE(frozenAfter(options), 0.8 * timeoutOf(options)) << timeout;
    EXPECT_GE(frozenAfter(options), 2) << timeout;
    EXPECT_LE(frozenAfter(options), 10) << timeout;
    EXPECT_LT(stillAfter(frozenAfter(options)), frozenAfter(options)) << timeout;
  }
  dpc_comm_options_t options = {};
  options.timeout_seconds = 3;
  options.frozen_seconds = 7;
  EXPECT_EQ(frozenAfter(options), 7);
}

} // namespace
