#include "runtime/src/base/Groups.h"

namespace dpc {

std::vector<uint32_t> indexInGroups(const dpc_program_t &program, uint32_t rank) {
  std::vector<uint32_t> index(program.family_count);
  for (uint32_t f = 0; f < program.family_count; ++f) {
    const dpc_group_family_t &family = program.families[f];
    for (uint64_t i = 0; i < uint64_t(family.group_count) * family.group_size; ++i)
      if (family.ranks[i] == rank)
        index[f] = static_cast<uint32_t>(i % family.group_size);
  }
  return index;
}

uint32_t coordinateOf(const dpc_program_t &program, uint32_t rank, uint32_t axis) {
  // The rank is the mixed-radix number of its coordinates, with the last axis
  // varying fastest.
  for (uint32_t a = program.axis_count; --a > axis;)
    if (!program.axes[a].sequential)
      rank /= program.axes[a].size;
  return rank % program.axes[axis].size;
}

} // namespace dpc
