// Counts the rounds that accesses to the banks of shared memory need.

#include "targets/CUDA/Grids/SharedBanks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>

int64_t dpc::countWavefronts(llvm::ArrayRef<int64_t> offsets, int64_t bytes) {
  constexpr int64_t kBanks = 32, kWord = 4;
  const size_t lanes = offsets.size();
  // A round serves at most 32 words.
  const auto group = static_cast<size_t>(kBanks * kWord / std::max(bytes, kWord));
  int64_t rounds = 0;
  for (size_t first = 0; first < lanes; first += group) {
    std::array<llvm::SmallVector<int64_t, 2>, kBanks> wordsOf;
    for (int64_t offset : offsets.slice(first, std::min(group, lanes - first)))
      for (int64_t word = offset / kWord; word * kWord < offset + bytes; ++word)
        if (auto &words = wordsOf[static_cast<size_t>(word % kBanks)];
            !llvm::is_contained(words, word))
          words.push_back(word);
    size_t most = 0;
    for (const auto &words : wordsOf)
      most = std::max(most, words.size());
    rounds += static_cast<int64_t>(most);
  }
  return rounds;
}
