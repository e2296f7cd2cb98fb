#ifndef DPC_RUNTIME_SRC_BASE_GROUPS_H
#define DPC_RUNTIME_SRC_BASE_GROUPS_H

#include "dpc/program.h"

#include <vector>

namespace dpc {

/// For each group family, the index of a rank in its group. The index is 0 for a
/// family whose groups do not contain the rank.
std::vector<uint32_t> indexInGroups(const dpc_program_t &program, uint32_t rank);

/// The coordinate of a rank on a mesh axis. The axis must not be sequential.
uint32_t coordinateOf(const dpc_program_t &program, uint32_t rank, uint32_t axis);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_GROUPS_H
