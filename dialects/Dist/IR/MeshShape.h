// Named axes of a device mesh.
//
// A mesh is the grid of devices on which the tensors of a program lie. Ranks are
// numbered in row-major order: from one rank to the next, the coordinate on the
// last parallel axis changes first.

#ifndef DPC_DIALECTS_DIST_IR_MESHSHAPE_H
#define DPC_DIALECTS_DIST_IR_MESHSHAPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace dpc::dist {

/// One mesh axis. A sequential axis (`micro`) has no ranks: every rank iterates
/// over it in a loop.
struct MeshAxis {
  std::string name;
  int64_t size = 1;
  bool sequential = false;

  bool operator==(const MeshAxis &other) const {
    return name == other.name && size == other.size && sequential == other.sequential;
  }
};

/// The axes of a mesh in order. Ranks enumerate the coordinates on the parallel
/// axes in row-major order. Sequential axes do not contribute to the number of
/// ranks.
struct MeshShape {
  llvm::SmallVector<MeshAxis, 4> axes;

  MeshShape() = default;
  MeshShape(std::initializer_list<MeshAxis> list) : axes(list) {}

  /// A one-line description of a defect: an empty, malformed or repeated name, or a
  /// size below 1. None if the mesh has no defect.
  std::optional<std::string> check() const;

  /// The number of ranks: the product of the parallel axes.
  int64_t worldSize() const;

  /// Position of the axis `name` in `axes`, or none.
  std::optional<unsigned> axisIndex(llvm::StringRef name) const;

  /// The size of the axis `name`. It is 1 if the mesh does not have the axis, so
  /// that the axis cuts nothing.
  int64_t axisSize(llvm::StringRef name) const;

  /// The coordinates of rank `rank` in [0, worldSize()), one per axis in the order
  /// of `axes`. `sequential` has the coordinates on the sequential axes in their
  /// order; missing coordinates are 0.
  llvm::SmallVector<int64_t, 4> coordinates(int64_t rank,
                                            llvm::ArrayRef<int64_t> sequential = {}) const;

  /// The rank at `coordinates`, which has one entry per axis. Entries of sequential
  /// axes are ignored.
  int64_t rankOf(llvm::ArrayRef<int64_t> coordinates) const;

  bool operator==(const MeshShape &other) const { return axes == other.axes; }
};

/// Whether `name` is a valid axis name: a letter or underscore, then letters,
/// digits and underscores.
bool isAxisName(llvm::StringRef name);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MESHSHAPE_H
