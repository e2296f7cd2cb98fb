#ifndef DPC_RUNTIME_SRC_BASE_GROUPS_H
#define DPC_RUNTIME_SRC_BASE_GROUPS_H

#include "dpc/program.h"

#include <vector>

namespace dpc {

/// The index of a rank in its group of each family; 0 for a family that the
/// rank is not in.
std::vector<uint32_t> indexInGroups(const dpc_program_t &program, uint32_t rank);

/// The coordinate of a rank on an axis of the mesh that is not sequential.
uint32_t coordinateOf(const dpc_program_t &program, uint32_t rank, uint32_t axis);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_GROUPS_H
