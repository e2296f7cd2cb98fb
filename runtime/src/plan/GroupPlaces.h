#ifndef DPC_RUNTIME_SRC_PLAN_GROUPPLACES_H
#define DPC_RUNTIME_SRC_PLAN_GROUPPLACES_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <vector>

namespace dpc::plan {

/// The group of each family that each rank belongs to, and its index there.
class GroupPlaces {
public:
  struct Place {
    uint32_t group = DPC_NONE; ///< DPC_NONE: the rank is in no group
    uint32_t index = 0;
  };

  /// DPC_INVALID if a family names a rank twice, or a rank that does not exist.
  dpc_status_t find(const dpc_program_t &program);

  const Place &of(uint32_t family, uint32_t rank) const { return places[family][rank]; }
  /// The rank's index in its group; 0 without a family.
  uint64_t indexOf(uint32_t family, uint32_t rank) const {
    return family == DPC_NONE ? 0 : places[family][rank].index;
  }

private:
  std::vector<std::vector<Place>> places; ///< [family][rank]
};

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_GROUPPLACES_H
