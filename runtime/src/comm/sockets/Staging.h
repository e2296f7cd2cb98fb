#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_STAGING_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_STAGING_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace dpc::sockets {

/// Memory for data that arrives and is reduced. Operations take a block and give it back, so that
/// a step allocates nothing after the first one, and no page is zeroed or mapped again.
class StagingPool {
public:
  /// A block of at least `bytes` bytes, whose content is undefined.
  struct Block {
    std::unique_ptr<char[]> memory;
    uint64_t bytes = 0;
  };

  /// Returns the smallest free block that is large enough, or a new one. Throws std::bad_alloc.
  Block take(uint64_t bytes) {
    auto best = blocks.end();
    for (auto each = blocks.begin(); each != blocks.end(); ++each)
      if (each->bytes >= bytes && (best == blocks.end() || each->bytes < best->bytes))
        best = each;
    if (best == blocks.end()) {
      // A free block that is too small would stay unused as long as operations grow.
      if (!blocks.empty())
        blocks.erase(std::min_element(blocks.begin(), blocks.end(), isSmaller));
      return {std::unique_ptr<char[]>(new char[bytes]), bytes};
    }
    Block taken = std::move(*best);
    blocks.erase(best);
    return taken;
  }

  /// Drops the block if there is no memory for the list of free blocks.
  void giveBack(Block block) noexcept {
    try {
      if (block.memory)
        blocks.push_back(std::move(block));
    } catch (const std::bad_alloc &) {
    }
  }

private:
  static bool isSmaller(const Block &a, const Block &b) { return a.bytes < b.bytes; }

  std::vector<Block> blocks;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_STAGING_H
