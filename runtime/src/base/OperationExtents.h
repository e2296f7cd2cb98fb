#ifndef DPC_RUNTIME_SRC_BASE_OPERATIONEXTENTS_H
#define DPC_RUNTIME_SRC_BASE_OPERATIONEXTENTS_H

#include "dpc/action.h"

namespace dpc {

/// Number of elements in the two buffers that an operation has on one member.
struct Extents {
  static constexpr uint64_t kNone = UINT64_MAX; ///< the member has no such buffer
  uint64_t in, out;
};

/// The extents of the buffers of an operation on one member of a group. `op` is
/// DPC_OP_*, `count` the operation's number of elements, `members` the number of
/// ranks in the group; `isRoot` says whether the member is the root. The table
/// in dpc/action.h defines the result.
inline Extents extentsOf(uint32_t op, uint64_t count, uint64_t members, bool isRoot) {
  constexpr uint64_t none = Extents::kNone;
  const uint64_t one = count, all = count * members;
  switch (op) {
  case DPC_OP_REDUCE_SCATTER:
    return {all, one};
  case DPC_OP_ALL_GATHER:
    return {one, all};
  case DPC_OP_ALL_TO_ALL:
    return {all, all};
  case DPC_OP_GATHER:
    return {one, isRoot ? all : none};
  case DPC_OP_REDUCE:
    return {one, isRoot ? one : none};
  case DPC_OP_SCATTER:
    return {isRoot ? all : none, one};
  case DPC_OP_BROADCAST:
    return {isRoot ? one : none, one};
  case DPC_OP_SEND:
    return {one, none};
  case DPC_OP_RECV:
    return {none, one};
  default:
    return {one, one};
  }
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_OPERATIONEXTENTS_H
