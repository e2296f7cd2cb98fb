// Reads the communication of action tables: its operations, and which of them a communicator runs
// before the first step.

#include "runtime/src/device/Operations.h"

#include "runtime/src/base/Groups.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dpc {

namespace {

bool isMessage(uint32_t op) { return op == DPC_OP_SEND || op == DPC_OP_RECV; }

/// What operations of equal connections have in common. Both ends of a message have the same kind,
/// and kinds have the same order on all ranks.
using Kind = std::tuple<uint32_t, bool, uint32_t, uint32_t, uint32_t>;

Kind kindOf(const dpc_comm_op_t &op, uint32_t self) {
  if (isMessage(op.op)) {
    const bool isUpward = (op.op == DPC_OP_SEND) == (self < op.peer);
    return {op.family, true, std::min(self, op.peer), std::max(self, op.peer), isUpward};
  }
  const bool hasRoot = op.op == DPC_OP_GATHER || op.op == DPC_OP_SCATTER;
  return {op.family, false, op.op, hasRoot ? op.peer : 0, 0};
}

/// An order of the operations of a kind, by size. It is equal on all ranks.
auto sizeOf(const PlacedOperation &each) {
  const dpc_comm_op_t &op = each.op;
  return std::make_tuple(op.count * dpc_dtype_size(op.dtype), op.dtype, op.reduction,
                         isMessage(op.op) ? 0 : op.peer, op.buffer_id);
}

} // namespace

dpc_comm_op_t operationOf(const dpc_action_t &action) {
  dpc_comm_op_t op = {};
  op.op = action.op;
  op.family = action.group;
  op.peer = action.peer;
  op.dtype = action.dtype;
  op.reduction = action.reduction;
  op.location = action.location;
  op.count = action.count;
  op.buffer_id = action.buffer_id;
  return op;
}

DeviceAddress placeOf(const dpc_buffer_t &buffer, uint32_t family,
                      const std::vector<uint32_t> &groupIndex) {
  const uint64_t index = family == DPC_NONE ? 0 : groupIndex[family];
  return {buffer.space, buffer.offset + index * buffer.index_stride};
}

std::vector<PlacedOperation> findFirstOperations(const dpc_program_t &program, uint32_t rank) {
  const std::vector<uint32_t> groupIndex = indexInGroups(program, rank);
  struct Ends {
    PlacedOperation smallest, largest;
  };
  std::map<Kind, Ends> kinds;
  for (const dpc_actions_t &table : program.ranks[rank].entries)
    for (uint64_t i = 0; i < table.count; ++i) {
      const dpc_action_t &action = table.actions[i];
      if (action.kind != DPC_ACTION_START || program.families[action.group].group_size < 2)
        continue;
      const PlacedOperation own = {operationOf(action),
                                   placeOf(action.in, action.group, groupIndex),
                                   placeOf(action.out, action.group, groupIndex)};
      const auto [at, isNew] =
          kinds.try_emplace(kindOf(own.op, groupIndex[action.group]), Ends{own, own});
      Ends &ends = at->second;
      if (!isNew && sizeOf(own) < sizeOf(ends.smallest))
        ends.smallest = own;
      if (!isNew && sizeOf(ends.largest) < sizeOf(own))
        ends.largest = own;
    }
  std::vector<PlacedOperation> found;
  for (const auto &[kind, ends] : kinds) {
    found.push_back(ends.smallest);
    if (sizeOf(ends.smallest) < sizeOf(ends.largest))
      found.push_back(ends.largest);
  }
  return found;
}

} // namespace dpc
