// Named axes of a device mesh.
//
// The mesh on which a program is laid out. Axes are in rank order, the last one
// fastest.

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

/// Ordered mesh axes. Ranks enumerate the parallel axes row-major; sequential
/// axes do not count.
struct MeshShape {
  llvm::SmallVector<MeshAxis, 4> axes;

  MeshShape() = default;
  MeshShape(std::initializer_list<MeshAxis> list) : axes(list) {}

  /// A one-line description of a defect: an empty, malformed or repeated name, or a
  /// size below 1. None if the shape is sound.
  std::optional<std::string> check() const;

  /// The number of ranks: the product of the parallel axes.
  int64_t worldSize() const;

  /// Position of axis `name` in `axes`, or none.
  std::optional<unsigned> axisIndex(llvm::StringRef name) const;

  /// The size of axis `name`; 1 for an axis that the mesh lacks, which therefore
  /// cuts nothing.
  int64_t axisSize(llvm::StringRef name) const;

  /// The coordinates of a rank in [0, worldSize()), one per axis in the order of
  /// `axes`. Sequential axes take their coordinates from `sequential`, in the order
  /// of these axes, and 0 if it is too short.
  llvm::SmallVector<int64_t, 4> coordinates(int64_t rank,
                                            llvm::ArrayRef<int64_t> sequential = {}) const;

  /// The rank at `coordinates` (one per axis; those of sequential axes are
  /// ignored).
  int64_t rankOf(llvm::ArrayRef<int64_t> coordinates) const;

  bool operator==(const MeshShape &other) const { return axes == other.axes; }
};

/// Whether `name` is a valid axis name: a letter or underscore, then letters,
/// digits and underscores.
bool isAxisName(llvm::StringRef name);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MESHSHAPE_H
