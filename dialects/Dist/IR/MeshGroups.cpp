#include "dialects/Dist/IR/MeshGroups.h"

using namespace dpc::dist;
using llvm::ArrayRef;
using llvm::StringRef;

int64_t dpc::dist::groupSize(const MeshShape &mesh, ArrayRef<StringRef> axes) {
  int64_t size = 1;
  for (StringRef axis : axes)
    size *= mesh.axisSize(axis);
  return size;
}

int64_t dpc::dist::groupIndex(const MeshShape &mesh, ArrayRef<StringRef> axes,
                              ArrayRef<int64_t> coordinates) {
  int64_t index = 0;
  for (StringRef axis : axes) {
    std::optional<unsigned> position = mesh.axisIndex(axis);
    index = index * mesh.axisSize(axis) + (position ? coordinates[*position] : 0);
  }
  return index;
}
