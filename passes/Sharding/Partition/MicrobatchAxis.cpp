// Finds how layouts use the axis of microbatches, and builds the reshapes by which values enter
// and leave loops over it.

#include "passes/Sharding/Partition/MicrobatchAxis.h"

#include "dialects/NN/IR/Expressions.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;
using nn::typeOf;

MicrobatchAxis::MicrobatchAxis(const MeshShape &mesh) : mesh(mesh) {
  for (const MeshAxis &each : mesh.axes)
    if (each.sequential && each.size > 1)
      axis = &each;
}

bool MicrobatchAxis::cuts(const DimLayout &dim) const {
  return llvm::is_contained(shardedAxes(dim), axis->name);
}

bool MicrobatchAxis::cuts(const Layout &layout) const {
  return axis && llvm::is_contained(shardedAxes(layout), axis->name);
}

bool MicrobatchAxis::isPartial(const Layout &layout) const {
  return axis && llvm::any_of(layout.partial,
                              [&](const Partial &partial) { return partial.axis == axis->name; });
}

Layout MicrobatchAxis::outsideOf(Layout layout) const {
  if (!axis)
    return layout;
  for (DimLayout &dim : layout.dims)
    for (Segment &segment : dim.segments)
      for (Factor &factor : segment.factors)
        llvm::erase(factor.axes, axis->name);
  llvm::erase_if(layout.partial,
                 [&](const Partial &partial) { return partial.axis == axis->name; });
  return layout;
}

std::optional<std::pair<unsigned, int64_t>> MicrobatchAxis::findFactor(const DimLayout &dim) const {
  if (dim.segments.size() != 1)
    return std::nullopt;
  int64_t after = 1;
  ArrayRef<Factor> factors = dim.segments[0].factors;
  for (size_t f = factors.size(); f-- > 0;) {
    if (factors[f].axes == AxisNames{axis->name} && factors[f].size == axis->size)
      return std::make_pair(unsigned(f), after);
    after *= factors[f].size;
  }
  return std::nullopt;
}

Layout MicrobatchAxis::insideOf(Layout layout) const {
  for (DimLayout &dim : layout.dims)
    if (auto factor = findFactor(dim))
      dim.segments[0].factors[factor->first] = Factor(1);
  return layout;
}

bool MicrobatchAxis::sameSlices(const Layout &from, const Layout &to) const {
  for (auto [a, b] : llvm::zip_equal(from.dims, to.dims)) {
    if (cuts(a) != cuts(b))
      return false;
    if (!cuts(a))
      continue;
    auto factorA = findFactor(a), factorB = findFactor(b);
    if (!factorA || !factorB || factorA->second != factorB->second)
      return false;
  }
  return true;
}

FailureOr<MicrobatchAxis::CutPlace> MicrobatchAxis::placeOf(Location loc,
                                                            const Layout &layout) const {
  for (auto [d, dim] : llvm::enumerate(layout.dims)) {
    if (!cuts(dim))
      continue;
    if (dim.segments.size() != 1)
      break;
    CutPlace place{unsigned(d), 1, 1};
    bool found = false;
    for (const Factor &factor : dim.segments[0].factors) {
      if (llvm::is_contained(factor.axes, axis->name)) {
        if (factor.size != axis->size)
          return emitError(loc) << "microbatches cut a dimension unevenly: " << toString(dim),
                 failure();
        found = true;
        continue;
      }
      (found ? place.after : place.before) *= localSize(factor, mesh);
    }
    return place;
  }
  return emitError(loc) << "microbatches cut a joined dimension: " << toString(layout), failure();
}

FailureOr<Value> MicrobatchAxis::stackSlices(OpBuilder &builder, Location loc, Value local,
                                             const Layout &layout) const {
  FailureOr<CutPlace> place = placeOf(loc, layout);
  if (failed(place))
    return failure();
  nn::Expressions e{builder, loc};
  SmallVector<int64_t> shape(typeOf(local).getShape()), split, permutation;
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (d == place->dim)
      llvm::append_values(split, place->before, axis->size, place->after);
    else
      split.push_back(shape[d]);
  }
  permutation.push_back(place->dim + 1);
  for (unsigned i = 0; i < split.size(); ++i)
    if (i != place->dim + 1)
      permutation.push_back(i);
  shape[place->dim] = place->before * place->after;
  shape.insert(shape.begin(), axis->size);
  return e.reshape(e.transpose(e.reshape(local, split), permutation), shape);
}

FailureOr<Value> MicrobatchAxis::mergeSlices(OpBuilder &builder, Location loc, Value stacked,
                                             const Layout &layout) const {
  FailureOr<CutPlace> place = placeOf(loc, layout);
  if (failed(place))
    return failure();
  nn::Expressions e{builder, loc};
  SmallVector<int64_t> shape(typeOf(stacked).getShape().drop_front()), split, permutation;
  split.push_back(axis->size);
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (d == place->dim) {
      llvm::append_values(permutation, int64_t(split.size()), int64_t(0),
                          int64_t(split.size() + 1));
      llvm::append_values(split, place->before, place->after);
    } else {
      permutation.push_back(split.size());
      split.push_back(shape[d]);
    }
  }
  shape[place->dim] = place->before * axis->size * place->after;
  return e.reshape(e.transpose(e.reshape(stacked, split), permutation), shape);
}
