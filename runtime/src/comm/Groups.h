#ifndef DPC_RUNTIME_SRC_COMM_GROUPS_H
#define DPC_RUNTIME_SRC_COMM_GROUPS_H

#include "dpc/comm.h"

#include <string>
#include <vector>

namespace dpc {

/// The group, among the groups of one family, that this rank belongs to.
struct Group {
  std::string family;            ///< name of the family, for messages
  uint32_t index = 0;            ///< index of the group in the family
  std::vector<uint32_t> members; ///< ranks; empty: no group of the family has this rank
  uint32_t self = 0;             ///< this rank's index among the members
};

/// Finds this rank's group of each family. Returns DPC_INVALID if the world size is
/// not in [1, mostRanks]. This rank, and all ranks of the families, must be below
/// the world size. `transport` is the name of the transport, for messages.
dpc_status_t findGroups(const dpc_comm_options_t &options, const char *transport,
                        uint32_t mostRanks, std::vector<Group> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_GROUPS_H
