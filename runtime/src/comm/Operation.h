#ifndef DPC_RUNTIME_SRC_COMM_OPERATION_H
#define DPC_RUNTIME_SRC_COMM_OPERATION_H

#include "runtime/src/base/OperationExtents.h"
#include "runtime/src/comm/Groups.h"
#include "runtime/src/comm/Region.h"

#include <string>

namespace dpc {

/// What a member of a group of `members` reads and writes; `isRoot` says whether
/// it is the one that `op.peer` names.
inline Extents extentsOf(const dpc_comm_op_t &op, uint64_t members, bool isRoot) {
  return extentsOf(op.op, op.count, members, isRoot);
}

/// "all-reduce of buffer 3" or "all-reduce of the runtime's own data", for messages.
std::string operationText(uint32_t op, uint64_t bufferId);

/// DPC_INVALID, before anything is announced, for what no rank could do: an
/// unknown operation, type or reduction, a group that this rank is not in, a
/// peer outside of it, a buffer outside of the communicator's memory.
dpc_status_t checkOperation(const dpc_comm_op_t &op, const std::vector<Group> &groups,
                            const Region &memory);

/// What a member says of an operation when it starts it; all members of the
/// group must say the same. Of plain data: it goes into shared memory and over
/// wires.
struct Announcement {
  uint8_t op;
  uint8_t dtype;
  uint8_t reduction;
  uint8_t reserved;
  uint32_t peer;
  uint64_t count;
  uint64_t bufferId;

  bool operator==(const Announcement &other) const;
};
static_assert(sizeof(Announcement) == 24);

/// Between a pair (`onPair`), a send and its receive are announced alike.
Announcement announce(const dpc_comm_op_t &op, bool onPair);

/// Which rank does not follow the plan, and a text that says so, where the
/// announcements of the ranks `members` differ.
struct Departure {
  uint32_t guilty;
  std::string text;
};
/// The guilty one is outside the majority; without a majority, it is the first
/// that differs from the group's first member. `sequence` is the operation's
/// number in the group.
Departure findDeparture(const std::vector<Announcement> &said, const std::vector<uint32_t> &members,
                        uint64_t sequence);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_OPERATION_H
