// The fingerprint of bytes: every bit counts, and how the bytes are divided does not.
#include "runtime/src/base/Fingerprint.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

using namespace dpc;

namespace {

std::string randomBytes(size_t size) {
  std::mt19937_64 random(5);
  std::string bytes(size, 0);
  for (char &byte : bytes)
    byte = char(random());
  return bytes;
}

// Ranks on different processors compare their values.
TEST(Fingerprint, IsTheSameOnEveryProcessor) {
  const std::string bytes = randomBytes(10000);
  EXPECT_EQ(fingerprintOf(bytes.data(), bytes.size()), 0xe18d5740e4d8e1c5u);
}

TEST(Fingerprint, DoesNotDependOnParts) {
  const std::string bytes = randomBytes(10000);
  const uint64_t whole = fingerprintOf(bytes.data(), bytes.size());
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Fingerprint parts;
    for (size_t at = 0; at < bytes.size();) {
      const size_t part = std::min<size_t>(bytes.size() - at, random() % (round % 2 ? 100 : 3000));
      parts.add(bytes.data() + at, part);
      at += part;
    }
    ASSERT_EQ(parts.value(), whole) << round;
  }
}

// 0 is a common value of state, and products with it are 0.
TEST(Fingerprint, EachBitCounts) {
  for (std::string bytes : {std::string(3000, 0), randomBytes(3000)}) {
    std::set<uint64_t> values = {fingerprintOf(bytes.data(), bytes.size())};
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << bit % 8));
      values.insert(fingerprintOf(bytes.data(), bytes.size()));
      bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << bit % 8));
    }
    EXPECT_EQ(values.size(), 1 + 8 * bytes.size());
  }
}

TEST(Fingerprint, LengthAndOrderCount) {
  std::set<uint64_t> values;
  const std::string zeros(300, 0);
  for (size_t size = 0; size <= zeros.size(); ++size)
    values.insert(fingerprintOf(zeros.data(), size));
  EXPECT_EQ(values.size(), zeros.size() + 1);
  std::string bytes = randomBytes(4096);
  const uint64_t before = fingerprintOf(bytes.data(), bytes.size());
  // Equal places of two blocks, of two stripes, and of two lanes.
  for (const size_t distance : {1024, 64, 8}) {
    std::string swapped = bytes;
    for (size_t i = 0; i < 8; ++i)
      std::swap(swapped[i], swapped[i + distance]);
    EXPECT_NE(fingerprintOf(swapped.data(), swapped.size()), before) << distance;
  }
}

} // namespace
