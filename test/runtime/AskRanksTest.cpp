// How the launcher learns how many ranks a program needs, from scripts that answer
// well, late or not at all.
#include "runtime/src/launch/AskRanks.h"

#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
bool isSlow = false;
}

/// The C library's; in the slow case the caller is not run for a while after
/// nothing was there to be read.
extern "C" int poll(pollfd *entries, nfds_t count, int milliseconds) {
  const int ready = int(::syscall(SYS_poll, entries, count, milliseconds));
  if (isSlow && ready == 0)
    ::usleep(400000);
  return ready;
}

namespace dpc::test {
namespace {

/// The answer to a script, or -1.
int ask(const std::string &script) {
  TemporaryDirectory directory;
  const std::string path = directory.path + "/program";
  writeFile(path, "#!/bin/sh\n" + script + "\n");
  ::chmod(path.c_str(), 0700);
  uint32_t ranks = 0;
  return askRanks(path, &ranks) == DPC_OK ? int(ranks) : -1;
}

TEST(AskRanks, Answer) {
  EXPECT_EQ(ask("echo 3"), 3);
  EXPECT_EQ(ask("sleep 0.1; echo 4"), 4);
  // Its child keeps the output open.
  EXPECT_EQ(ask("sleep 1 & echo 5"), 5);
}

TEST(AskRanks, AnswerAndEndWhileTheLauncherWaitsForAProcessor) {
  isSlow = true;
  EXPECT_EQ(ask("sleep 0.1; echo 6"), 6);
  isSlow = false;
}

TEST(AskRanks, NoAnswer) {
  EXPECT_EQ(ask("exit 0"), -1);
  EXPECT_EQ(ask("echo 2; exit 1"), -1);
  EXPECT_EQ(ask("echo 0"), -1);
  EXPECT_EQ(ask("echo many"), -1);
}

// A name without a folder is none of this folder's programs, which is said.
TEST(AskRanks, TheProgramIsHere) {
  TemporaryDirectory directory;
  writeFile(directory.path + "/dpc-program", "#!/bin/sh\necho 2\n");
  ::chmod((directory.path + "/dpc-program").c_str(), 0700);
  char before[4096];
  ASSERT_NE(::getcwd(before, sizeof before), nullptr);
  ASSERT_EQ(::chdir(directory.path.c_str()), 0);
  EXPECT_EQ(checkIsThere("dpc-program"), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("is ./dpc-program"), std::string::npos)
      << dpc_last_error();
  EXPECT_EQ(checkIsThere("./dpc-program"), DPC_OK) << dpc_last_error();
  EXPECT_EQ(checkIsThere("sh"), DPC_OK) << dpc_last_error();
  EXPECT_EQ(checkIsThere("./no-such-program"), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "./no-such-program: no such file");
  EXPECT_EQ(checkIsThere("no-such-program"), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "no-such-program: no such program in PATH");
  ASSERT_EQ(::chdir(before), 0);
}

} // namespace
} // namespace dpc::test
