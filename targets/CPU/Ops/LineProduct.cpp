// Emits a convolution with few output channels per group. A line is the elements along the
// last dimension. Neighbouring patches of a line are the lanes of vectors.

#include "targets/CPU/Ops/LineProduct.h"

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/NNDialect.h"
#include "targets/CPU/Ops/PatchBlocks.h"
#include "targets/CPU/Vectors/RegisterTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
/// The sizes of the parts of the result that a LineProduct computes.
struct LineSizes {
  LineSizes(const LineProduct &p, unsigned vectorBytes)
      : format(formatForLines(vectorBytes, p.getSumType(), p.grids[0].back().points)),
        last(p.resultShape.size() - 1), phases(p.grids[0].back().resultStep),
        channels(divisorNear(p.outputs, std::min<int64_t>(p.outputs, 4))),
        staged(phases > 1 || p.hasEmptyGrid()) {
    if (!staged)
      return;
    phasePitch = llvm::alignTo(llvm::divideCeil(p.resultShape[last], phases), format.lanes);
    stagedPitches.assign(p.resultShape.begin(), p.resultShape.end());
    stagedPitches[last] = phases * phasePitch;
    stagedPlane = ShapedType::getNumElements(stagedPitches);
    stagedPitches = rowMajorStrides(stagedPitches);
  }

  /// The number of elements of the staging memory, from which `interleave` copies results
  /// to the lines of the result. In each line of the staging memory, the points of one grid
  /// (one phase) are contiguous.
  int64_t countOfStaging() const { return staged ? channels * stagedPlane : VectorFormat::kNone; }

  VectorFormat format;
  size_t last;
  int64_t phases;
  /// The number of output channels that are computed together.
  int64_t channels;
  bool staged;
  int64_t phasePitch = 0, stagedPlane = 0;
  SmallVector<int64_t> stagedPitches;
};

class LineNest : LineSizes {
public:
  LineNest(VectorEmitter &emitter, const LineProduct &product)
      : LineSizes(product, emitter.vectorBytes), p(product), e(emitter),
        code(e, format.elementType, format.lanes), kernelPitches(rowMajorStrides(p.kernelShape)),
        planes(code, p.source, p.inputs, p.grids), sumsInRegisters(e.vectorBytes == 64 ? 16 : 8) {
    if (!staged)
      return;
    staging = code.scratch(countOfStaging());
    if (p.hasEmptyGrid())
      code.fillZero(staging, countOfStaging());
  }

  void emit() {
    e.sequence(p.groups, [&](Index group) {
      e.sequence(p.getSamples(), [&](Index sample) {
        planes.load(sample, group);
        inBlocks(e, p.outputs, channels, [&](Index first, int64_t count) {
          p.forEachGrid([&](const PatchGrid &grid) { lines(grid, {sample, group, first, count}); });
          if (staged)
            interleave({sample, group, first, count});
        });
      });
    });
  }

private:
  /// A part of the result: `count` output channels of a group, from channel
  /// `first` on, which are computed together.
  struct Part {
    Index sample, group, first;
    int64_t count;
  };

  Value resultOf(const Part &part, int64_t channel) {
    Index plane = (part.sample * p.groups + part.group) * p.outputs + part.first + channel;
    return code.at(p.result, plane * ShapedType::getNumElements(p.resultShape), p.resultType);
  }

  void lines(const PatchGrid &grid, const Part &part) {
    // A tile has up to four vectors of a line, and several lines if registers are
    // left.
    int64_t points = grid[last].points, whole = llvm::divideCeil(points, code.lanes);
    bool atOnce = whole <= 4;
    int64_t vectors = std::min<int64_t>(whole, 4);
    int64_t together = 1;
    if (last > 0)
      together =
          std::clamp<int64_t>(sumsInRegisters / (part.count * vectors), 1, grid[last - 1].points);
    SmallVector<int64_t> outer;
    for (int64_t d = 0; d + 1 < int64_t(last); ++d)
      outer.push_back(grid[d].points);
    SmallVector<Index> at;
    auto row = [&](int64_t count) {
      if (atOnce)
        return tile(grid, part, at, count, e.constant(0), points);
      inBlocks(e, points / code.lanes, 4, [&](Index vector, int64_t size) {
        tile(grid, part, at, count, vector * code.lanes, size * code.lanes);
      });
      if (int64_t rest = points % code.lanes)
        tile(grid, part, at, count, e.constant(points - rest), rest);
    };
    std::function<void()> walk = [&] {
      if (at.size() < outer.size()) {
        e.sequence(outer[at.size()], [&](Index i) {
          at.push_back(i);
          walk();
          at.pop_back();
        });
        return;
      }
      if (last == 0)
        return row(1);
      inBlocks(e, grid[last - 1].points, together, [&](Index first, int64_t count) {
        at.push_back(first);
        row(count);
        at.pop_back();
      });
    };
    walk();
  }

  /// Computes `width` points of each line from point `column` on, for `lines`
  /// lines from line `at` on.
  void tile(const PatchGrid &grid, const Part &part, ArrayRef<Index> at, int64_t lines,
            Index column, int64_t width) {
    int64_t vectors = llvm::divideCeil(width, code.lanes);
    Index from = column,
          first = part.group * p.kernel.groupPitch + part.first * p.kernel.outputPitch;
    for (auto [d, place] : llvm::enumerate(at)) {
      const PatchDimension &dimension = grid[d];
      from =
          from + (place * dimension.step + dimension.first + planes.padLow[d]) * planes.pitches[d];
      first = first + dimension.kernelFirst * kernelPitches[d];
    }
    RegisterTile tile;
    for (int64_t t = 0; t < lines; ++t)
      for (int64_t v = 0; v < vectors; ++v)
        tile.vectors.push_back((t ? t * grid[last - 1].step * planes.pitches[last - 1] : 0) +
                               v * code.lanes);
    SmallVector<RegisterTile::Loop> loops{{p.inputs, p.kernel.inputPitch, planes.channelPitch}};
    for (size_t d = 0; d < last; ++d)
      loops.push_back({grid[d].taps, grid[d].kernelStep * kernelPitches[d],
                       grid[d].tapStep * planes.pitches[d]});
    Values sums(part.count * lines * vectors, code.zero());
    // Taps (kernel elements) that read consecutive elements of the copy form one
    // loop.
    const PatchDimension &line = grid[last];
    int64_t stride = planes.step / std::gcd(planes.step, line.tapStep);
    for (int64_t tap = 0; tap < std::min(stride, line.taps); ++tap) {
      Index kernel = first + line.kernelFirst + tap * line.kernelStep;
      Values rows;
      for (int64_t r = 0; r < part.count; ++r)
        rows.push_back(code.at(p.kernel.address, kernel + r * p.kernel.outputPitch));
      tile.rows = rows;
      tile.panel = code.at(planes.address, from + planes.offsetOf(line.first + tap * line.tapStep));
      tile.loops = loops;
      tile.loops.push_back({int64_t(llvm::divideCeil(line.taps - tap, stride)),
                            stride * line.kernelStep, stride * line.tapStep / planes.step});
      sums = tile.emit(code, sums);
    }
    store(grid, part, at, lines, column, width, sums);
  }

  void store(const PatchGrid &grid, const Part &part, ArrayRef<Index> at, int64_t lines,
             Index column, int64_t width, Values sums) {
    SmallVector<int64_t> pitches = staged ? stagedPitches : rowMajorStrides(p.resultShape);
    int64_t vectors = llvm::divideCeil(width, code.lanes);
    for (int64_t r = 0; r < part.count; ++r)
      for (int64_t t = 0; t < lines; ++t) {
        Index to = column;
        if (staged)
          to = to + grid[last].resultFirst * phasePitch + r * stagedPlane;
        for (auto [d, place] : llvm::enumerate(at)) {
          Index point = d + 1 == at.size() ? place + t : place;
          to = to + (point * grid[d].resultStep + grid[d].resultFirst) * pitches[d];
        }
        Type type = staged ? code.elementType : p.resultType;
        Value base = code.at(staged ? staging : resultOf(part, r), to, type);
        for (int64_t v = 0; v < vectors; ++v)
          code.storeAs(type, sums[(r * lines + t) * vectors + v],
                       code.at(base, e.constant(v * code.lanes), type),
                       std::min(code.lanes, width - v * code.lanes));
      }
  }

  /// Copies the results of the grids to the lines of the result. In `staging`, the
  /// points of each grid (phase) are contiguous; in the result, points of
  /// different phases alternate.
  void interleave(const Part &part) {
    int64_t width = p.resultShape[last], lines = ShapedType::getNumElements(p.resultShape) / width;
    for (int64_t r = 0; r < part.count; ++r) {
      Value to = resultOf(part, r);
      e.forEach({lines}, [&](ArrayRef<Index> line) {
        auto move = [&](Index at, int64_t phase) {
          Value element =
              e.loadAt(staging, code.elementType,
                       line[0] * (phases * phasePitch) + phase * phasePitch + at + r * stagedPlane);
          if (p.resultType != code.elementType)
            element = e.make<arith::TruncFOp>(p.resultType, element);
          e.storeAt(to, element, line[0] * width + at * phases + phase);
        };
        e.forEach({width / phases}, [&](ArrayRef<Index> i) {
          for (int64_t phase = 0; phase < phases; ++phase)
            move(i[0], phase);
        });
        for (int64_t phase = 0; phase < width % phases; ++phase)
          move(e.constant(width / phases), phase);
      });
    }
  }

  const LineProduct &p;
  VectorEmitter &e;
  VectorCode code;
  SmallVector<int64_t> kernelPitches;
  SplitPlanes planes;
  int64_t sumsInRegisters;
  Value staging;
};
} // namespace

ScratchSizes LineProduct::getScratch(const VectorSite &site) const {
  LineSizes sizes(*this, site.unit.vectorBytes);
  SplitLayout planes(sizes.format, source, inputs, grids);
  return sizes.format.bytesOf({planes.count, sizes.countOfStaging()});
}

void LineProduct::emit(VectorEmitter &emitter) const { LineNest(emitter, *this).emit(); }
