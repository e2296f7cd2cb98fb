// Describes the sums that compute the elements of a convolution and of its
// gradients.

#include "targets/Loops/Ops/ConvolutionTerms.h"

#include "targets/Loops/Ops/Windows.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

SmallVector<IndexBound> ConvolutionTerm::bounds(const IndexSpace &space, const Convolution &c,
                                                RankedTensorType type) const {
  SmallVector<IndexBound> bounds;
  for (auto [d, extent] : llvm::enumerate(type.getShape().drop_front(2))) {
    if (!multiples.empty())
      bounds.push_back({space.mod(multiples[d], c.window.strides[d]), 1});
    bounds.push_back({first[d + 2], extent});
  }
  return bounds;
}

/// The number of samples, followed by the spatial extents: the shape of `type`
/// without channels.
static SmallVector<int64_t> placesOf(RankedTensorType type) {
  SmallVector<int64_t> places(type.getShape());
  places.erase(places.begin() + 1);
  return places;
}

/// The index of the element of channel `channel` at `place`, which is a sample
/// and its spatial positions.
static SmallVector<Index> channelAt(Index channel, ArrayRef<Index> place) {
  SmallVector<Index> index{place[0], channel};
  llvm::append_range(index, place.drop_front());
  return index;
}

//===----------------------------------------------------------------------===//
// The convolution
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ConvTerms::extents(const Convolution &c) {
  return SmallVector<int64_t>(c.w.getShape().drop_front(1));
}

ConvolutionTerm ConvTerms::term(const Convolution &c, IndexSpace &space, ArrayRef<Index> index,
                                ArrayRef<Index> k) {
  Index group = space.floorDiv(index[1], rows(c));
  ConvolutionTerm term{inputAt(c.window, index, k.drop_front()), {index[1]}, {}};
  term.first[1] = group * c.w.getDimSize(1) + k[0];
  llvm::append_range(term.second, k);
  return term;
}

SmallVector<int64_t> ConvTerms::columns(const Convolution &c) { return placesOf(c.y); }

SmallVector<Index> ConvTerms::element(const Convolution &c, Index group, Index row,
                                      ArrayRef<Index> column) {
  return channelAt(group * rows(c) + row, column);
}

//===----------------------------------------------------------------------===//
// The gradient of its input
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ConvInputGradTerms::extents(const Convolution &c) {
  SmallVector<int64_t> extents{c.w.getDimSize(0) / c.groups};
  llvm::append_range(extents, c.w.getShape().drop_front(2));
  return extents;
}

ConvolutionTerm ConvInputGradTerms::term(const Convolution &c, IndexSpace &space,
                                         ArrayRef<Index> index, ArrayRef<Index> k) {
  int64_t inputs = rows(c), outputs = c.w.getDimSize(0) / c.groups;
  Index output = space.floorDiv(index[1], inputs) * outputs + k[0];
  WindowOfInput window(space, c.window, index, k.drop_front());
  ConvolutionTerm term{window.at, {output, space.mod(index[1], inputs)}, window.shifted};
  term.first[1] = output;
  llvm::append_range(term.second, k.drop_front());
  return term;
}

SmallVector<int64_t> ConvInputGradTerms::columns(const Convolution &c) { return placesOf(c.x); }

SmallVector<Index> ConvInputGradTerms::element(const Convolution &c, Index group, Index row,
                                               ArrayRef<Index> column) {
  return channelAt(group * rows(c) + row, column);
}

//===----------------------------------------------------------------------===//
// The gradient of its weight
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ConvWeightGradTerms::extents(const Convolution &c) { return placesOf(c.y); }

ConvolutionTerm ConvWeightGradTerms::term(const Convolution &c, IndexSpace &space,
                                          ArrayRef<Index> index, ArrayRef<Index> k) {
  Index channel = space.floorDiv(index[0], rows(c)) * c.w.getDimSize(1) + index[1];
  ConvolutionTerm term{
      inputAt(c.window, channelAt(channel, k), index.drop_front(2)), {k[0], index[0]}, {}};
  llvm::append_range(term.second, k.drop_front());
  return term;
}

SmallVector<int64_t> ConvWeightGradTerms::columns(const Convolution &c) {
  return SmallVector<int64_t>(c.w.getShape().drop_front(1));
}

SmallVector<Index> ConvWeightGradTerms::element(const Convolution &c, Index group, Index row,
                                                ArrayRef<Index> column) {
  SmallVector<Index> index{group * rows(c) + row};
  llvm::append_range(index, column);
  return index;
}
