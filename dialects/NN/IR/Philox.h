#ifndef DPC_DIALECTS_NN_IR_PHILOX_H
#define DPC_DIALECTS_NN_IR_PHILOX_H

#include <array>
#include <cstdint>

namespace dpc::nn {

/// The random number generator Philox 4x32-10, which maps a counter and a key to
/// four random words. Source: Salmon, Moraes, Dror, Shaw, "Parallel random
/// numbers: as easy as 1, 2, 3", SC 2011.
inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                          std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(0xD2511F53u) * counter[0];
    uint64_t product1 = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key[0], uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key[1], uint32_t(product0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// The key of the random op whose attribute `ordinal` is `ordinal`: output number
/// `ordinal` (from 0) of SplitMix64 with the initial state `seed`.
inline uint64_t randomKey(uint64_t seed, uint64_t ordinal) {
  uint64_t z = seed + (ordinal + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// The number in [0, 1) that `nn.random_uniform` computes.
inline double randomUniform(uint64_t seed, uint64_t step, uint64_t ordinal, uint64_t index) {
  uint64_t key = randomKey(seed, ordinal);
  std::array<uint32_t, 4> words =
      philox4x32({uint32_t(index), uint32_t(index >> 32), uint32_t(step), uint32_t(step >> 32)},
                 {uint32_t(key), uint32_t(key >> 32)});
  return (words[0] >> 8) * 0x1p-24;
}

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_PHILOX_H
