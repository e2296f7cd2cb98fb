#ifndef DPC_PASSES_REPORT_MEMORYCHART_H
#define DPC_PASSES_REPORT_MEMORYCHART_H

#include "passes/Play/ExecMemory.h"

namespace dpc {

/// Bytes in use at a time, by MemoryUse.
using BytesByUse = std::array<int64_t, kMemoryUses>;

/// How many bytes hold values over the time of a step.
struct MemoryCurve {
  /// Each entry holds until the next one begins.
  struct Point {
    double begin;
    BytesByUse bytes;
  };
  std::vector<Point> points;
  /// The moment at which most bytes hold values, and how many.
  double peakSeconds = 0;
  int64_t peakBytes = 0;

  explicit MemoryCurve(const RankMemory &memory);

  /// Returns at most `most` points: of each of `most` equal parts of `seconds` the one with the
  /// most bytes. Equal neighbours are one point.
  std::vector<Point> summarize(double seconds, size_t most) const;
};

/// Writes the memory of each program over the time of a step, and the largest tensors of the rank
/// with the most memory. `memories` has one entry per program, `ranks` the timeline that it belongs
/// to, `stages` the stage of each table, or nothing.
void writeMemory(llvm::raw_ostream &os, const PlayedStep &step, llvm::ArrayRef<RankMemory> memories,
                 llvm::ArrayRef<const PlayedRank *> ranks, llvm::ArrayRef<int64_t> stages);

} // namespace dpc

#endif // DPC_PASSES_REPORT_MEMORYCHART_H
