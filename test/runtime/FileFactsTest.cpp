// Two versions of a file are told apart by their size and a sample.
#include "runtime/src/base/FileFacts.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace dpc;
using namespace dpc::test;

namespace {

constexpr uint64_t kSample = 1u << 20;

class Files : public testing::Test {
protected:
  FileFacts factsOf(const std::string &content, uint64_t sample = kSample) {
    writeFile(path, content);
    return factsOfFile(path, sample);
  }
  /// The share of the bytes of a file of this size whose change is noticed.
  double noticed(size_t size) {
    std::string content(size, 'a');
    const FileFacts before = factsOf(content);
    size_t count = 0;
    constexpr size_t kTries = 400;
    for (size_t i = 0; i < kTries; ++i) {
      const size_t at = i * (size - 1) / (kTries - 1);
      content[at] = 'b';
      count += factsOf(content).checksum != before.checksum;
      content[at] = 'a';
    }
    return double(count) / kTries;
  }
  TemporaryDirectory directory;
  std::string path = directory.path + "/file";
};

TEST_F(Files, ASmallFileIsReadEntirely) {
  EXPECT_EQ(noticed(1), 1);
  EXPECT_EQ(noticed(100000), 1);
  EXPECT_EQ(factsOf("").bytes, 0u);
  EXPECT_EQ(factsOf(std::string(kSample, 'x')).bytes, kSample);
}

TEST_F(Files, ALargeFileIsSampled) {
  const double share = noticed(4 * kSample);
  EXPECT_GT(share, 0.2);
  EXPECT_LT(share, 0.3);
  std::string content(4 * kSample, 'a');
  const FileFacts before = factsOf(content);
  EXPECT_EQ(before.bytes, content.size());
  for (const size_t at : {size_t(0), content.size() - 1}) {
    content[at] = 'b';
    EXPECT_NE(factsOf(content).checksum, before.checksum) << at;
    content[at] = 'a';
  }
  content[content.size() - 1] = 'b';
  EXPECT_NE(factsOf(content, 1).checksum, factsOf(std::string(4 * kSample, 'a'), 1).checksum);
}

TEST_F(Files, OtherThanFiles) {
  EXPECT_EQ(factsOfFile(path, kSample).error, ENOENT);
  EXPECT_EQ(factsOfFile(path + "/x", kSample).error, ENOENT);
  const FileFacts folder = factsOfFile(directory.path, kSample);
  EXPECT_EQ(folder.error, 0);
  EXPECT_FALSE(folder.isRegular);
  // Nobody writes into the pipe: the call must return nevertheless.
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(factsOfFile(path, kSample).isRegular);
}

} // namespace
