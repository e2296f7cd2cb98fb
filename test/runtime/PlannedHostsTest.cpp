// The hosts of a run are compared with the machine for which the program was planned.
#include "runtime/src/session/PlannedHosts.h"
#include "runtime/src/program/ProgramCheck.h"
#include "test/runtime/TinyProgram.h"

using namespace dpc;
using namespace dpc::test;

namespace {

using Ranks = std::vector<uint32_t>;
using Levels = std::vector<dpc_level_t>;

std::string note(const Levels &levels, const Ranks &hosts) {
  TinyProgram tiny;
  tiny.program.world_size = uint32_t(hosts.size());
  tiny.program.machine = "h100";
  tiny.program.levels = levels.data();
  tiny.program.level_count = levels.size();
  return hostsUnlikePlan(tiny.program, hosts.data());
}

const Levels kTwoHosts = {{"node", 4}, {"net", 2}};

TEST(PlannedHosts, AreThoseOfTheRun) {
  EXPECT_EQ(note(kTwoHosts, {0, 0, 0, 0, 4, 4, 4, 4}), "");
  EXPECT_EQ(note(kTwoHosts, {0, 0, 0, 0, 4, 4}), ""); // the last host has fewer
  EXPECT_EQ(note(kTwoHosts, {0, 0}), "");             // all on a part of a host
  EXPECT_EQ(note({{"node", 8}}, {0, 0, 0}), "");
  EXPECT_EQ(note({{"card", 1}, {"net", 0}}, {0, 1, 2}), "");
  // A host may be a unit of each level that has one outside of it.
  const Levels three = {{"socket", 2}, {"node", 2}, {"net", 0}};
  EXPECT_EQ(note(three, {0, 0, 2, 2, 4, 4}), "");
  EXPECT_EQ(note(three, {0, 0, 0, 0, 4, 4}), "");
}

TEST(PlannedHosts, AreAnyWithoutLevels) {
  EXPECT_EQ(note({}, {0, 0, 2}), "");
  EXPECT_EQ(note({{"shared memory", 0}}, {0, 1, 1}), ""); // the target's numbers
}

TEST(PlannedHosts, DifferInTheirRanks) {
  EXPECT_EQ(note(kTwoHosts, {0, 0, 2, 2, 4, 4, 6, 6}),
            "the program was planned for 4 ranks per host (level 'node' of h100); this run has 2");
  EXPECT_EQ(note(kTwoHosts, {0, 0, 0, 0, 0, 0}),
            "the program was planned for 4 ranks per host (level 'node' of h100); this run has 6");
  EXPECT_EQ(note(kTwoHosts, {0, 0, 0, 3}),
            "the program was planned for 4 ranks per host (level 'node' of h100); this run has 1 "
            "to 3");
  EXPECT_EQ(note({{"card", 1}, {"net", 2}}, {0, 0}),
            "the program was planned for 1 rank per host (level 'card' of h100); this run has 2");
  EXPECT_EQ(note({{"node", 8}}, {0, 1}),
            "the program was planned for 2 ranks per host (level 'node' of h100); this run has 1");
  EXPECT_EQ(note(kTwoHosts, {0, 1, 0, 1, 0, 1, 0, 1}),
            "the program was planned for 4 ranks per host (level 'node' of h100); this run has 4, "
            "whose numbers are not consecutive");
  EXPECT_EQ(note({{"node", UINT64_MAX}, {"net", UINT64_MAX}}, {0, 1}),
            "the program was planned for 2 ranks per host (level 'node' of h100); this run has 1");
}

// A record of an earlier compiler has nulls in the places of the machine.
TEST(PlannedHosts, DamagedLevelsAreRefused) {
  TinyProgram tiny;
  tiny.functions[0].fn = [](dpc_call_t *) { return int32_t(DPC_OK); };
  const auto check = [&](const dpc_level_t *levels, uint64_t count) {
    tiny.program.levels = levels;
    tiny.program.level_count = count;
    const dpc_status_t status = checkTables(tiny.program, 0);
    return status ? std::string(dpc_last_error()) : "";
  };
  const dpc_level_t sound[] = {{"node", 4}, {"net", 0}}, nameless[] = {{"node", 4}, {nullptr, 2}},
                    endless[] = {{"node", 0}, {"net", 2}};
  EXPECT_EQ(check(nullptr, 0), "");
  EXPECT_EQ(check(sound, 2), "");
  EXPECT_EQ(check(sound, 0), "the machine has 0 levels and a table of them");
  EXPECT_EQ(check(nullptr, 2), "the machine has 2 levels and no table of them");
  EXPECT_EQ(check(sound, UINT64_MAX),
            "the machine has 18446744073709551615 levels and a table of them");
  EXPECT_EQ(check(nameless, 2), "level 1 of the machine has no name");
  EXPECT_EQ(check(endless, 2), "level 0 of the machine has no size");
}

} // namespace
