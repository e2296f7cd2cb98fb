// Are all reshapes found?
//
// Where reshapeLayout says that no layout of the new shape fits, all of them
// are tried: every way to write each dimension as a sum of at most two products
// and to place the axes on the factors.

#include "LayoutReference.h"
#include "dialects/Dist/IR/LayoutTransforms.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace dpc::dist;
using reference::allCoordinates;
using reference::Coordinates;
using reference::Indices;
using reference::Random;

namespace {

using Signature = std::vector<Indices>; // of every device

/// All layouts of one dimension up to equality on the mesh, by what the devices
/// hold.
class AllDims {
public:
  AllDims(const MeshShape &mesh, int64_t maxSegments) : mesh(mesh), maxSegments(maxSegments) {}

  const std::map<Signature, DimLayout> &of(int64_t extent) {
    auto [it, isNew] = known.try_emplace(extent);
    if (isNew) {
      for (const Segment &segment : products(extent))
        add(it->second, {segment});
      for (int64_t first = 1; maxSegments > 1 && first < extent; ++first)
        for (const Segment &a : products(first))
          for (const Segment &b : products(extent - first))
            add(it->second, {a, b});
    }
    return it->second;
  }

private:
  void add(std::map<Signature, DimLayout> &all, const DimLayout &dim) {
    Signature signature;
    for (const Coordinates &at : allCoordinates(mesh))
      signature.push_back(reference::indices(dim, at, mesh));
    all.try_emplace(std::move(signature), dim);
  }

  const std::vector<Segment> &products(int64_t extent) {
    auto [it, isNew] = knownProducts.try_emplace(extent);
    if (isNew) {
      Segment prefix;
      factorize(extent, prefix, it->second);
    }
    return it->second;
  }

  void factorize(int64_t extent, Segment &prefix, std::vector<Segment> &out) {
    if (extent == 1 && !prefix.factors.empty())
      place(prefix, 0, out);
    if (extent == 1 && prefix.factors.empty()) {
      prefix.factors.push_back(Factor(1));
      place(prefix, 0, out);
      prefix.factors.pop_back();
    }
    for (int64_t size = 2; size <= extent; ++size)
      if (extent % size == 0) {
        prefix.factors.push_back(Factor(size));
        factorize(extent / size, prefix, out);
        prefix.factors.pop_back();
      }
  }

  /// Axis after axis: nowhere, or at any place of any factor's list.
  void place(const Segment &segment, size_t axis, std::vector<Segment> &out) {
    if (axis == mesh.axes.size()) {
      out.push_back(segment);
      return;
    }
    place(segment, axis + 1, out);
    for (size_t f = 0; f < segment.factors.size(); ++f)
      for (size_t at = 0; at <= segment.factors[f].axes.size(); ++at) {
        Segment placed = segment;
        placed.factors[f].axes.insert(placed.factors[f].axes.begin() + at, mesh.axes[axis].name);
        place(placed, axis + 1, out);
      }
  }

  const MeshShape &mesh;
  int64_t maxSegments;
  std::map<int64_t, std::map<Signature, DimLayout>> known;
  std::map<int64_t, std::vector<Segment>> knownProducts;
};

/// Searches a layout of `shape` under which every device holds `wanted`.
class Search {
public:
  Search(AllDims &all, const Signature &wanted, llvm::ArrayRef<int64_t> shape)
      : wanted(wanted), shape(shape), partial(wanted.size(), Indices{0}) {
    int64_t stride = 1;
    for (int64_t extent : llvm::reverse(shape)) {
      strides.insert(strides.begin(), stride);
      stride *= extent;
    }
    // Along each dimension a device must hold exactly the indices its elements
    // have there.
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      candidates.emplace_back();
      for (const auto &[signature, layout] : all.of(shape[dim]))
        if (projects(signature, dim))
          candidates.back().push_back({&signature, &layout});
    }
  }

  std::optional<Layout> find() {
    Layout layout;
    return extend(layout, 0, partial) ? std::optional(layout) : std::nullopt;
  }

private:
  bool projects(const Signature &signature, size_t dim) const {
    for (auto [mine, elements] : llvm::zip(signature, wanted)) {
      if (mine.empty() || elements.size() % mine.size() != 0)
        return false;
      std::set<int64_t> held, needed;
      for (int64_t element : elements)
        if (element >= 0)
          needed.insert(element / strides[dim] % shape[dim]);
      for (int64_t index : mine)
        if (index >= 0)
          held.insert(index);
      if (!needed.empty() && held != needed)
        return false;
    }
    return true;
  }

  bool extend(Layout &layout, size_t dim, const std::vector<Indices> &lists) {
    if (dim == shape.size())
      return lists == wanted;
    for (auto [signature, choice] : candidates[dim]) {
      bool clash = false;
      for (const std::string &axis : shardedAxes(*choice))
        clash |= llvm::is_contained(shardedAxes(layout), axis);
      if (clash)
        continue;
      std::vector<Indices> longer;
      for (auto [list, mine] : llvm::zip(lists, *signature))
        longer.push_back(reference::product(list, mine, shape[dim]));
      if (wanted.front().size() % longer.front().size() != 0)
        continue;
      layout.dims.push_back(*choice);
      if (extend(layout, dim + 1, longer))
        return true;
      layout.dims.pop_back();
    }
    return false;
  }

  const Signature &wanted;
  llvm::ArrayRef<int64_t> shape;
  llvm::SmallVector<int64_t, 4> strides;
  std::vector<Indices> partial;
  std::vector<std::vector<std::pair<const Signature *, const DimLayout *>>> candidates;
};

struct Tally {
  int reshapes = 0, found = 0, missed = 0;
  std::string examples;

  void record() const {
    testing::Test::RecordProperty("reshapes", reshapes);
    testing::Test::RecordProperty("found", found);
    testing::Test::RecordProperty("missed", missed);
  }
};

Tally tally(unsigned seed, int cases, int64_t maxSegments) {
  Random random(seed);
  Tally tally;
  for (const MeshShape &mesh : {MeshShape{{"a", 2}, {"b", 2}}, MeshShape{{"a", 2}, {"b", 3}},
                                MeshShape{{"a", 4}, {"b", 2}}}) {
    AllDims all(mesh, maxSegments);
    for (int i = 0; i < cases; ++i) {
      Layout layout = random.layout(mesh, 3, maxSegments, 3, 6);
      auto shape = random.reshaped(layout);
      if (shape.size() > 4 || llvm::any_of(shape, [](int64_t extent) { return extent > 24; }))
        continue;
      ++tally.reshapes;
      if (reshapeLayout(layout, shape, mesh)) {
        ++tally.found;
        continue;
      }
      Signature wanted;
      for (const Coordinates &at : allCoordinates(mesh))
        wanted.push_back(reference::indices(layout, at, mesh));
      if (std::optional<Layout> other = Search(all, wanted, shape).find()) {
        ++tally.missed;
        tally.examples += "\n  " + toString(layout) + " is " + toString(*other) +
                          " on a=" + std::to_string(mesh.axes[0].size) +
                          " b=" + std::to_string(mesh.axes[1].size);
      }
    }
  }
  return tally;
}

TEST(LayoutCompleteness, ProductsAreAlwaysFound) {
  Tally products = tally(30, 20000, 1);
  products.record();
  EXPECT_GT(products.found, products.reshapes / 4);
  EXPECT_EQ(products.missed, 0) << products.found << " of " << products.reshapes
                                << " found, missed:" << products.examples;
}

TEST(LayoutCompleteness, SumsAreAlwaysFound) {
  Tally sums = tally(31, 8000, 2);
  sums.record();
  EXPECT_EQ(sums.missed, 0) << sums.found << " of " << sums.reshapes
                            << " found, missed:" << sums.examples;
}

} // namespace
