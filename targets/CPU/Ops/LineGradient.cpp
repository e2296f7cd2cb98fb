// Gradient of the kernel of a convolution with few channels a group: patches of
// a line in the lanes of vectors.

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/NNDialect.h"
#include "targets/CPU/Ops/LineProduct.h"
#include "targets/CPU/Ops/PatchBlocks.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

// A vector of sums for each kernel element: lanes are patches of a line, and
// are added up when all samples are done.
void LineGradient::emit(VectorEmitter &e) const {
  int64_t last = kernelShape.size() - 1, samples = typeOf(source).getDimSize(0),
          taps = ShapedType::getNumElements(kernelShape),
          width = grid[last].points;
  SmallVector<int64_t> gradShape, outer;
  for (const PatchDimension &dimension : grid)
    gradShape.push_back(dimension.points);
  outer.assign(gradShape.begin(), gradShape.end() - 1);
  int64_t plane = ShapedType::getNumElements(gradShape);
  VectorCode code = codeForLines(e, typeOf(source).getElementType(), width);
  SplitPlanes planes(code, source, inputs, grid);
  Value sums = code.scratch(outputs * inputs * taps * code.lanes);

  /// Adds one sample's products for taps [first, end) of a channel pair.
  auto addTaps = [&](Value image, Value grads, Value to, int64_t first,
                     int64_t end) {
    SmallVector<int64_t> offsets;
    Values now;
    for (int64_t tap = first; tap < end; ++tap) {
      SmallVector<int64_t> k(kernelShape.size());
      for (int64_t d = last, rest = tap; d >= 0; --d) {
        k[d] = rest % kernelShape[d];
        rest /= kernelShape[d];
      }
      int64_t offset =
          planes.offsetOf(grid[last].first + k[last] * grid[last].tapStep);
      for (int64_t d = 0; d < last; ++d)
        offset += (grid[d].first + k[d] * grid[d].tapStep + planes.padLow[d]) *
                  planes.pitches[d];
      offsets.push_back(offset);
      now.push_back(code.load(code.at(to, e.constant(tap * code.lanes))));
    }
    auto step = [&](Value imageLine, Value gradLine, Index column,
                    int64_t count, Values sums) {
      Value factor = code.load(code.at(gradLine, column), count);
      Value base = code.at(imageLine, column);
      for (auto [offset, sum] : llvm::zip_equal(offsets, sums))
        sum = code.multiplyAdd(code.load(code.at(base, e.constant(offset))),
                               factor, sum);
      return sums;
    };
    now = e.loop(outer, now, [&](ArrayRef<Index> row, ValueRange carried) {
      Index imageAt = e.constant(0), gradAt = e.constant(0);
      for (int64_t d = 0; d < last; ++d) {
        imageAt = imageAt + row[d] * (grid[d].step * planes.pitches[d]);
        gradAt = gradAt * outer[d] + row[d];
      }
      Value imageLine = code.at(image, imageAt),
            gradLine = code.at(grads, gradAt * width);
      Values sums =
          e.loop(width / code.lanes, carried, [&](Index i, ValueRange inner) {
            return step(imageLine, gradLine, i * code.lanes, code.lanes,
                        Values(inner));
          });
      if (int64_t rest = width % code.lanes)
        sums = step(imageLine, gradLine, e.constant(width - rest), rest, sums);
      return sums;
    });
    for (int64_t tap = first; tap < end; ++tap)
      code.store(now[tap - first], code.at(to, e.constant(tap * code.lanes)));
  };

  // As many taps at a time as registers hold.
  int64_t most = e.vectorBytes == 64 ? 25 : 12,
          chunk = llvm::divideCeil(taps, llvm::divideCeil(taps, most));
  e.sequence(groups, [&](Index group) {
    code.fillZero(sums, outputs * inputs * taps * code.lanes);
    e.sequence(samples, [&](Index sample) {
      planes.load(sample, group);
      e.sequence(outputs, [&](Index output) {
        Value grads = code.at(
            grad, ((sample * groups + group) * outputs + output) * plane);
        e.sequence(inputs, [&](Index input) {
          Value image = code.at(planes.address, input * planes.channelPitch),
                to = code.at(sums,
                             (output * inputs + input) * (taps * code.lanes));
          for (int64_t first = 0; first < taps; first += chunk)
            addTaps(image, grads, to, first, std::min(taps, first + chunk));
        });
      });
    });
    int64_t count = outputs * inputs * taps;
    e.sequence(count, [&](Index i) {
      Value sum = code.sumOfLanes(code.load(code.at(sums, i * code.lanes)));
      e.storeAt(result, sum, group * count + i);
    });
  });
}
