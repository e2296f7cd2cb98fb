// Emits the gradient of the kernel of a convolution with few output channels per group. A
// line is the elements along the last dimension. Neighbouring patches of a line are the
// lanes of vectors.

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/NNDialect.h"
#include "targets/CPU/Ops/LineProduct.h"
#include "targets/CPU/Ops/PatchBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
/// Multiplies the image of one sample with the gradient of the sample's result. Adds
/// the products to vectors of sums, one vector per kernel element. The lanes of a
/// vector are neighbouring patches of a line.
class TapSums {
public:
  TapSums(VectorEmitter &emitter, VectorCode &code, const LineGradient &gradient,
          const SplitPlanes &planes)
      : e(emitter), code(code), gradType(gradient.gradType), kernelShape(gradient.kernelShape),
        grid(gradient.grid), planes(planes), last(kernelShape.size() - 1),
        width(grid[last].points) {
    for (int64_t d = 0; d < last; ++d)
      outer.push_back(grid[d].points);
  }

  /// Adds the products for taps [first, end) to the sums at `to`, for one input channel
  /// and one output channel. A tap is an element of the kernel. `image` is the address
  /// of the input channel, and `grads` is the address of the gradient of the output
  /// channel.
  void add(Value image, Value grads, Value to, int64_t first, int64_t end) {
    SmallVector<int64_t> offsets;
    Values now;
    for (int64_t tap = first; tap < end; ++tap) {
      offsets.push_back(offsetOf(tap));
      now.push_back(code.load(code.at(to, e.constant(tap * code.lanes))));
    }
    now = e.loop(outer, now, [&](ArrayRef<Index> row, ValueRange carried) {
      Index imageAt = e.constant(0), gradAt = e.constant(0);
      for (int64_t d = 0; d < last; ++d) {
        imageAt = imageAt + row[d] * (grid[d].step * planes.pitches[d]);
        gradAt = gradAt * outer[d] + row[d];
      }
      Value imageLine = code.at(image, imageAt),
            gradLine = code.at(grads, gradAt * width, gradType);
      Values sums = e.loop(width / code.lanes, carried, [&](Index i, ValueRange inner) {
        return step(imageLine, gradLine, i * code.lanes, code.lanes, offsets, Values(inner));
      });
      if (int64_t rest = width % code.lanes)
        sums = step(imageLine, gradLine, e.constant(width - rest), rest, offsets, sums);
      return sums;
    });
    for (int64_t tap = first; tap < end; ++tap)
      code.store(now[tap - first], code.at(to, e.constant(tap * code.lanes)));
  }

private:
  /// The distance in elements from the first element of a patch to the element that tap
  /// `tap` reads.
  int64_t offsetOf(int64_t tap) const {
    SmallVector<int64_t> k(kernelShape.size());
    for (int64_t d = last, rest = tap; d >= 0; --d) {
      k[d] = rest % kernelShape[d];
      rest /= kernelShape[d];
    }
    int64_t offset = planes.offsetOf(grid[last].first + k[last] * grid[last].tapStep);
    for (int64_t d = 0; d < last; ++d)
      offset += (grid[d].first + k[d] * grid[d].tapStep + planes.padLow[d]) * planes.pitches[d];
    return offset;
  }

  /// Adds the products of `count` patches of a line, from patch `column` on, to `sums`.
  Values step(Value imageLine, Value gradLine, Index column, int64_t count,
              ArrayRef<int64_t> offsets, Values sums) {
    Value factor = code.loadAs(gradType, code.at(gradLine, column, gradType), count);
    Value base = code.at(imageLine, column);
    for (auto [offset, sum] : llvm::zip_equal(offsets, sums))
      sum = code.multiplyAdd(code.load(code.at(base, e.constant(offset))), factor, sum);
    return sums;
  }

  VectorEmitter &e;
  VectorCode &code;
  Type gradType;
  ArrayRef<int64_t> kernelShape;
  ArrayRef<PatchDimension> grid;
  const SplitPlanes &planes;
  /// The last spatial dimension, and the number of patches in a line.
  const int64_t last, width;
  SmallVector<int64_t> outer;
};
} // namespace

/// The vectors with which a gradient is computed, and the number of elements of its
/// sums. There is one vector of sums per kernel element.
static VectorFormat formatOf(const LineGradient &gradient, unsigned vectorBytes) {
  return formatForLines(vectorBytes, gradient.getSumType(), gradient.grid.back().points);
}
static int64_t countOfSums(const LineGradient &gradient, const VectorFormat &format) {
  return gradient.outputs * gradient.inputs * ShapedType::getNumElements(gradient.kernelShape) *
         format.lanes;
}

ScratchSizes LineGradient::getScratch(const VectorSite &site) const {
  VectorFormat format = formatOf(*this, site.unit.vectorBytes);
  SplitLayout planes(format, source, inputs, grid);
  return format.bytesOf({planes.count, countOfSums(*this, format)});
}

// Sums each lane separately over all samples, and adds the lanes at the end.
void LineGradient::emit(VectorEmitter &e) const {
  int64_t samples = typeOf(source).getDimSize(0), taps = ShapedType::getNumElements(kernelShape),
          plane = 1;
  for (const PatchDimension &dimension : grid)
    plane *= dimension.points;
  VectorFormat format = formatOf(*this, e.vectorBytes);
  VectorCode code(e, format.elementType, format.lanes);
  SplitPlanes planes(code, source, inputs, grid);
  Value sums = code.scratch(countOfSums(*this, format));
  TapSums tapSums(e, code, *this, planes);

  // Process at most as many taps together as registers can hold sums.
  int64_t most = e.vectorBytes == 64 ? 25 : 12,
          chunk = llvm::divideCeil(taps, llvm::divideCeil(taps, most));
  e.sequence(groups, [&](Index group) {
    code.fillZero(sums, countOfSums(*this, format));
    e.sequence(samples, [&](Index sample) {
      planes.load(sample, group);
      e.sequence(outputs, [&](Index output) {
        Value grads =
            code.at(grad, ((sample * groups + group) * outputs + output) * plane, gradType);
        e.sequence(inputs, [&](Index input) {
          Value image = code.at(planes.address, input * planes.channelPitch),
                to = code.at(sums, (output * inputs + input) * (taps * code.lanes));
          for (int64_t first = 0; first < taps; first += chunk)
            tapSums.add(image, grads, to, first, std::min(taps, first + chunk));
        });
      });
    });
    int64_t count = outputs * inputs * taps;
    e.sequence(count, [&](Index i) {
      Value sum = code.sumOfLanes(code.load(code.at(sums, i * code.lanes)));
      if (resultType != code.elementType)
        sum = e.make<arith::TruncFOp>(resultType, sum);
      e.storeAt(result, sum, group * count + i);
    });
  });
}
