#include "runtime/src/plan/GroupPlaces.h"

#include "runtime/src/base/Status.h"

namespace dpc::plan {

dpc_status_t GroupPlaces::find(const dpc_program_t &program) {
  places.assign(program.family_count, std::vector<Place>(program.world_size));
  for (uint32_t f = 0; f < program.family_count; ++f) {
    const dpc_group_family_t &family = program.families[f];
    for (uint64_t i = 0; i < uint64_t(family.group_count) * family.group_size; ++i) {
      const uint32_t rank = family.ranks[i];
      if (rank >= program.world_size)
        return fail(DPC_INVALID, "group family %s names rank %u of %u", family.name, rank,
                    program.world_size);
      if (places[f][rank].group != DPC_NONE)
        return fail(DPC_INVALID, "group family %s names rank %u twice", family.name, rank);
      places[f][rank] = {static_cast<uint32_t>(i / family.group_size),
                         static_cast<uint32_t>(i % family.group_size)};
    }
  }
  return DPC_OK;
}

} // namespace dpc::plan
