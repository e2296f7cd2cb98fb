#ifndef DPC_RUNTIME_SRC_COMM_OPERATION_H
#define DPC_RUNTIME_SRC_COMM_OPERATION_H

#include "runtime/src/base/OperationExtents.h"
#include "runtime/src/comm/Groups.h"
#include "runtime/src/comm/Region.h"

#include <string>

namespace dpc {

/// The extents of the buffers of `op` on one member of a group of `members` ranks.
/// `isRoot` says whether `op.peer` is the index of this member.
inline Extents extentsOf(const dpc_comm_op_t &op, uint64_t members, bool isRoot) {
  return extentsOf(op.op, op.count, members, isRoot);
}

/// Describes an operation in messages: "all-reduce of buffer 3", or "all-reduce of
/// the runtime's own data" for DPC_CONTROL_BUFFER.
std::string operationText(uint32_t op, uint64_t bufferId);

/// Checks an operation before this rank announces it. Returns DPC_INVALID if the
/// operation, type or reduction is unknown. This rank must belong to a group of the
/// family, and the peer to the same group. All buffers must lie in the
/// communicator's memory, except the buffers of an operation with
/// DPC_COMM_ANNOUNCED, which moves no data.
dpc_status_t checkOperation(const dpc_comm_op_t &op, const std::vector<Group> &groups,
                            const Region &memory);

/// The description of an operation, which a member announces to its group when it
/// starts the operation. All members must announce equal descriptions. The struct
/// is plain data, because transports copy it to shared memory or send it over
/// sockets.
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

/// Makes the announcement of an operation. `onPair` means that the operation is a
/// send or receive between two ranks: a send and its receive have equal
/// announcements.
Announcement announce(const dpc_comm_op_t &op, bool onPair);

/// The result of announcements that differ: the rank that does not follow the
/// plan, and a message for the user.
struct Departure {
  uint32_t guilty;
  std::string text;
};
/// Finds the guilty rank if the announcements `said` of `members` differ: the first
/// rank whose announcement is not the most frequent one. If several announcements
/// are equally frequent, the first of them counts as the most frequent. `sequence`
/// is the operation's number in the group, for the message.
Departure findDeparture(const std::vector<Announcement> &said, const std::vector<uint32_t> &members,
                        uint64_t sequence);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_OPERATION_H
