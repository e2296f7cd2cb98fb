// Layouts by brute force.
//
// What a layout means, spelled out as index lists, and random layouts to
// compare with. Shares no code with the algebra under test.

#ifndef DPC_TEST_UNIT_DIALECTS_DIST_IR_LAYOUTREFERENCE_H
#define DPC_TEST_UNIT_DIALECTS_DIST_IR_LAYOUTREFERENCE_H

#include "dialects/Dist/IR/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include <random>

namespace dpc::dist::reference {

using Indices = std::vector<int64_t>; // -1 is padding
using Coordinates = llvm::SmallVector<int64_t, 4>;

/// All coordinates of the mesh, sequential axes included.
inline std::vector<Coordinates> allCoordinates(const MeshShape &mesh) {
  std::vector<Coordinates> all{Coordinates()};
  for (const MeshAxis &axis : mesh.axes) {
    std::vector<Coordinates> longer;
    for (const Coordinates &prefix : all)
      for (int64_t i = 0; i < axis.size; ++i) {
        longer.push_back(prefix);
        longer.back().push_back(i);
      }
    all = std::move(longer);
  }
  return all;
}

/// [0, size) cut by ceil along each axis in turn.
inline Indices chunk(const Factor &factor, const Coordinates &at, const MeshShape &mesh) {
  Indices list(factor.size);
  for (int64_t i = 0; i < factor.size; ++i)
    list[i] = i;
  for (const std::string &name : factor.axes) {
    unsigned axis = *mesh.axisIndex(name);
    int64_t parts = mesh.axes[axis].size, size = (int64_t(list.size()) + parts - 1) / parts;
    Indices mine(size, -1);
    for (int64_t i = 0; i < size; ++i)
      if (at[axis] * size + i < int64_t(list.size()))
        mine[i] = list[at[axis] * size + i];
    list = std::move(mine);
  }
  return list;
}

/// Row-major product: every pair of an index of `major` and one of [0, extent)
/// listed in `minor`.
inline Indices product(const Indices &major, const Indices &minor, int64_t extent) {
  Indices result;
  for (int64_t p : major)
    for (int64_t q : minor)
      result.push_back(p < 0 || q < 0 ? -1 : p * extent + q);
  return result;
}

inline Indices indices(const DimLayout &dim, const Coordinates &at, const MeshShape &mesh) {
  Indices result;
  int64_t base = 0;
  for (const Segment &segment : dim.segments) {
    Indices list{0};
    int64_t extent = 1;
    for (const Factor &factor : segment.factors) {
      list = product(list, chunk(factor, at, mesh), factor.size);
      extent *= factor.size;
    }
    for (int64_t i : list)
      result.push_back(i < 0 ? -1 : i + base);
    base += extent;
  }
  return result;
}

/// Row-major offsets in the whole tensor of the shard's elements.
inline Indices indices(const Layout &layout, const Coordinates &at, const MeshShape &mesh) {
  Indices list{0};
  for (const DimLayout &dim : layout.dims)
    list = product(list, indices(dim, at, mesh), dim.extent());
  return list;
}

/// Do both hold the same elements in the same order on every device?
template <typename T> bool same(const T &a, const T &b, const MeshShape &mesh) {
  return llvm::all_of(allCoordinates(mesh), [&](const Coordinates &at) {
    return indices(a, at, mesh) == indices(b, at, mesh);
  });
}

/// Random meshes, layouts and shapes from one seed.
struct Random {
  std::mt19937 engine;
  explicit Random(unsigned seed) : engine(seed) {}

  int64_t in(int64_t low, int64_t high) { return low + int64_t(engine() % (high - low + 1)); }
  bool oneIn(int64_t n) { return in(1, n) == 1; }

  MeshShape mesh(int64_t maxAxes = 3, int64_t maxSize = 4) {
    static const char *names[] = {"a", "b", "c", "d"};
    MeshShape mesh;
    for (int64_t i = 0, count = in(1, maxAxes); i < count; ++i)
      mesh.axes.push_back({names[i], oneIn(10) ? 1 : in(2, maxSize), oneIn(4)});
    return mesh;
  }

  Factor factor(int64_t maxSize) { return Factor(oneIn(8) ? 1 : in(1, maxSize)); }

  /// A dimension in which each segment uses some of `axes`.
  DimLayout dim(const AxisNames &axes, int64_t maxSegments, int64_t maxFactors, int64_t maxSize) {
    DimLayout dim;
    for (int64_t s = 0, count = oneIn(2) ? 1 : in(1, maxSegments); s < count; ++s) {
      if (s && oneIn(3)) { // concatenations of equals are common
        dim.segments.push_back(Segment(dim.segments.back()));
        continue;
      }
      Segment segment;
      for (int64_t f = 0, factors = in(1, maxFactors); f < factors; ++f)
        segment.factors.push_back(factor(maxSize));
      AxisNames order = axes;
      std::shuffle(order.begin(), order.end(), engine);
      for (const std::string &axis : order)
        if (!oneIn(4))
          segment.factors[in(0, segment.factors.size() - 1)].axes.push_back(axis);
      dim.segments.push_back(std::move(segment));
    }
    return dim;
  }

  Layout layout(const MeshShape &mesh, int64_t maxDims, int64_t maxSegments, int64_t maxFactors,
                int64_t maxSize) {
    Layout layout;
    int64_t rank = in(1, maxDims);
    std::vector<AxisNames> axes(rank);
    for (const MeshAxis &axis : mesh.axes) {
      int64_t owner = in(0, rank + 1);
      if (owner < rank)
        axes[owner].push_back(axis.name);
      else if (owner == rank)
        layout.partial.push_back({axis.name, Reduction(in(0, 2))});
    }
    for (const AxisNames &own : axes)
      layout.dims.push_back(dim(own, maxSegments, maxFactors, maxSize));
    return layout;
  }

  /// A shape of the same element count: the factors of `layout` (or all primes)
  /// regrouped.
  llvm::SmallVector<int64_t, 4> reshaped(const Layout &layout) {
    llvm::SmallVector<int64_t, 16> parts;
    bool primes = oneIn(2);
    for (const DimLayout &dim : layout.dims) {
      llvm::SmallVector<int64_t, 4> sizes{dim.extent()};
      if (dim.segments.size() == 1 && !primes) {
        sizes.clear();
        for (const Factor &factor : dim.segments.front().factors)
          sizes.push_back(factor.size);
      }
      for (int64_t size : sizes)
        for (int64_t p = 2; primes && p * p <= size;)
          size % p == 0 ? (parts.push_back(p), sizes.back() = size /= p) : ++p;
      parts.append(sizes);
    }
    if (primes && oneIn(2)) // cuts that fit nothing, too
      std::shuffle(parts.begin(), parts.end(), engine);
    llvm::SmallVector<int64_t, 4> shape{1};
    for (int64_t part : parts) {
      if (oneIn(3))
        shape.push_back(1);
      shape.back() *= part;
    }
    return shape;
  }
};

} // namespace dpc::dist::reference

#endif // DPC_TEST_UNIT_DIALECTS_DIST_IR_LAYOUTREFERENCE_H
