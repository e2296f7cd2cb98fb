// Computes which elements of a tensor a device has, and copies between tensors and
// shards.

#include "dialects/Dist/IR/LayoutShards.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;

namespace dpc::dist {

FactorRange localRange(const Factor &factor, ArrayRef<int64_t> coordinates, const MeshShape &mesh) {
  FactorRange range{0, factor.size, factor.size};
  for (const std::string &axis : factor.axes) {
    std::optional<unsigned> i = mesh.axisIndex(axis);
    if (!i)
      continue;
    range.size = (range.size + mesh.axes[*i].size - 1) / mesh.axes[*i].size;
    int64_t start = coordinates[*i] * range.size;
    range.offset += start;
    range.count = std::clamp<int64_t>(range.count - start, 0, range.size);
  }
  return range;
}

namespace {

/// Appends `run` to `runs`. If the last run ends where `run` begins, in both the
/// tensor and the shard, extends the last run instead.
void append(std::vector<IndexRun> &runs, IndexRun run) {
  if (run.count == 0)
    return;
  if (!runs.empty()) {
    IndexRun &last = runs.back();
    if (last.global + last.count == run.global && last.local + last.count == run.local) {
      last.count += run.count;
      return;
    }
  }
  runs.push_back(run);
}

/// Whether `runs` is a single run that maps each index of [0, extent) to itself.
bool isWhole(ArrayRef<IndexRun> runs, int64_t extent) {
  return runs.size() == 1 && runs.front() == IndexRun{0, 0, extent};
}

/// The runs of one segment, with indices relative to the start of the segment.
std::vector<IndexRun> segmentRuns(const Segment &segment, ArrayRef<int64_t> coordinates,
                                  const MeshShape &mesh) {
  std::vector<IndexRun> runs{{0, 0, 1}};
  int64_t globalExtent = 1, localExtent = 1;
  for (const Factor &factor : reverse(segment.factors)) {
    FactorRange range = localRange(factor, coordinates, mesh);
    std::vector<IndexRun> outer;
    if (isWhole(runs, globalExtent) && globalExtent == localExtent) {
      append(outer, {range.offset * globalExtent, 0, range.count * globalExtent});
    } else {
      outer.reserve(range.count * runs.size());
      for (int64_t i = 0; i < range.count; ++i)
        for (const IndexRun &run : runs)
          append(outer, {(range.offset + i) * globalExtent + run.global,
                         i * localExtent + run.local, run.count});
    }
    runs = std::move(outer);
    globalExtent *= factor.size;
    localExtent *= range.size;
  }
  return runs;
}

/// Calls `fn` for each run of a tensor, in row-major order. Each run of the last
/// of the dimensions in `runs` gives one run of the tensor for each index of the
/// dimensions before it. A run that continues the run before it is joined to that
/// run.
struct RunWalk {
  ArrayRef<std::vector<IndexRun>> runs; // the runs of each outer dimension
  ArrayRef<int64_t> globalStrides, localStrides;
  function_ref<void(int64_t, int64_t, int64_t)> fn;
  IndexRun pending;

  void emit(int64_t global, int64_t local, int64_t count) {
    if (pending.count && pending.global + pending.count == global &&
        pending.local + pending.count == local) {
      pending.count += count;
      return;
    }
    flush();
    pending = {global, local, count};
  }

  void flush() {
    if (pending.count)
      fn(pending.global, pending.local, pending.count);
    pending = {};
  }

  void walk(unsigned dim, int64_t global, int64_t local) {
    int64_t globalStride = globalStrides[dim], localStride = localStrides[dim];
    for (const IndexRun &run : runs[dim]) {
      if (dim + 1 == runs.size()) {
        emit(global + run.global * globalStride, local + run.local * localStride,
             run.count * globalStride);
        continue;
      }
      for (int64_t i = 0; i < run.count; ++i)
        walk(dim + 1, global + (run.global + i) * globalStride,
             local + (run.local + i) * localStride);
    }
  }
};

} // namespace

std::vector<IndexRun> localRuns(const DimLayout &dim, ArrayRef<int64_t> coordinates,
                                const MeshShape &mesh) {
  std::vector<IndexRun> runs;
  int64_t global = 0, local = 0;
  for (const Segment &segment : dim.segments) {
    for (const IndexRun &run : segmentRuns(segment, coordinates, mesh))
      append(runs, {global + run.global, local + run.local, run.count});
    global += segment.extent();
    local += localExtent({segment}, mesh);
  }
  return runs;
}

std::vector<int64_t> localIndices(const DimLayout &dim, ArrayRef<int64_t> coordinates,
                                  const MeshShape &mesh) {
  std::vector<int64_t> indices(localExtent(dim, mesh), -1);
  for (const IndexRun &run : localRuns(dim, coordinates, mesh))
    for (int64_t i = 0; i < run.count; ++i)
      indices[run.local + i] = run.global + i;
  return indices;
}

void forEachRun(const Layout &layout, ArrayRef<int64_t> coordinates, const MeshShape &mesh,
                function_ref<void(int64_t, int64_t, int64_t)> fn) {
  size_t rank = layout.dims.size();
  std::vector<std::vector<IndexRun>> runs(rank);
  SmallVector<int64_t, 4> globalStrides(rank), localStrides(rank);
  int64_t globalStride = 1, localStride = 1;
  size_t outerDims = 0; // all further dimensions are unsharded, so a run covers them completely
  for (size_t i = rank; i-- > 0;) {
    const DimLayout &dim = layout.dims[i];
    runs[i] = localRuns(dim, coordinates, mesh);
    globalStrides[i] = globalStride;
    localStrides[i] = localStride;
    int64_t extent = dim.extent(), local = localExtent(dim, mesh);
    if (!outerDims && !(isWhole(runs[i], extent) && extent == local))
      outerDims = i + 1;
    globalStride *= extent;
    localStride *= local;
  }
  if (!outerDims) {
    fn(0, 0, globalStride);
    return;
  }
  RunWalk walk{ArrayRef(runs).take_front(outerDims), globalStrides, localStrides, fn, {}};
  walk.walk(0, 0, 0);
  walk.flush();
}

void copyToLocal(const void *global, void *local, int64_t elementBytes, const Layout &layout,
                 ArrayRef<int64_t> coordinates, const MeshShape &mesh) {
  const char *from = static_cast<const char *>(global);
  char *to = static_cast<char *>(local);
  int64_t filled = 0; // elements of `local` written so far; runs ascend, so elements that a run
                      // skips are padding
  forEachRun(layout, coordinates, mesh,
             [&](int64_t globalOffset, int64_t localOffset, int64_t count) {
               std::memset(to + filled * elementBytes, 0, (localOffset - filled) * elementBytes);
               std::memcpy(to + localOffset * elementBytes, from + globalOffset * elementBytes,
                           count * elementBytes);
               filled = localOffset + count;
             });
  int64_t total = 1;
  for (int64_t extent : localShape(layout, mesh))
    total *= extent;
  std::memset(to + filled * elementBytes, 0, (total - filled) * elementBytes);
}

void copyToGlobal(const void *local, void *global, int64_t elementBytes, const Layout &layout,
                  ArrayRef<int64_t> coordinates, const MeshShape &mesh) {
  const char *from = static_cast<const char *>(local);
  char *to = static_cast<char *>(global);
  forEachRun(layout, coordinates, mesh,
             [&](int64_t globalOffset, int64_t localOffset, int64_t count) {
               std::memcpy(to + globalOffset * elementBytes, from + localOffset * elementBytes,
                           count * elementBytes);
             });
}

} // namespace dpc::dist
