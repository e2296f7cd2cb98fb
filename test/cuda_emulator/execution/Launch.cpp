// Runs the blocks of a grid, several at a time.
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/execution/Block.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>

using namespace dpc::emulator;

namespace {

/// Blocks with their stacks, kept from launch to launch.
class BlockPool {
public:
  std::unique_ptr<Block> take() {
    std::lock_guard<std::mutex> lock(mutex);
    if (idle.empty())
      return std::make_unique<Block>();
    std::unique_ptr<Block> block = std::move(idle.back());
    idle.pop_back();
    return block;
  }
  void give(std::unique_ptr<Block> block) {
    std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(block));
  }

private:
  std::mutex mutex;
  std::vector<std::unique_ptr<Block>> idle;
};

} // namespace

/// The block that runs as number `at` of `total`.
static uint64_t blockAt(uint64_t at, uint64_t total, ThreadOrder order) {
  constexpr uint64_t step = 0x9e3779b1; // visits all of them where it has no factor of `total`
  if (order == ThreadOrder::reverse)
    return total - 1 - at;
  if (order == ThreadOrder::random && std::gcd(step, total) == 1)
    return (at * step + 7) % total;
  return at;
}

/// The block that is number `at` of `number` blocks, which are spread evenly over `total`: the
/// first block, the last one, and those between.
static uint64_t spreadAt(uint64_t at, uint64_t number, uint64_t total) {
  return number < 2 ? 0 : static_cast<uint64_t>(__uint128_t(at) * (total - 1) / (number - 1));
}

std::unique_ptr<AccessCounts> dpc::emulator::launch(const Kernel &kernel, const uint32_t grid[3],
                                                    const uint32_t size[3], uint32_t dynamicShared,
                                                    std::vector<char> parameters) {
  static BlockPool pool;
  const Options &options = Options::get();
  parameters.resize(parameters.size() + 16); // what is read is never outside
  const uint64_t total = uint64_t(grid[0]) * grid[1] * grid[2];
  const uint64_t perBlock = uint64_t(size[0]) * size[1] * size[2];
  const uint64_t number =
      options.runsSomeBlocks() ? std::min<uint64_t>(options.blocks, total) : total;
  std::atomic<uint64_t> next{0};
  std::unique_ptr<AccessCounts> counts;
  std::mutex mutex; // of counts
  auto work = [&](unsigned worker) {
    std::unique_ptr<Block> block = pool.take();
    std::mt19937 random(options.seed + worker);
    block->prepare(kernel, parameters.data(), grid, size, dynamicShared);
    for (uint64_t at; (at = next++) < number;)
      block->run(spreadAt(blockAt(at, number, options.threadOrder), number, total), grid, random);
    if (block->trace) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!counts)
        counts = std::make_unique<AccessCounts>(kernel.instructions.size());
      counts->merge(block->trace->counts);
      block->trace.reset();
    }
    pool.give(std::move(block));
  };
  // Starting threads would take longer. Counting takes about ten times as long as running.
  const bool isSmall = number * perBlock <= (options.countFile.empty() ? 4096 : 256);
  const auto workers =
      isSmall ? 1u : static_cast<unsigned>(std::min<uint64_t>(options.threads, number));
  std::vector<std::thread> others;
  for (unsigned i = 1; i < workers; ++i)
    others.emplace_back(work, i);
  work(0);
  for (std::thread &other : others)
    other.join();
  return counts;
}
