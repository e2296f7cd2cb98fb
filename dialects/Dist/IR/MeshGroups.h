// Groups of devices along mesh axes.
//
// Devices with the same coordinates on all axes except `axes` form a group along
// `axes`. For example, the groups along `data` in a mesh data=2, model=2 are the
// devices {0, 2} and {1, 3}. The members of a group are numbered by their
// coordinates along `axes`, with the first axis varying slowest. An axis that the
// mesh does not have counts as an axis of size 1.

#ifndef DPC_DIALECTS_DIST_IR_MESHGROUPS_H
#define DPC_DIALECTS_DIST_IR_MESHGROUPS_H

#include "dialects/Dist/IR/MeshShape.h"

namespace dpc::dist {

/// The number of members of each group along `axes`.
int64_t groupSize(const MeshShape &mesh, llvm::ArrayRef<llvm::StringRef> axes);

/// The number that the device at `coordinates` has in its group along `axes`.
/// `coordinates` has one entry per axis of the mesh.
int64_t groupIndex(const MeshShape &mesh, llvm::ArrayRef<llvm::StringRef> axes,
                   llvm::ArrayRef<int64_t> coordinates);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MESHGROUPS_H
