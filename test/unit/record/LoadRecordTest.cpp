// The record of an object file is read before there is a program, and its plan
// is proved there.
#include "runtime/src/plan/PlanCheck.h"
#include "test/unit/record/LoadedProgram.h"

using namespace dpc;
using namespace dpc::test;

namespace {

// The object by itself says what the linked program does; only code, and what
// other objects hold, is not there.
TEST(LoadRecord, IsTheProgramsBeforeItIsLinked) {
  ASSERT_NE(loaded().inObject, nullptr);
  const dpc_program_t &linked = load(), &read = loaded().inObject->getProgram();
  EXPECT_EQ(read.abi_version, DPC_ABI_VERSION);
  EXPECT_STREQ(read.name, "model");
  EXPECT_STREQ(read.machine, "two hosts");
  ASSERT_EQ(read.level_count, 2u);
  EXPECT_STREQ(read.levels[1].name, "net");
  ASSERT_EQ(read.world_size, 2u);
  EXPECT_EQ(std::memcmp(read.plan_hash, linked.plan_hash, sizeof linked.plan_hash), 0);
  const dpc_rank_t &rank = read.ranks[1];
  EXPECT_EQ(rank.shared_bytes, 128u);
  const dpc_actions_t &step = rank.entries[DPC_ENTRY_STEP];
  ASSERT_EQ(step.count, 5u);
  EXPECT_EQ(step.actions[3].in.offset, 64u);
  EXPECT_STREQ(rank.buffers[0].name, "state.w");
  EXPECT_EQ(read.functions[0].access_count, 10u);
  EXPECT_EQ(std::memcmp(read.functions[0].accesses, linked.functions[0].accesses,
                        10 * sizeof(dpc_access_t)),
            0);
  EXPECT_NE(read.functions[0].fn, nullptr);
  EXPECT_STREQ(read.states[0].name, "w");
  EXPECT_EQ(read.states[0].placements[1].runs[0].length, 6u);
  EXPECT_EQ(static_cast<const uint8_t *>(read.states[1].init_data)[3], 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read.ranks) % 64, 0u);
}

TEST(LoadRecord, RefusesWhatIsNoRecord) {
  auto says = [](llvm::StringRef bytes) {
    auto record = LoadedRecord::load(llvm::MemoryBufferRef(bytes, "object"));
    return record ? std::string() : llvm::toString(record.takeError());
  };
  EXPECT_NE(says("no object"), "");
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  llvm::cantFail(writeValuesObject({}, "x86_64-linux-gnu", stream));
  EXPECT_EQ(says(stream.str()), "the object has no symbol dpc_program");
}

// What is proved is what the object says: here two buffers of the host share
// bytes.
TEST(LoadRecord, ItsPlanIsProved) {
  EXPECT_EQ(checkPlan(loaded().inObject->getProgram()), DPC_INVALID);
  const std::string inObject = dpc_last_error();
  EXPECT_EQ(inObject, "plan of 2 ranks: rank 0: buffer 4 (input.x) (bytes [256, 352) of arena) and "
                      "buffer 5 (control.lr) (bytes [320, 324) of arena) share bytes");
  EXPECT_EQ(checkPlan(load()), DPC_INVALID);
  EXPECT_EQ(dpc_last_error(), inObject);
}

} // namespace
