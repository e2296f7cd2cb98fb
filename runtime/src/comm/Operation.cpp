// The checks that every transport makes before data moves. This rank must be able
// to perform the operation, and all members of the group must have announced the
// same operation.
#include "runtime/src/comm/Operation.h"

#include "dpc/action.h"
#include "runtime/src/base/OperationNames.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/ReduceKernels.h"

#include <cstdio>

namespace dpc {

namespace {

std::string bufferText(uint64_t id) {
  return id == DPC_CONTROL_BUFFER ? "the runtime's own data" : "buffer " + std::to_string(id);
}

dpc_status_t checkBuffer(const dpc_comm_op_t &op, const Region &memory, const char *which,
                         const void *pointer, uint64_t elements) {
  if (elements == Extents::kNone || memory.holds(pointer, elements * dpc_dtype_size(op.dtype)))
    return DPC_OK;
  return fail(DPC_INVALID,
              "%s: %s of %llu x %s is not in memory that the communicator has allocated",
              operationText(op.op, op.buffer_id).c_str(), which,
              static_cast<unsigned long long>(elements), dpc_dtype_name(op.dtype));
}

std::string describe(const Announcement &said) {
  char text[160];
  static const char *const reductions[] = {"sum", "max", "min"};
  std::snprintf(text, sizeof text, "%s %s of %llu x %s, %s, peer %u", opName(said.op),
                reductions[said.reduction % 3], static_cast<unsigned long long>(said.count),
                dpc_dtype_name(said.dtype), bufferText(said.bufferId).c_str(), said.peer);
  return text;
}

} // namespace

std::string operationText(uint32_t op, uint64_t bufferId) {
  return opName(op) + (op == DPC_OP_BARRIER ? "" : " of " + bufferText(bufferId));
}

dpc_status_t checkOperation(const dpc_comm_op_t &op, const std::vector<Group> &groups,
                            const Region &memory) {
  constexpr uint64_t kMostElements = 1ull << 40; // products of sizes do not overflow
  if (op.op == 0 || op.op >= DPC_OP_COUNT)
    return fail(DPC_INVALID, "unknown communication %u", op.op);
  if (op.family >= groups.size())
    return fail(DPC_INVALID, "%s: group family %u of %zu", opName(op.op), op.family, groups.size());
  const Group &group = groups[op.family];
  if (group.members.empty())
    return fail(DPC_INVALID, "%s: this rank is in no group of family %s", opName(op.op),
                group.family.c_str());
  if (op.op == DPC_OP_BARRIER)
    return DPC_OK;
  if (dpc_dtype_size(op.dtype) == 0)
    return fail(DPC_INVALID, "%s: unknown element type %u", opName(op.op), op.dtype);
  const uint64_t members = group.members.size();
  const bool pair = op.op == DPC_OP_SEND || op.op == DPC_OP_RECV;
  const bool rooted = op.op == DPC_OP_BROADCAST || op.op == DPC_OP_REDUCE ||
                      op.op == DPC_OP_GATHER || op.op == DPC_OP_SCATTER;
  if ((pair || rooted) && op.peer >= members)
    return fail(DPC_INVALID, "%s: peer %u in a group of %llu", opName(op.op), op.peer,
                static_cast<unsigned long long>(members));
  if (pair && op.peer == group.self)
    return fail(DPC_INVALID, "%s: a rank cannot be its own peer", opName(op.op));
  const bool reduces =
      op.op == DPC_OP_ALL_REDUCE || op.op == DPC_OP_REDUCE || op.op == DPC_OP_REDUCE_SCATTER;
  if (reduces && !reduceKernel(op.dtype, op.reduction))
    return fail(DPC_INVALID, "%s: reduction %u of %s is not supported", opName(op.op), op.reduction,
                dpc_dtype_name(op.dtype));
  if (op.count > kMostElements)
    return fail(DPC_INVALID, "%s: %llu elements are more than %llu", opName(op.op),
                static_cast<unsigned long long>(op.count),
                static_cast<unsigned long long>(kMostElements));
  if (op.flags & DPC_COMM_ANNOUNCED)
    return DPC_OK;
  const Extents extents = extentsOf(op, members, group.self == op.peer);
  if (dpc_status_t status = checkBuffer(op, memory, "input", op.in, extents.in))
    return status;
  return checkBuffer(op, memory, "output", op.out, extents.out);
}

bool Announcement::operator==(const Announcement &other) const {
  return op == other.op && dtype == other.dtype && reduction == other.reduction &&
         peer == other.peer && count == other.count && bufferId == other.bufferId;
}

Announcement announce(const dpc_comm_op_t &op, bool onPair) {
  return {static_cast<uint8_t>(onPair ? uint32_t(DPC_OP_SEND) : op.op),
          static_cast<uint8_t>(op.dtype),
          static_cast<uint8_t>(op.reduction),
          0,
          onPair ? 0 : op.peer,
          op.count,
          op.buffer_id};
}

Departure findDeparture(const std::vector<Announcement> &said, const std::vector<uint32_t> &members,
                        uint64_t sequence) {
  uint32_t guilty = 0, most = 0;
  for (const Announcement &one : said) {
    uint32_t votes = 0;
    for (const Announcement &other : said)
      votes += one == other;
    if (votes > most) {
      most = votes;
      guilty = 0;
      while (one == said[guilty])
        ++guilty;
    }
  }
  uint32_t other = 0;
  while (said[guilty] == said[other])
    ++other;
  char text[240];
  std::snprintf(text, sizeof text,
                "rank %u does not follow the plan: it starts %s where rank %u "
                "starts %s (operation %llu)",
                members[guilty], describe(said[guilty]).c_str(), members[other],
                describe(said[other]).c_str(), static_cast<unsigned long long>(sequence));
  return {members[guilty], text};
}

} // namespace dpc
