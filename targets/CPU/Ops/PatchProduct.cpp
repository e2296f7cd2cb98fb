// Emits a convolution with output channels as lanes, which reads patches without
// unfolding the image.

#include "targets/CPU/Ops/PatchProduct.h"

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/SumTypes.h"
#include "targets/CPU/Ops/PatchBlocks.h"
#include "targets/CPU/Vectors/RegisterTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

int64_t ConvolutionProduct::getSamples() const { return typeOf(source).getDimSize(0); }

Type ConvolutionProduct::getSumType() const {
  return accumulatorType(typeOf(source).getElementType());
}

void ConvolutionProduct::forEachGrid(function_ref<void(const PatchGrid &)> body) const {
  for (const PatchGrid &grid : grids)
    if (!isEmpty(grid))
      body(grid);
}

// A single input channel has no partner.
PatchPairs PatchProduct::getPairs(const VectorUnit &unit) const {
  bool isPaired = unit.multipliesPairsOf(typeOf(source).getElementType()) && inputs > 1;
  return isPaired ? PatchPairs::ofChannels : PatchPairs::none;
}

Type PatchProduct::getKernelType(const VectorUnit &unit) const {
  return getPairs(unit) == PatchPairs::none ? getSumType() : typeOf(source).getElementType();
}

namespace {
/// The block sizes of a PatchProduct. Pairs of input channels count as channels.
struct ProductSizes {
  ProductSizes(const PatchProduct &p, const VectorUnit &unit, const VectorFormat &format)
      : pairs(p.getPairs(unit)), samples(p.getSamples()),
        taps(ShapedType::getNumElements(p.kernelShape)),
        channels(pairs == PatchPairs::none ? p.inputs : llvm::divideCeil(p.inputs, 2)),
        depth(channels * taps), panels(format, p.outputs) {
    int64_t step = 1;
    for (const PatchGrid &grid : p.grids)
      step = std::max(step, grid[0].resultStep);
    block = PatchBlock(samples, p.resultShape, step);
    blockShape.assign(p.resultShape.begin(), p.resultShape.end());
    blockShape[0] = block.rows;
    // Divide the depth into pieces, such that a panel of the kernels of one piece
    // stays in the first-level cache.
    const int64_t most = 24 << 10; // bytes
    int64_t pieces = llvm::divideCeil(depth * panels.width * format.bytes, most);
    channelsOfPiece = divisorNear(channels, llvm::divideCeil(channels, pieces));
  }

  /// The numbers of elements of the packed kernels, and of a block of sums.
  int64_t countOfKernels() const { return depth * panels.lanesTotal(); }
  int64_t countOfSums() const {
    return block.samples * ShapedType::getNumElements(blockShape) * panels.lanesTotal();
  }

  PatchPairs pairs;
  int64_t samples, taps, channels, depth;
  Panels panels;
  PatchBlock block;
  SmallVector<int64_t> blockShape;
  int64_t channelsOfPiece;
};

class ProductNest : ProductSizes {
public:
  ProductNest(VectorEmitter &emitter, const PatchProduct &product)
      : ProductSizes(product, emitter, VectorFormat(emitter.vectorBytes, product.getSumType())),
        p(product), code(emitter, p.getSumType()), e(emitter),
        kernelPitches(rowMajorStrides(p.kernelShape)) {}

  void emit() {
    PatchSource image(code, p.source, p.inputs, pairs, block.samples, p.grids);
    source = &image;
    kernels = code.scratch(countOfKernels());
    sums = code.scratch(countOfSums());
    e.sequence(p.groups, [&](Index group) {
      panels.forEach(e, [&](Index panel, int64_t columns, int64_t vectors) {
        packKernels(group, panel * panels.width, columns, vectors * code.lanes, kernelsOf(panel));
      });
      inBlocks(e, samples, block.samples, [&](Index first, int64_t count) {
        image.prepare(first, count, group);
        e.sequence(p.resultShape[0] / block.rows,
                   [&](Index rowBlock) { oneBlock(group, first, count, rowBlock); });
      });
    });
  }

private:
  Value kernelsOf(Index panel) { return code.at(kernels, panel * (depth * panels.width)); }
  Value sumsOf(Index panel) {
    return code.at(sums,
                   panel * (block.samples * ShapedType::getNumElements(blockShape) * panels.width));
  }

  /// Packs the kernels of `columns` output channels, from channel `first` on, to `to`. The packed
  /// kernels have the dimensions [channels][taps][width], with zeros in lanes from `columns` on.
  void packKernels(Index group, Index first, int64_t columns, int64_t width, Value to) {
    const ConvolutionProduct::Kernel &k = p.kernel;
    const Type type = p.getKernelType(e);
    const bool isOfPairs = pairs != PatchPairs::none;
    const Index start = group * k.groupPitch + first * k.outputPitch;
    // If the depth of an output channel is contiguous, it is transposed at once. Pairs are then
    // words in memory.
    if (k.inputPitch == taps && (!isOfPairs || (taps == 1 && p.inputs % 2 == 0))) {
      VectorCode::Matrix words{code.at(k.address, start, type),
                               isOfPairs ? k.outputPitch / 2 : k.outputPitch};
      code.transpose(words, columns, depth, {to, width}, /*padded=*/true);
      return;
    }
    auto pack = [&](Index channel, bool hasPartner) {
      VectorCode::Matrix from{
          code.at(k.address, start + channel * (isOfPairs ? 2 * k.inputPitch : k.inputPitch), type),
          k.outputPitch, type, isOfPairs};
      if (hasPartner)
        from.upper = code.at(from.address, e.constant(k.inputPitch), type);
      Value place = code.at(to, channel * (taps * width));
      if (k.outputPitch == 1)
        code.copyPadded(from, columns, place, width);
      else
        code.transpose(from, columns, taps, {place, width}, /*padded=*/true);
    };
    int64_t whole = isOfPairs ? p.inputs / 2 : p.inputs;
    e.sequence(whole, [&](Index channel) { pack(channel, isOfPairs); });
    if (whole < channels)
      pack(e.constant(whole), /*hasPartner=*/false);
  }

  void oneBlock(Index group, Index first, int64_t count, Index rowBlock) {
    bool accumulates = channelsOfPiece < channels;
    if (accumulates || p.hasEmptyGrid())
      code.fillZero(sums, countOfSums());
    // If the depth is one piece, the results of a panel are stored before the next panel, while the
    // sums are in the first-level cache.
    inBlocks(e, channels, channelsOfPiece, [&](Index channel, int64_t depth) {
      panels.forEach(e, [&](Index panel, int64_t columns, int64_t vectors) {
        const Value to = resultOf(group, first, rowBlock, panel);
        p.forEachGrid([&](const PatchGrid &grid) {
          tiles(grid, {panel, columns, vectors, channel, depth, to}, count, rowBlock, accumulates);
        });
        if (!accumulates)
          storeResults(panel, columns, vectors, count, to);
      });
    });
    if (accumulates)
      panels.forEach(e, [&](Index panel, int64_t columns, int64_t vectors) {
        storeResults(panel, columns, vectors, count, resultOf(group, first, rowBlock, panel));
      });
  }

  /// The address of the results of a panel for the first sample and point of a block.
  Value resultOf(Index group, Index sample, Index rowBlock, Index panel) {
    const int64_t plane = ShapedType::getNumElements(p.resultShape),
                  part = ShapedType::getNumElements(blockShape);
    Index channel = sample * (p.groups * p.outputs) + group * p.outputs + panel * panels.width;
    return code.at(p.result, channel * plane + rowBlock * part, p.resultType);
  }

  /// Transposes the sums of a panel, in which channels are lanes, to the planes of the result.
  void storeResults(Index panel, int64_t columns, int64_t vectors, int64_t count, Value to) {
    const int64_t plane = ShapedType::getNumElements(p.resultShape),
                  part = ShapedType::getNumElements(blockShape), width = vectors * code.lanes;
    e.sequence(count, [&](Index sample) {
      Value of = code.at(to, sample * (p.groups * p.outputs * plane), p.resultType);
      code.transpose({code.at(sumsOf(panel), sample * (part * width)), width}, part, columns,
                     {of, plane, p.resultType});
    });
  }

  /// The products of some input channels, from `channel` on, with the `columns` output channels of
  /// a panel. `result` is the address of the panel's results of the block.
  struct Piece {
    Index panel;
    int64_t columns, vectors;
    Index channel;
    int64_t channels;
    Value result;
  };

  void tiles(const PatchGrid &grid, const Piece &piece, int64_t count, Index rowBlock,
             bool accumulates) {
    SmallVector<int64_t> shape{count};
    for (const PatchDimension &dimension : grid)
      shape.push_back(dimension.points);
    shape[1] /= p.resultShape[0] / block.rows;
    int64_t points = ShapedType::getNumElements(shape), height = RegisterTile::rowsFor(code);
    e.sequence(points / height, [&](Index i) {
      tile(grid, piece, shape, rowBlock, i * height, height, accumulates);
    });
    if (points % height)
      tile(grid, piece, shape, rowBlock, e.constant(points / height * height), points % height,
           accumulates);
  }

  void tile(const PatchGrid &grid, const Piece &piece, ArrayRef<int64_t> shape, Index rowBlock,
            Index point, int64_t height, bool accumulates) {
    int64_t width = piece.vectors * code.lanes;
    SmallVector<int64_t> resultPitches = rowMajorStrides(blockShape);
    Value panelSums = sumsOf(piece.panel);
    Values rows, results;
    // If a tile never crosses the end of a line, its points are at constant distances. So are its
    // results, also if there is one grid, because its points then follow each other in the block.
    const bool oneLine = shape.back() % height == 0, oneGrid = p.grids.size() == 1;
    const SmallVector<Index> start = e.delinearize(point, shape);
    for (int64_t r = 0; r < height; ++r) {
      SmallVector<Index> at = e.advance(start, r, shape);
      Index from = at[0] * source->samplePitch + piece.channel * source->channelPitch,
            to = at[0] * ShapedType::getNumElements(blockShape);
      for (auto [d, dimension] : llvm::enumerate(grid)) {
        Index place = at[d + 1], result = place;
        if (d == 0)
          place = place + rowBlock * shape[1];
        from = from +
               (place * dimension.step + dimension.first + source->padLow[d]) * source->pitches[d];
        to = to + (result * dimension.resultStep + dimension.resultFirst) * resultPitches[d];
      }
      auto after = [&](Value first, int64_t distance) {
        return code.at(first, e.constant(r * distance));
      };
      const PatchDimension &line = grid.back();
      rows.push_back(r && oneLine ? after(rows[0], line.step * source->pitches.back())
                                  : code.at(source->getAddress(), from));
      results.push_back(r && (oneLine || oneGrid) ? after(results[0], line.resultStep * width)
                                                  : code.at(panelSums, to * width));
    }
    int64_t firstTap = 0;
    RegisterTile tile{rows, Value(), RegisterTile::sideBySide(code, piece.vectors), {}};
    tile.isOfPairs = pairs != PatchPairs::none;
    tile.loops.push_back({piece.channels, source->channelPitch, taps * width});
    for (auto [d, dimension] : llvm::enumerate(grid)) {
      firstTap += dimension.kernelFirst * kernelPitches[d];
      tile.loops.push_back({dimension.taps, dimension.tapStep * source->pitches[d],
                            dimension.kernelStep * kernelPitches[d] * width});
    }
    tile.panel = code.at(kernelsOf(piece.panel), piece.channel * (taps * width) + firstTap * width);
    const bool isPointwise =
        llvm::all_of(grid, [](const PatchDimension &d) { return d.taps == 1; });
    auto prefetch = [&](Index round, int64_t rounds) {
      const int64_t height = rows.size(), step = grid.back().step * source->pitches.back();
      if (!source->isCopied)
        prefetchNextTile(rows[0], height, step, llvm::divideCeil(piece.channels, rounds), round);
      if (!accumulates && oneGrid)
        prefetchResults(piece, start, shape, llvm::divideCeil(piece.columns, rounds), round);
    };
    if (isPointwise) // the one loop is that over channels
      tile.eachIteration = prefetch;
    tile.emitTo(code, results, accumulates);
  }

  // A tile of a pointwise convolution accesses a few elements of each channel, and channels are far
  // apart, so the processor does not prefetch them. A run of the loop over input channels
  // prefetches some channels of the image, and of the result.

  /// Prefetches some channels of the `height` patches after the tile whose first row is at `first`,
  /// from an image that is read in place. `step` is the distance of patches.
  void prefetchNextTile(Value first, int64_t height, int64_t step, int64_t channels, Index round) {
    const int64_t line = 64 / code.bytes, end = (2 * height - 1) * step;
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t ahead = end; ahead >= height * step; ahead -= line)
        code.prefetch(first, (round * channels + channel) * source->channelPitch + ahead,
                      /*locality=*/3);
  }

  /// Prefetches the places of the results of the tile that begins with the point `at` of a grid of
  /// the shape `shape`. They are written after the sums of the panel are complete.
  void prefetchResults(const Piece &piece, ArrayRef<Index> at, ArrayRef<int64_t> shape,
                       int64_t channels, Index round) {
    const int64_t plane = ShapedType::getNumElements(p.resultShape);
    const Index point =
        at[0] * (p.groups * p.outputs * plane) + e.linearize(at.drop_front(), shape.drop_front());
    for (int64_t channel = 0; channel < channels; ++channel)
      code.prefetch(piece.result, point + (round * channels + channel) * plane, /*locality=*/2,
                    p.resultType, /*toWrite=*/true);
  }

  const PatchProduct &p;
  VectorCode code;
  VectorEmitter &e;
  SmallVector<int64_t> kernelPitches;
  PatchSource *source = nullptr;
  Value kernels, sums;
};
} // namespace

ScratchSizes PatchProduct::getScratch(const VectorSite &site) const {
  VectorFormat format(site.unit.vectorBytes, getSumType());
  ProductSizes sizes(*this, site.unit, format);
  PatchLayout image(format, source, inputs, sizes.pairs, grids, site.isInMemory);
  return format.bytesOf(
      {image.countOfCopy(sizes.block.samples), sizes.countOfKernels(), sizes.countOfSums()});
}

void PatchProduct::emit(VectorEmitter &emitter) const { ProductNest(emitter, *this).emit(); }
