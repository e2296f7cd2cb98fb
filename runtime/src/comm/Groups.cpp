#include "runtime/src/comm/Groups.h"

#include "runtime/src/base/Status.h"

namespace dpc {

dpc_status_t findGroups(const dpc_comm_options_t &options, const char *transport,
                        uint32_t mostRanks, std::vector<Group> *out) {
  if (options.world_size == 0 || options.world_size > mostRanks ||
      options.rank >= options.world_size)
    return fail(DPC_INVALID, "rank %u of world size %u: the %s transport joins 1 to %u ranks",
                options.rank, options.world_size, transport, mostRanks);
  if (options.family_count == 0)
    return fail(DPC_INVALID, "group family 0, the whole world, is missing");
  for (uint32_t f = 0; f < options.family_count; ++f) {
    const dpc_group_family_t &family = options.families[f];
    Group group;
    group.family = family.name ? family.name : std::to_string(f);
    for (uint64_t i = 0; i < uint64_t(family.group_count) * family.group_size; ++i) {
      if (family.ranks[i] >= options.world_size)
        return fail(DPC_INVALID, "group family %s: rank %u in a world of %u", group.family.c_str(),
                    family.ranks[i], options.world_size);
      if (family.ranks[i] != options.rank)
        continue;
      group.index = static_cast<uint32_t>(i / family.group_size);
      group.self = static_cast<uint32_t>(i % family.group_size);
      const uint32_t *first = family.ranks + uint64_t(group.index) * family.group_size;
      group.members.assign(first, first + family.group_size);
      break;
    }
    out->push_back(std::move(group));
  }
  return DPC_OK;
}

} // namespace dpc
