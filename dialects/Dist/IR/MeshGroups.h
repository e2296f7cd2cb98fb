// Groups of devices along mesh axes.
//
// Devices that agree on every axis outside a list form a group; its members are
// numbered by their coordinates on the list, first axis slowest. An axis that
// the mesh lacks has size 1.

#ifndef DPC_DIALECTS_DIST_IR_MESHGROUPS_H
#define DPC_DIALECTS_DIST_IR_MESHGROUPS_H

#include "dialects/Dist/IR/MeshShape.h"

namespace dpc::dist {

/// Members of each group along `axes`.
int64_t groupSize(const MeshShape &mesh, llvm::ArrayRef<llvm::StringRef> axes);

/// Number, in its group along `axes`, of the device at `coordinates` (one per
/// axis of the mesh).
int64_t groupIndex(const MeshShape &mesh, llvm::ArrayRef<llvm::StringRef> axes,
                   llvm::ArrayRef<int64_t> coordinates);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MESHGROUPS_H
