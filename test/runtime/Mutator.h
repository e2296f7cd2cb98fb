// Changes the messages of a good run, for tests of what reads them.
#ifndef DPC_TEST_RUNTIME_MUTATOR_H
#define DPC_TEST_RUNTIME_MUTATOR_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace dpc::test {

using Messages = std::vector<std::string>;

/// The number of attacks of a test: `few`, or with DPC_LONG as many times `few` as `factor`.
inline uint64_t attackCount(uint64_t few, uint64_t factor) {
  return std::getenv("DPC_LONG") ? few * factor : few;
}

inline std::string joined(const Messages &messages) {
  std::string all;
  for (const std::string &message : messages)
    all += message;
  return all;
}

/// Makes the bytes of one attack from the messages of a good run. Equal seeds make equal bytes.
class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  std::string mutate(Messages messages) {
    if (below(16) == 0)
      return noise(below(4096));
    for (uint64_t changes = 1 + below(3); changes > 0; --changes)
      change(messages);
    std::string all = joined(messages);
    if (below(8) == 0)
      all.resize(below(all.size() + 1)); // truncated
    return all;
  }

  uint64_t below(uint64_t limit) { return limit ? random() % limit : 0; }

private:
  std::string noise(uint64_t bytes) {
    std::string text(bytes, 0);
    for (char &c : text)
      c = static_cast<char>(random());
    return text;
  }

  void change(Messages &messages) {
    if (messages.empty())
      return;
    const uint64_t which = below(messages.size()), other = below(messages.size());
    std::string &one = messages[which];
    switch (below(7)) {
    case 0: // flipped, mostly in the header
      for (uint64_t flips = 1 + below(4); flips > 0 && !one.empty(); --flips)
        one[below(std::min<uint64_t>(one.size(), below(2) ? 72 : one.size()))] ^=
            static_cast<char>(1 << below(8));
      break;
    case 1: // a number that is an edge
      putNumber(one);
      break;
    case 2: // oversized
      one.insert(below(one.size() + 1), noise(below(16 << 10)));
      break;
    case 3: // replayed
      messages.insert(messages.begin() + static_cast<ptrdiff_t>(other), std::string(one));
      break;
    case 4: // reordered
      std::swap(messages[which], messages[other]);
      break;
    case 5: // lost
      messages.erase(messages.begin() + static_cast<ptrdiff_t>(which));
      break;
    default: // cut
      one.resize(below(one.size() + 1));
    }
  }

  void putNumber(std::string &message) {
    static constexpr uint64_t kEdges[] = {0,          1,          2,        3,        255,
                                          1u << 16,   1u << 20,   1u << 30, 1u << 31, 0xffffffff,
                                          1ull << 44, 1ull << 63, ~0ull};
    const uint64_t number = kEdges[below(std::size(kEdges))], bytes = below(2) ? 4 : 8;
    const uint64_t words = std::min<uint64_t>(message.size(), 96) / 4;
    const uint64_t at = 4 * below(words);
    if (at + bytes <= message.size())
      std::memcpy(message.data() + at, &number, bytes);
  }

  std::mt19937_64 random;
};

/// Expects one line that says why a run ended.
inline void expectOneLine(const std::string &text) {
  EXPECT_FALSE(text.empty());
  EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }))
      << text;
}

/// Memory of this process in bytes that was ever in use at once; 0 under the sanitizers, which
/// keep freed memory.
inline uint64_t peakMemory() {
#if defined(__SANITIZE_ADDRESS__)
  return 0;
#else
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
  return 0;
#endif
}

/// Most memory by which attacks may let this process grow.
constexpr uint64_t kMostGrowth = 64u << 20;

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_MUTATOR_H
