// Groups of devices along mesh axes.
//
// Devices that agree on every axis outside of a list form a group. Its members are
// numbered by their coordinates along the list, first axis slowest. An axis that
// the mesh lacks has size 1.

#ifndef DPC_DIALECTS_DIST_IR_MESHGROUPS_H
#define DPC_DIALECTS_DIST_IR_MESHGROUPS_H

#include "dialects/Dist/IR/MeshShape.h"

namespace dpc::dist {

/// The number of members of each group along `axes`.
int64_t groupSize(const MeshShape &mesh, llvm::ArrayRef<llvm::StringRef> axes);

/// The number of the device at `coordinates` (one per axis of the mesh) in its
/// group along `axes`.
int64_t groupIndex(const MeshShape &mesh, llvm::ArrayRef<llvm::StringRef> axes,
                   llvm::ArrayRef<int64_t> coordinates);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MESHGROUPS_H
