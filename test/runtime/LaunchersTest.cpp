// What the variables of launchers say: where ranks meet, and whether they are on several hosts.
#include "runtime/src/session/Launchers.h"
#include "dpc/status.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

using namespace dpc;

namespace {

/// Sets the variables, and no other variable of a launcher, until it goes.
class Variables {
public:
  explicit Variables(std::map<std::string, std::string> given) : given(std::move(given)) {
    for (const char *name :
         {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "LOCAL_WORLD_SIZE",
          "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_PROCID", "SLURM_STEP_NODELIST",
          "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_STEP_ID",
          "SLURM_STEPID", "SLURM_STEP_NUM_NODES", "SLURM_NNODES", "SLURM_RESTART_COUNT",
          "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_ERROR_FILE"})
      ::unsetenv(name);
    for (const auto &[name, value] : this->given)
      ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto &[name, value] : given)
      ::unsetenv(name.c_str());
  }

private:
  std::map<std::string, std::string> given;
};

std::string placeOf(std::map<std::string, std::string> variables) {
  const Variables set(std::move(variables));
  std::string place;
  return meetingPlace(&place) ? std::string("error: ") + dpc_last_error() : place;
}

bool areOnSeveralHosts(std::map<std::string, std::string> variables) {
  const Variables set(std::move(variables));
  return hasSeveralHosts(4);
}

TEST(Launchers, FirstHostOfALists) {
  EXPECT_EQ(firstHost("node7"), "node7");
  EXPECT_EQ(firstHost("node7,node9"), "node7");
  EXPECT_EQ(firstHost("node[03-05,09],login1"), "node03");
  EXPECT_EQ(firstHost("node[7,9]"), "node7");
  EXPECT_EQ(firstHost("login1,node[03-05]"), "login1");
  EXPECT_EQ(firstHost("rack[1-2]-ib,x"), "rack1-ib");
  for (const char *bad : {"", "node[", "node[]", "node[1", "rack[1-2]n[3-4]"})
    EXPECT_EQ(firstHost(bad), "") << bad;
}

TEST(Launchers, PlaceOfTorchrunAndItsLike) {
  EXPECT_EQ(placeOf({}), "");
  EXPECT_EQ(placeOf({{"MASTER_ADDR", "a"}}), "");
  EXPECT_EQ(placeOf({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "29500"}}), "tcp://a:29500");
  EXPECT_EQ(placeOf({{"MASTER_ADDR", "::1"}, {"MASTER_PORT", "29500"}}), "tcp://[::1]:29500");
  EXPECT_EQ(placeOf({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "r"}}),
            "tcp://a:29501-29516");
  EXPECT_EQ(placeOf({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "x"}}),
            "error: environment variable MASTER_PORT is \"x\", not a number from 1 to 65535");
}

TEST(Launchers, PlaceOfSlurm) {
  const std::map<std::string, std::string> step = {{"SLURM_PROCID", "1"},
                                                   {"SLURM_JOB_NODELIST", "old[1-9]"},
                                                   {"SLURM_STEP_NODELIST", "n[4-5]"},
                                                   {"SLURM_JOB_ID", "7"},
                                                   {"SLURM_STEP_ID", "2"}};
  // 16384 + (7 * 31 + 2) * 16
  EXPECT_EQ(placeOf(step), "tcp://n4:19888-19903");
  auto other = step;
  other["SLURM_STEP_ID"] = "3";
  EXPECT_EQ(placeOf(other), "tcp://n4:19904-19919");
  auto large = step;
  large["SLURM_JOB_ID"] = "4294967295";
  EXPECT_EQ(placeOf(large).rfind("tcp://n4:", 0), 0u) << placeOf(large);
  // The variables of a job without a step are not those of a rank.
  auto job = step;
  job.erase("SLURM_PROCID");
  EXPECT_EQ(placeOf(job), "");
  // A user who exports a place means it.
  auto named = step;
  named.insert({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "5"}});
  EXPECT_EQ(placeOf(named), "tcp://a:5");
}

TEST(Launchers, Restarts) {
  const auto isAgain = [](std::map<std::string, std::string> variables) {
    const Variables set(std::move(variables));
    return isStartedAgain();
  };
  EXPECT_FALSE(isAgain({}));
  for (const char *name : {"TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"}) {
    EXPECT_FALSE(isAgain({{name, "0"}})) << name;
    EXPECT_TRUE(isAgain({{name, "1"}})) << name;
    EXPECT_FALSE(isAgain({{name, "x"}})) << name;
  }
  // torchrun's folder of logs is another one for each run, and has a folder for each attempt.
  const auto idOf = [](const char *file) {
    const std::map<std::string, std::string> variables = {{"TORCHELASTIC_ERROR_FILE", file}};
    const Variables set(variables);
    return launcherRunId();
  };
  const std::string first = idOf("/tmp/torchelastic_a1/none_b2/attempt_0/0/error.json");
  EXPECT_EQ(first.size(), 32u);
  EXPECT_EQ(idOf("/tmp/torchelastic_a1/none_b2/attempt_1/3/error.json"), first);
  EXPECT_NE(idOf("/tmp/torchelastic_a1/none_b3/attempt_0/0/error.json"), first);
  EXPECT_EQ(idOf("/tmp/error.json"), "");
  const Variables none(std::map<std::string, std::string>{});
  EXPECT_EQ(launcherRunId(), "");
}

TEST(Launchers, ByHand) {
  const auto isByHand = [](std::map<std::string, std::string> variables) {
    const Variables set(std::move(variables));
    return isStartedByHand();
  };
  EXPECT_TRUE(isByHand({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}));
  for (const char *name :
       {"TORCHELASTIC_RUN_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    EXPECT_FALSE(isByHand({{name, "1"}})) << name;
}

TEST(Launchers, SeveralHosts) {
  EXPECT_FALSE(areOnSeveralHosts({}));
  EXPECT_FALSE(areOnSeveralHosts({{"LOCAL_WORLD_SIZE", "4"}, {"SLURM_NNODES", "1"}}));
  EXPECT_TRUE(areOnSeveralHosts({{"LOCAL_WORLD_SIZE", "2"}}));
  EXPECT_TRUE(areOnSeveralHosts({{"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}}));
  EXPECT_TRUE(areOnSeveralHosts({{"MPI_LOCALNRANKS", "1"}}));
  EXPECT_TRUE(areOnSeveralHosts({{"SLURM_NNODES", "2"}}));
  // A step may have fewer hosts than its job.
  EXPECT_FALSE(areOnSeveralHosts({{"SLURM_NNODES", "2"}, {"SLURM_STEP_NUM_NODES", "1"}}));
}

} // namespace
