// Processes that make work folders at once leave each other's alone, and remove
// those of dead ones.

#include "tools/dpc-compile/WorkFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace dpc;
using namespace llvm;

namespace {

/// A folder of the test's own, removed at its end.
class WorkFolderTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(sys::fs::createUniqueDirectory("work-folder-test", place)); }
  void TearDown() override { sys::fs::remove_directories(place); }

  unsigned countEntries() const {
    unsigned count = 0;
    std::error_code error;
    for (sys::fs::directory_iterator it(place, error), end; it != end && !error;
         it.increment(error))
      ++count;
    return count;
  }

  SmallString<128> place;
};

/// Makes and leaves folders in turn; 0 when each was there as long as it was
/// held.
int makeAndLeave(StringRef place) {
  for (int turn = 0; turn < 400; ++turn) {
    WorkFolder folder;
    if (folder.create(place, "made-"))
      return 1;
    std::error_code error;
    raw_fd_ostream file(folder.file("file"), error);
    if (error)
      return 2;
    file.close();
    if (!sys::fs::exists(folder.file("file")))
      return 3;
  }
  return 0;
}

// A folder is there for a moment before its maker has locked it. Others that
// start meanwhile take it for a dead one's, and remove it.
TEST_F(WorkFolderTest, ManyMakersAtOnce) {
  std::vector<pid_t> makers;
  for (int i = 0; i < 4; ++i) {
    pid_t maker = ::fork();
    ASSERT_GE(maker, 0);
    if (maker == 0)
      ::_exit(makeAndLeave(place));
    makers.push_back(maker);
  }
  for (pid_t maker : makers) {
    int status = 0;
    ASSERT_EQ(::waitpid(maker, &status, 0), maker);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_EQ(countEntries(), 0u);
}

TEST_F(WorkFolderTest, RemovesWhatTheDeadLeft) {
  pid_t maker = ::fork();
  ASSERT_GE(maker, 0);
  if (maker == 0) {
    WorkFolder folder;
    ::_exit(folder.create(place, "made-") ? 1 : 0);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(maker, &status, 0), maker);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(countEntries(), 1u);
  WorkFolder held;
  ASSERT_FALSE(held.create(place, "made-"));
  EXPECT_EQ(countEntries(), 1u);
  WorkFolder other;
  ASSERT_FALSE(other.create(place, "made-"));
  EXPECT_TRUE(sys::fs::exists(held.getPath()));
}

} // namespace
