// Computes the runs of a placement record from the layout of a tensor and the coordinates
// of a rank.
#include "record/PlacementRuns.h"

#include "dialects/Dist/IR/LayoutShards.h"

#include <algorithm>

using namespace dpc;

/// Adds a contiguous piece to `runs`. A run consists of pieces of equal length at equal
/// distances. If the new piece continues the last run, it becomes a further piece of that
/// run. So the shard of a matrix is one run, and not one run per row.
static void addRun(std::vector<dpc_run_t> &runs, int64_t global, int64_t local, int64_t length) {
  if (!runs.empty() && int64_t(runs.back().length) == length) {
    dpc_run_t &last = runs.back();
    int64_t count = last.count[0];
    int64_t lastGlobal = last.global + (count - 1) * last.global_step[0];
    int64_t lastLocal = last.local + (count - 1) * last.local_step[0];
    int64_t globalStep = global - lastGlobal, localStep = local - lastLocal;
    bool fits = count == 1 ? globalStep > 0
                           : globalStep == int64_t(last.global_step[0]) &&
                                 localStep == int64_t(last.local_step[0]);
    if (fits) {
      last.global_step[0] = globalStep;
      last.local_step[0] = localStep;
      ++last.count[0];
      return;
    }
  }
  dpc_run_t run = {};
  run.local = local;
  run.global = global;
  run.length = length;
  run.count[0] = run.count[1] = 1;
  runs.push_back(run);
}

std::vector<dpc_run_t> dpc::placementRuns(const dist::Layout &layout,
                                          llvm::ArrayRef<int64_t> coordinates,
                                          const dist::MeshShape &mesh, int64_t low, int64_t high) {
  std::vector<dpc_run_t> runs;
  dist::forEachRun(layout, coordinates, mesh, [&](int64_t global, int64_t local, int64_t length) {
    const int64_t begin = std::max(local, low), end = std::min(local + length, high);
    if (begin < end)
      addRun(runs, global + begin - local, begin - low, end - begin);
  });
  return runs;
}
