// A cache of objects takes damage for a miss, refuses links and folders of
// others, keeps to its bound, and serves many writers at once.

#include "targets/Objects/ObjectCache.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace dpc;

namespace {
class ObjectCacheTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("dpc-cache", path));
    base = path.str().str();
    folder = base + "/a/kernels";
  }
  void TearDown() override { llvm::sys::fs::remove_directories(base); }

  ObjectCache open(uint64_t maxBytes = 1 << 20) {
    llvm::Expected<ObjectCache> cache = ObjectCache::open(folder, maxBytes);
    EXPECT_TRUE(bool(cache));
    return std::move(*cache);
  }
  /// Why the folder is refused.
  std::string refusal() {
    llvm::Expected<ObjectCache> cache = ObjectCache::open(folder, 1);
    return cache ? "" : llvm::toString(cache.takeError());
  }
  /// The file of the only entry.
  std::string entry() {
    std::error_code code;
    std::string found;
    for (llvm::sys::fs::directory_iterator at(folder, code), end; at != end; at.increment(code))
      if (llvm::StringRef(at->path()).contains("llvmcache-"))
        found = at->path();
    return found;
  }

  std::string base, folder;
  const std::string key = ObjectCache::keyOf("a kernel");
};
} // namespace

TEST_F(ObjectCacheTest, KeepsObjects) {
  EXPECT_NE(key, ObjectCache::keyOf("another kernel"));
  ObjectCache cache = open();
  EXPECT_FALSE(cache.lookup(key));
  cache.store(key, std::string("\0code", 5));
  EXPECT_EQ(cache.lookup(key), std::string("\0code", 5));
  EXPECT_EQ(open().lookup(key), std::string("\0code", 5));
  EXPECT_FALSE(cache.lookup(ObjectCache::keyOf("another kernel")));
}

// A changed, shortened or lengthened entry, and one under another's name, are
// not there; storing again mends them.
TEST_F(ObjectCacheTest, DamageIsAMiss) {
  ObjectCache cache = open();
  cache.store(key, "code");
  std::string path = entry();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(buffer));
  std::string sound = (*buffer)->getBuffer().str();
  auto write = [](const std::string &path, llvm::StringRef bytes) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << bytes;
  };
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] ^= 4;
    write(path, damaged);
    EXPECT_FALSE(cache.lookup(key)) << "byte " << i;
    write(path, llvm::StringRef(sound).take_front(i));
    EXPECT_FALSE(cache.lookup(key)) << i << " bytes";
  }
  write(path, sound + "x");
  EXPECT_FALSE(cache.lookup(key));
  std::string other = ObjectCache::keyOf("another kernel");
  write(path, sound);
  ASSERT_FALSE(
      llvm::sys::fs::copy_file(path, llvm::StringRef(path).drop_back(key.size()).str() + other));
  EXPECT_FALSE(cache.lookup(other));
  cache.store(other, "other code");
  EXPECT_EQ(cache.lookup(other), "other code");
  EXPECT_EQ(cache.lookup(key), "code");
}

// A link is not followed: it could lead to what someone else wrote.
TEST_F(ObjectCacheTest, LinksAreNotFollowed) {
  ObjectCache cache = open();
  cache.store(key, "code");
  std::string path = entry(), moved = base + "/moved";
  ASSERT_FALSE(llvm::sys::fs::rename(path, moved));
  ASSERT_FALSE(llvm::sys::fs::create_link(moved, path));
  EXPECT_FALSE(cache.lookup(key));
}

// The folder is this user's alone, or none.
TEST_F(ObjectCacheTest, FoldersOfOthersAreRefused) {
  open();
  struct stat status;
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  for (mode_t mode : {0750, 0707, 0702}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_NE(refusal().find("others may use it"), std::string::npos);
  }
  std::string moved = base + "/moved";
  ASSERT_FALSE(llvm::sys::fs::rename(folder, moved));
  ASSERT_EQ(chmod(moved.c_str(), 0700), 0);
  ASSERT_FALSE(llvm::sys::fs::create_link(moved, folder));
  EXPECT_NE(refusal().find("it is no folder"), std::string::npos);
}

// What was used last stays.
TEST_F(ObjectCacheTest, StaysWithinItsBound) {
  ObjectCache cache = open(10000);
  auto keyOf = [](int i) { return ObjectCache::keyOf(std::to_string(i)); };
  for (int i = 0; i < 20; ++i) {
    cache.store(keyOf(i), std::string(1000, 'a' + i));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ASSERT_TRUE(cache.lookup(keyOf(0)));
  cache.prune();
  EXPECT_TRUE(cache.lookup(keyOf(0)));
  EXPECT_TRUE(cache.lookup(keyOf(19)));
  EXPECT_FALSE(cache.lookup(keyOf(1)));
  int found = 0;
  for (int i = 0; i < 20; ++i)
    found += bool(cache.lookup(keyOf(i)));
  EXPECT_GE(found, 5);
  EXPECT_LE(found, 9);
}

// Many writers and readers of one entry: each reads nothing or the whole.
TEST_F(ObjectCacheTest, WritersDoNotMeet) {
  ObjectCache cache = open();
  std::string object(100000, 'x');
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        cache.store(key, object);
        std::optional<std::string> found = cache.lookup(key);
        EXPECT_TRUE(found && *found == object);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}
