#ifndef DPC_RUNTIME_SRC_COMM_OPERATION_H
#define DPC_RUNTIME_SRC_COMM_OPERATION_H

#include "runtime/src/base/OperationExtents.h"
#include "runtime/src/comm/Groups.h"
#include "runtime/src/comm/Region.h"

#include <string>

namespace dpc {

/// The buffers that one member of a group of `members` reads and writes;
/// `isRoot` says whether the member is the one that `op.peer` names.
inline Extents extentsOf(const dpc_comm_op_t &op, uint64_t members, bool isRoot) {
  return extentsOf(op.op, op.count, members, isRoot);
}

/// "all-reduce of buffer 3" or "all-reduce of the runtime's own data", for messages.
std::string operationText(uint32_t op, uint64_t bufferId);

/// DPC_INVALID, before the operation is announced, if no rank could perform it:
/// an unknown operation, type or reduction, a group without this rank, a peer
/// outside of the group, or a buffer outside of the communicator's memory.
dpc_status_t checkOperation(const dpc_comm_op_t &op, const std::vector<Group> &groups,
                            const Region &memory);

/// The description of an operation that a member announces when it starts it.
/// All members of the group must announce the same. It is plain data, because
/// it is placed in shared memory and sent over sockets.
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

/// The announcement of an operation. On a pair of ranks (`onPair`), a send and
/// its receive have equal announcements.
Announcement announce(const dpc_comm_op_t &op, bool onPair);

/// The rank that departs from the plan, and a message that says so, for
/// announcements of `members` that differ.
struct Departure {
  uint32_t guilty;
  std::string text;
};
/// The guilty rank is the first one outside the majority. Without a majority it
/// is the first that differs from the group's first member. `sequence` is the
/// operation's number in the group.
Departure findDeparture(const std::vector<Announcement> &said, const std::vector<uint32_t> &members,
                        uint64_t sequence);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_OPERATION_H
