// The layout of a logical tensor on a mesh.
//
// A dimension is a sum of segments: a concat joins segments, and a split separates
// them. A segment is a product of factors, major to minor: a reshape joins factors
// or separates them.
//
// The axes of a factor cut it one after another, outermost first. Each axis divides
// the extent that the previous axes left, and rounds up. The local extent of a
// dimension is the sum over its segments of the products of their factors' local
// extents. An element is padding if its index within any factor is past the end of
// the factor. Padding may therefore lie in the middle of a dimension.
//
// A layout names its axes, so it can be printed and parsed without a mesh.
// Functions that compute local extents or indices take the mesh as an argument.
// Example:
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

/// `size` consecutive indices, which `axes` cut one after another, outermost first.
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
  /// A dimension of `extent` indices. Every device has all of them.
  static DimLayout replicated(int64_t extent) { return {Segment{Factor(extent)}}; }

  int64_t extent() const;
  bool operator==(const DimLayout &other) const { return segments == other.segments; }
  bool operator!=(const DimLayout &other) const { return !(*this == other); }
};

/// The logical value is the `reduction` of the values that the devices along `axis`
/// have.
struct Partial {
  std::string axis;
  Reduction reduction = Reduction::sum;

  bool operator==(const Partial &other) const {
    return axis == other.axis && reduction == other.reduction;
  }
};

/// A layout has one DimLayout per dimension, and the axes over which the value
/// still has to be reduced. `==` compares segments, factors and axes. To compare
/// the indices that devices have, call sameIndices, or compare normalised layouts.
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

/// Checks whether `layout` is a layout of a tensor of `shape` on `mesh`. Returns a
/// one-line description of the first defect, or none. Extents must agree, sizes
/// must be at least 1, and the mesh must have all axes. An axis may cut at most
/// one dimension, and at most one factor of each of its segments. An axis may be
/// partial at most once, and only if it cuts no dimension. All functions below
/// expect a layout that passes this check.
std::optional<std::string> check(const Layout &layout, llvm::ArrayRef<int64_t> shape,
                                 const MeshShape &mesh);

/// Extent of `factor` on each device: its size, divided by the size of each axis
/// and rounded up each time.
int64_t localSize(const Factor &factor, const MeshShape &mesh);
/// Extent of `dim` on each device, including padding.
int64_t localExtent(const DimLayout &dim, const MeshShape &mesh);
/// Shape of a device's shard, including padding. All devices have shards of one
/// shape.
llvm::SmallVector<int64_t, 4> localShape(const Layout &layout, const MeshShape &mesh);
/// Bytes of a device's shard, including padding. Each element has `elementBytes`
/// bytes.
double shardBytes(const Layout &layout, const MeshShape &mesh, int64_t elementBytes);

/// Whether any device has padding along `dim`.
bool hasPadding(const DimLayout &dim, const MeshShape &mesh);
bool hasPadding(const Layout &layout, const MeshShape &mesh);

/// Whether every device has all elements of the reduced value: no axis cuts a
/// dimension or is partial.
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

/// The normal form. Two layouts have the same normal form if devices have the same
/// indices in both, whatever the sizes of the axes are. Normalisation drops uncut
/// factors of size 1, and multiplies adjacent uncut factors. It adds adjacent
/// segments that differ only in a leading uncut factor: (4: m)(8) + (4: m)(8)
/// becomes (2)(4: m)(8), and 3 + 5 becomes 8. It sorts partial axes by name. A
/// segment of extent 1 keeps one factor of size 1.
DimLayout normalize(const DimLayout &dim);
Layout normalize(const Layout &layout);

/// Whether every device has the same indices in both layouts, in the same order and
/// with the same padding. Compares the layouts first. If they differ, compares the
/// runs of indices that they give. Partial axes are not compared.
bool sameIndices(const DimLayout &a, const DimLayout &b, const MeshShape &mesh);
bool sameIndices(const Layout &a, const Layout &b, const MeshShape &mesh);

//===-- Text --------------------------------------------------------------===//

void print(const DimLayout &dim, llvm::raw_ostream &os);
/// Prints a layout as `[dim], [dim] partial sum(axis,axis), max(axis)`. The layout
/// of a tensor of rank 0 is printed as `scalar`. A factor is printed as `(size:
/// axis,axis)`, an uncut factor as `(size)`, and a segment of one uncut factor as
/// `size`.
void print(const Layout &layout, llvm::raw_ostream &os);
std::string toString(const DimLayout &dim);
std::string toString(const Layout &layout);

/// Parses the text that `print` prints, so that parseLayout(toString(layout)) ==
/// layout. Error messages have the form "column 7: expected ..."; the first column
/// is 1. `parseLayoutPrefix` parses a layout at the beginning of `text`, and sets
/// `text` to the remainder.
llvm::Expected<Layout> parseLayout(llvm::StringRef text);
llvm::Expected<Layout> parseLayoutPrefix(llvm::StringRef &text);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUT_H
