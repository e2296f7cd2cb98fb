// A program that a tool starts has the limit of memory from before the tool lowered its own,
// and receives the signals that the tool blocks.
#include "processes/ChildProcess.h"

#include "processes/MemoryLimit.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;

namespace dpc {
namespace {

/// The first line that a script prints, to a file or to this process's own output.
std::string lineOf(const std::string &script, bool toOwnOutput = false) {
  SmallString<128> path;
  EXPECT_FALSE(sys::fs::createTemporaryFile("child", "txt", path));
  const std::string file = path.str().str();
  if (toOwnOutput) {
    const std::string redirected = "{ " + script + "; } >" + file;
    const char *argv[] = {"/bin/sh", "-c", redirected.c_str(), nullptr};
    EXPECT_EQ(waitForChild(startChild(const_cast<char *const *>(argv), environ, nullptr)), 0);
  } else {
    EXPECT_EQ(runChild({"/bin/sh", "-c", script}, file), 0);
  }
  auto text = MemoryBuffer::getFile(file);
  const std::string line = text ? (*text)->getBuffer().split('\n').first.str() : "";
  sys::fs::remove(file);
  return line;
}

TEST(ChildProcess, HasTheLimitOfMemoryFromBefore) {
  struct rlimit before, lowered;
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  const std::string want = lineOf("ulimit -d");
  MemoryLimit::set();
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &lowered), 0);
  if (lowered.rlim_cur == before.rlim_cur)
    GTEST_SKIP() << "a limit below that of the machine, or a sanitizer";
  for (bool toOwnOutput : {false, true})
    EXPECT_EQ(lineOf("ulimit -d", toOwnOutput), want);
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  EXPECT_EQ(before.rlim_cur, lowered.rlim_cur); // this process keeps its own
}

TEST(ChildProcess, ReceivesSignalsAndLeadsItsGroup) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  EXPECT_EQ(lineOf("trap 'echo caught; exit 0' TERM; kill -TERM $$; echo blocked"), "caught");
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  EXPECT_EQ(lineOf("read -r pid name state parent group rest </proc/self/stat; "
                   "[ $group = $$ ] && echo leads"),
            "leads");
}

TEST(ChildProcess, ExitCodes) {
  SmallString<128> path;
  ASSERT_FALSE(sys::fs::createTemporaryFile("child", "txt", path));
  const std::string file = path.str().str();
  EXPECT_EQ(runChild({"/bin/sh", "-c", "exit 3"}, file), 3);
  EXPECT_EQ(runChild({"/bin/sh", "-c", "kill -KILL $$"}, file), -1);
  EXPECT_EQ(runChild({"/no/such/program"}, file), 127);
  sys::fs::remove(file);
}

} // namespace
} // namespace dpc
