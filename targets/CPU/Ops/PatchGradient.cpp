// Emits the gradient of the kernel of a convolution. Output channels are lanes, and
// sums over patches stay in registers.

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/SumTypes.h"
#include "targets/CPU/Ops/PatchBlocks.h"
#include "targets/CPU/Ops/PatchProduct.h"
#include "targets/CPU/Vectors/RegisterTile.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

Type ConvolutionGradient::getSumType() const {
  return accumulatorType(typeOf(source).getElementType());
}

PatchPairs PatchGradient::getPairs(const VectorUnit &unit) const {
  bool isPaired = unit.multipliesPairsOf(typeOf(source).getElementType()) &&
                  unit.multipliesPairsOf(typeOf(grad).getElementType()) &&
                  typeOf(source).getDimSize(0) > 1;
  return isPaired ? PatchPairs::ofSamples : PatchPairs::none;
}

namespace {
/// The block sizes of a PatchGradient. Pairs of samples count as samples.
struct GradientSizes {
  GradientSizes(const PatchGradient &p, const VectorUnit &unit, const VectorFormat &format)
      : pairs(p.getPairs(unit)), allSamples(typeOf(p.source).getDimSize(0)),
        samples(pairs == PatchPairs::none ? allSamples : allSamples / 2),
        gridShape(typeOf(p.grad).getShape().drop_front(2)),
        rows(p.inputs * ShapedType::getNumElements(p.kernelShape)), panels(format, p.outputs),
        block(samples, gridShape, 1), outputs(p.outputs) {
    blockShape.assign(gridShape.begin(), gridShape.end());
    blockShape[0] = block.rows;
  }

  /// The numbers of elements of three pieces of scratch memory: a block of the
  /// result's gradient converted to the type of the sums, its packed columns, and
  /// the sums.
  int64_t countOfPlanes() const { return outputs * countOfBlock(); }
  int64_t countOfColumns() const { return countOfBlock() * panels.width; }
  int64_t countOfSums() const { return rows * panels.lanesTotal(); }
  /// Whether the last sample has no partner.
  bool hasHalf() const { return pairs != PatchPairs::none && allSamples % 2; }
  bool hasSeveralBlocks() const {
    return block.samples < samples || block.rows < gridShape[0] || hasHalf();
  }

  PatchPairs pairs;
  int64_t allSamples, samples;
  SmallVector<int64_t> gridShape;
  int64_t rows;
  Panels panels;
  PatchBlock block;
  SmallVector<int64_t> blockShape;

private:
  int64_t countOfBlock() const { return block.samples * ShapedType::getNumElements(blockShape); }
  int64_t outputs;
};

class GradientNest : GradientSizes {
public:
  GradientNest(VectorEmitter &emitter, const PatchGradient &gradient)
      : GradientSizes(gradient, emitter, VectorFormat(emitter.vectorBytes, gradient.getSumType())),
        p(gradient), code(emitter, p.getSumType()), e(emitter), accumulates(hasSeveralBlocks()) {}

  void emit() {
    PatchSource image(code, p.source, p.inputs, pairs, block.samples, p.grid);
    source = &image;
    gradBuffer = e.getBuffer(p.grad);
    if (!gradBuffer)
      gradPlanes = code.scratch(countOfPlanes());
    columns = code.scratch(countOfColumns());
    sums = code.scratch(countOfSums());
    e.sequence(p.groups, [&](Index group) {
      if (accumulates)
        code.fillZero(sums, countOfSums());
      inBlocks(e, samples, block.samples,
               [&](Index first, int64_t count) { add(group, {first, count, false}); });
      if (hasHalf())
        add(group, {e.constant(samples), 1, true});
      panels.forEach(e, [&](Index panel, int64_t channels, int64_t vectors) {
        Index kernel = group * p.outputs + panel * panels.width;
        code.transpose({sumsOf(panel), vectors * code.lanes}, rows, channels,
                       {code.at(p.result, kernel * rows, p.resultType), rows, p.resultType});
      });
    });
  }

private:
  /// `count` samples from sample `first` on. `isHalf` says that they are pairs without a
  /// second sample.
  struct Samples {
    Index first;
    int64_t count;
    bool isHalf;
  };

  Value sumsOf(Index panel) { return code.at(sums, panel * (rows * panels.width)); }

  /// Adds the products of some samples to the sums of a group.
  void add(Index group, const Samples &some) {
    source->prepare(some.first, some.count, group, some.isHalf);
    e.sequence(gridShape[0] / block.rows, [&](Index rowBlock) {
      panels.forEach(e, [&](Index panel, int64_t channels, int64_t vectors) {
        packGrad(group * p.outputs + panel * panels.width, channels, vectors, some, rowBlock);
        forEachTile([&](int64_t height, RowAt rowAt) {
          tile(height, rowAt, panel, vectors, some.count, rowBlock);
        });
      });
    });
  }

  /// Packs the gradient of the result for some output channels and patches, with
  /// channels as lanes.
  void packGrad(Index channel, int64_t channels, int64_t vectors, const Samples &some,
                Index rowBlock) {
    const int64_t count = some.count, sampleStep = pairs == PatchPairs::none ? 1 : 2;
    const bool hasPartners = pairs != PatchPairs::none && !some.isHalf;
    int64_t plane = ShapedType::getNumElements(gridShape),
            part = ShapedType::getNumElements(blockShape), width = vectors * code.lanes,
            all = p.groups * p.outputs;
    if (!gradBuffer) {
      ArrayRef<int64_t> shape = typeOf(p.grad).getShape();
      e.forEach({count, channels, part}, [&](ArrayRef<Index> i) {
        auto read = [&](int64_t partner) {
          Index sample = (some.first + i[0]) * sampleStep + partner;
          Index number = (sample * all + channel + i[1]) * plane + rowBlock * part + i[2];
          return e.read(p.grad, ElementIndex(e, shape, number));
        };
        Value element = read(0);
        element = pairs == PatchPairs::none ? code.widened(element)
                                            : code.pairOf(element, hasPartners ? read(1) : Value());
        e.storeAt(gradPlanes, element, (i[0] * channels + i[1]) * part + i[2]);
      });
    }
    e.sequence(count, [&](Index sample) {
      Index from = ((some.first + sample) * (sampleStep * all) + channel) * plane + rowBlock * part;
      Type type = typeOf(p.grad).getElementType();
      VectorCode::Matrix planes;
      if (!gradBuffer)
        planes = {code.at(gradPlanes, sample * (channels * part)), part};
      else
        planes = {code.at(gradBuffer, from, type), plane, type, pairs != PatchPairs::none};
      if (gradBuffer && hasPartners)
        planes.upper = code.at(planes.address, e.constant(all * plane), type);
      code.transpose(planes, channels, part, {code.at(columns, sample * (part * width)), width},
                     /*padded=*/true);
    });
  }

  /// Returns the input channel and the tap (kernel element) of row `r` of a tile.
  using RowAt = function_ref<SmallVector<Index>(int64_t r)>;

  /// Calls `body` for each tile of rows. If there are enough input channels, all rows of
  /// a tile have the same tap, and each row is another channel. Several taps of one
  /// channel would share image elements, and these would occupy registers that the sums
  /// need. The tiles of all taps of some channels follow one another, while these channels
  /// are in the first-level cache. If there are few channels, a tile has several taps.
  void forEachTile(function_ref<void(int64_t height, RowAt)> body) {
    int64_t most = RegisterTile::rowsFor(code);
    if (p.inputs < most) {
      SmallVector<int64_t> shape(p.kernelShape);
      shape.push_back(p.inputs);
      inBlocks(e, rows, most, [&](Index row, int64_t height) {
        body(height, [&](int64_t r) {
          SmallVector<Index> at = e.delinearize(row + r, shape);
          at.insert(at.begin(), at.pop_back_val());
          return at;
        });
      });
      return;
    }
    TileRows(p.inputs, most).forEach(e, [&](Index, Index channel, int64_t height) {
      e.sequence(ShapedType::getNumElements(p.kernelShape), [&](Index tap) {
        body(height, [&](int64_t r) {
          SmallVector<Index> at = e.delinearize(tap, p.kernelShape);
          at.insert(at.begin(), channel + r);
          return at;
        });
      });
    });
  }

  void tile(int64_t height, RowAt rowAt, Index panel, int64_t vectors, int64_t count,
            Index rowBlock) {
    int64_t width = vectors * code.lanes;
    Values addresses, results;
    for (int64_t r = 0; r < height; ++r) {
      SmallVector<Index> at = rowAt(r);
      Index result = at[0];
      Index from = at[0] * source->channelPitch +
                   rowBlock * (block.rows * p.grid[0].step * source->pitches[0]);
      for (auto [d, dimension] : llvm::enumerate(p.grid)) {
        from = from + (at[d + 1] * dimension.tapStep + dimension.first + source->padLow[d]) *
                          source->pitches[d];
        result = result * p.kernelShape[d] + at[d + 1];
      }
      addresses.push_back(code.at(source->getAddress(), from));
      results.push_back(code.at(sumsOf(panel), result * width));
    }
    SmallVector<int64_t> linePitches = rowMajorStrides(blockShape);
    RegisterTile tile{addresses, columns, RegisterTile::sideBySide(code, vectors), {}};
    tile.isOfPairs = pairs != PatchPairs::none;
    tile.loops.push_back(
        {count, source->samplePitch, ShapedType::getNumElements(blockShape) * width});
    for (auto [d, dimension] : llvm::enumerate(p.grid))
      tile.loops.push_back(
          {blockShape[d], dimension.step * source->pitches[d], linePitches[d] * width});
    tile.emitTo(code, results, accumulates);
  }

  const PatchGradient &p;
  VectorCode code;
  VectorEmitter &e;
  const bool accumulates;
  PatchSource *source = nullptr;
  Value gradBuffer, gradPlanes, columns, sums;
};
} // namespace

ScratchSizes PatchGradient::getScratch(const VectorSite &site) const {
  VectorFormat format(site.unit.vectorBytes, getSumType());
  GradientSizes sizes(*this, site.unit, format);
  PatchLayout image(format, source, inputs, sizes.pairs, grid, site.isInMemory);
  bool hasPlanes = !site.isInMemory(grad);
  return format.bytesOf({image.countOfCopy(sizes.block.samples),
                         hasPlanes ? sizes.countOfPlanes() : VectorFormat::kNone,
                         sizes.countOfColumns(), sizes.countOfSums()});
}

void PatchGradient::emit(VectorEmitter &emitter) const { GradientNest(emitter, *this).emit(); }
