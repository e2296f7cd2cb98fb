// The layout of a logical tensor on a mesh.
//
// A dimension is a list of segments (a sum, which concat makes and split undoes). A
// segment is a list of factors, major to minor (a product, which reshape makes and
// undoes). The axes of a factor cut it one after another, outermost first. Each
// axis divides the extent that the previous one left, rounded up. The local extent
// is the sum over segments of the products over factors. An element is padding if
// its index within any factor is past the factor's size, so holes may be inside a
// dimension. Axes are names: a layout prints and parses without a mesh, and is
// resolved against a mesh when local extents or indices are computed.
//
//   [(8: micro,data)], [(4: model)(8) + (4: model)(8)], [12] partial sum(data)

#ifndef DPC_DIALECTS_DIST_IR_LAYOUT_H
#define DPC_DIALECTS_DIST_IR_LAYOUT_H

#include "dialects/Dist/IR/DistEnums.h"
#include "dialects/Dist/IR/MeshShape.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dpc::dist {

using AxisNames = llvm::SmallVector<std::string, 2>;

/// `size` consecutive indices, cut by `axes`, outermost first.
struct Factor {
  int64_t size = 1;
  AxisNames axes;

  Factor() = default;
  Factor(int64_t size, AxisNames axes = {}) : size(size), axes(std::move(axes)) {}

  bool operator==(const Factor &other) const { return size == other.size && axes == other.axes; }
  bool operator!=(const Factor &other) const { return !(*this == other); }
};

/// A product of factors, major to minor.
struct Segment {
  llvm::SmallVector<Factor, 2> factors;

  Segment() = default;
  Segment(std::initializer_list<Factor> list) : factors(list) {}

  int64_t extent() const;
  bool operator==(const Segment &other) const { return factors == other.factors; }
  bool operator!=(const Segment &other) const { return !(*this == other); }
};

/// A sum of segments.
struct DimLayout {
  llvm::SmallVector<Segment, 1> segments;

  DimLayout() = default;
  DimLayout(std::initializer_list<Segment> list) : segments(list) {}
  /// `extent` indices that every device has completely.
  static DimLayout replicated(int64_t extent) { return {Segment{Factor(extent)}}; }

  int64_t extent() const;
  bool operator==(const DimLayout &other) const { return segments == other.segments; }
  bool operator!=(const DimLayout &other) const { return !(*this == other); }
};

/// The logical value is the `reduction` of the devices' values over `axis`.
struct Partial {
  std::string axis;
  Reduction reduction = Reduction::sum;

  bool operator==(const Partial &other) const {
    return axis == other.axis && reduction == other.reduction;
  }
};

/// One DimLayout per dimension, and the axes over which the value still has to be
/// reduced.
/// `==` compares structure. To compare indices, call sameIndices, or normalise both
/// first.
struct Layout {
  llvm::SmallVector<DimLayout, 4> dims;
  llvm::SmallVector<Partial, 1> partial;

  /// The layout in which every device has every element.
  static Layout replicated(llvm::ArrayRef<int64_t> shape);
  /// The logical shape: the extents of the dimensions.
  llvm::SmallVector<int64_t, 4> shape() const;

  bool operator==(const Layout &other) const {
    return dims == other.dims && partial == other.partial;
  }
  bool operator!=(const Layout &other) const { return !(*this == other); }
};

llvm::hash_code hash_value(const Layout &layout);

//===-- Soundness and queries ---------------------------------------------===//

/// Checks whether `layout` is a layout of a tensor of `shape` on `mesh`; returns
/// none or a one-line description of the defect. Extents must agree, sizes be at
/// least 1, and every axis be in the mesh. An axis may be used in at most one
/// dimension, once in each of its segments, and not be a partial axis too. All
/// functions below expect a layout that passes this check.
std::optional<std::string> check(const Layout &layout, llvm::ArrayRef<int64_t> shape,
                                 const MeshShape &mesh);

/// Extent of `factor` on each device: its size divided by one axis after the other,
/// rounded up each time.
int64_t localSize(const Factor &factor, const MeshShape &mesh);
/// Extent of `dim` on each device, including padding.
int64_t localExtent(const DimLayout &dim, const MeshShape &mesh);
/// Shape of a device's shard, including padding; the same on all devices.
llvm::SmallVector<int64_t, 4> localShape(const Layout &layout, const MeshShape &mesh);
/// Bytes of a device's shard, padding included, of elements of `elementBytes` each.
double shardBytes(const Layout &layout, const MeshShape &mesh, int64_t elementBytes);

/// Whether any device has padding along `dim`.
bool hasPadding(const DimLayout &dim, const MeshShape &mesh);
bool hasPadding(const Layout &layout, const MeshShape &mesh);

/// Whether every device has the complete, reduced value.
bool isReplicated(const Layout &layout);
/// Axes that cut `dim`, in order of first appearance.
AxisNames shardedAxes(const DimLayout &dim);
/// Axes that cut any dimension, in order of first appearance, without partial axes.
AxisNames shardedAxes(const Layout &layout);

/// The extent of `dim`, or none if it overflows 64 bits.
std::optional<int64_t> checkedExtent(const DimLayout &dim);

/// Global index of each local index of `dim` on the device at `coordinates` (one
/// per mesh axis); -1 for padding.
std::vector<int64_t> localIndices(const DimLayout &dim, llvm::ArrayRef<int64_t> coordinates,
                                  const MeshShape &mesh);

//===-- Normal form and equality ------------------------------------------===//

/// The normal form. Layouts that are equal on every mesh by structure have the same
/// normal form: uncut factors of size 1 are dropped, adjacent uncut factors are
/// multiplied, adjacent segments that differ only in a leading uncut factor are
/// added ((4: m)(8) + (4: m)(8) is (2)(4: m)(8); 3 + 5 is 8), and partial axes are
/// sorted by name. A segment of extent 1 keeps one factor of size 1.
DimLayout normalize(const DimLayout &dim);
Layout normalize(const Layout &layout);

/// Whether every device has the same indices in the same order, including padding.
/// Compares structure first, and runs of indices if structure does not decide.
/// Partial axes are not compared.
bool sameIndices(const DimLayout &a, const DimLayout &b, const MeshShape &mesh);
bool sameIndices(const Layout &a, const Layout &b, const MeshShape &mesh);

//===-- Text --------------------------------------------------------------===//

void print(const DimLayout &dim, llvm::raw_ostream &os);
/// Prints `[dim], [dim] partial sum(axis,axis), max(axis)`; a tensor of rank 0
/// prints as `scalar`. A factor prints as `(size: axis,axis)`, an uncut one as
/// `(size)`, and a segment of one uncut factor as `size`.
void print(const Layout &layout, llvm::raw_ostream &os);
std::string toString(const DimLayout &dim);
std::string toString(const Layout &layout);

/// Parses the format of print; parse(print(l)) == l. Errors have the form "column
/// 7: expected ...", with columns counted from 1. `parseLayoutPrefix` stops after
/// the layout and sets `text` to the remainder.
llvm::Expected<Layout> parseLayout(llvm::StringRef text);
llvm::Expected<Layout> parseLayoutPrefix(llvm::StringRef &text);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUT_H
