// Reductions over ranks: in the order of ranks, so the same bits every time, as
// NCCL does not promise. 16-bit floats are added in f32.
#include "test/cuda_emulator/base/Elements.h"
#include "test/cuda_emulator/nccl/Communicator.h"

#include <algorithm>

using namespace dpc::cuda;
using namespace dpc::emulator;

unsigned dpc::emulator::bytesOf(NcclType type) {
  switch (type) {
  case NcclType::i8:
  case NcclType::u8:
    return 1;
  case NcclType::f16:
  case NcclType::bf16:
    return 2;
  case NcclType::i32:
  case NcclType::u32:
  case NcclType::f32:
    return 4;
  default:
    return 8;
  }
}

template <typename Element, typename Sum>
static void reduceAs(char *out, const char *const *in, int ranks, size_t count,
                     NcclReduction reduction) {
  for (size_t i = 0; i < count; ++i) {
    auto at = [&](int rank) {
      return static_cast<Sum>(reinterpret_cast<const Element *>(in[rank])[i]);
    };
    Sum sum = at(0);
    for (int rank = 1; rank < ranks; ++rank) {
      const Sum other = at(rank);
      sum = reduction == NcclReduction::product ? sum * other
            : reduction == NcclReduction::max   ? std::max(sum, other)
            : reduction == NcclReduction::min   ? std::min(sum, other)
                                                : sum + other;
    }
    if (reduction == NcclReduction::average)
      sum = sum / static_cast<Sum>(ranks);
    reinterpret_cast<Element *>(out)[i] = static_cast<Element>(sum);
  }
}

void dpc::emulator::reduceBuffers(char *out, const char *const *in, int ranks, size_t count,
                                  NcclType type, NcclReduction reduction) {
  switch (type) {
  case NcclType::i8:
    return reduceAs<int8_t, int32_t>(out, in, ranks, count, reduction);
  case NcclType::u8:
    return reduceAs<uint8_t, uint32_t>(out, in, ranks, count, reduction);
  case NcclType::i32:
    return reduceAs<int32_t, int32_t>(out, in, ranks, count, reduction);
  case NcclType::u32:
    return reduceAs<uint32_t, uint32_t>(out, in, ranks, count, reduction);
  case NcclType::i64:
    return reduceAs<int64_t, int64_t>(out, in, ranks, count, reduction);
  case NcclType::u64:
    return reduceAs<uint64_t, uint64_t>(out, in, ranks, count, reduction);
  case NcclType::f16:
    return reduceAs<Half, float>(out, in, ranks, count, reduction);
  case NcclType::f32:
    return reduceAs<float, float>(out, in, ranks, count, reduction);
  case NcclType::f64:
    return reduceAs<double, double>(out, in, ranks, count, reduction);
  case NcclType::bf16:
    return reduceAs<Bfloat, float>(out, in, ranks, count, reduction);
  }
}
