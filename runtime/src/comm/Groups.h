#ifndef DPC_RUNTIME_SRC_COMM_GROUPS_H
#define DPC_RUNTIME_SRC_COMM_GROUPS_H

#include "dpc/comm.h"

#include <string>
#include <vector>

namespace dpc {

/// The group of a family that a rank belongs to.
struct Group {
  std::string family;            ///< name, for messages
  uint32_t index = 0;            ///< which group of the family
  std::vector<uint32_t> members; ///< ranks; empty: this rank is in no group
  uint32_t self = 0;             ///< this rank's index among the members
};

/// Finds this rank's group of each family. DPC_INVALID if the world size is not
/// from 1 to `mostRanks`, if this rank is not below it, or if a family names
/// ranks outside of the world. The message names `transport`.
dpc_status_t findGroups(const dpc_comm_options_t &options, const char *transport,
                        uint32_t mostRanks, std::vector<Group> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_GROUPS_H
