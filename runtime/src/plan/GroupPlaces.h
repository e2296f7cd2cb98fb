#ifndef DPC_RUNTIME_SRC_PLAN_GROUPPLACES_H
#define DPC_RUNTIME_SRC_PLAN_GROUPPLACES_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <vector>

namespace dpc::plan {

/// For each group family and each rank: the group to which the rank belongs, and the
/// rank's index in this group.
class GroupPlaces {
public:
  struct Place {
    uint32_t group = DPC_NONE; ///< DPC_NONE: no group of the family has the rank
    uint32_t index = 0;
  };

  /// Fills the table. Returns DPC_INVALID if a family names a rank twice, or names a
  /// rank that does not exist.
  dpc_status_t find(const dpc_program_t &program);

  const Place &of(uint32_t family, uint32_t rank) const { return places[family][rank]; }
  /// The rank's index in its group of the family; 0 if `family` is DPC_NONE.
  uint64_t indexOf(uint32_t family, uint32_t rank) const {
    return family == DPC_NONE ? 0 : places[family][rank].index;
  }

private:
  std::vector<std::vector<Place>> places; ///< [family][rank]
};

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_GROUPPLACES_H
