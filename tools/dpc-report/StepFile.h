#ifndef DPC_TOOLS_DPC_REPORT_STEPFILE_H
#define DPC_TOOLS_DPC_REPORT_STEPFILE_H

#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// What tells functions and operations apart.
struct WorkKey {
  std::string name; ///< of a function; or "all-reduce", "send", ..
  /// Of an operation: its axes, the type of its elements, its logical buffer, the elements of one
  /// rank's part, and the members of its group.
  std::string group, type;
  int64_t buffer = 0, elements = 0, members = 0;

  bool isOperation() const { return members > 0; }
  bool operator<(const WorkKey &other) const;
  /// E.g. "step.3", or "all-reduce of 976 f32 over data, buffer 2".
  std::string describe() const;
};

/// What a rank does of a kind in one step.
struct WorkSum {
  double calls = 0;
  double seconds = 0;
  double sentBytes = 0;
  std::string nodes;
};

/// One step of some ranks, as a plan or traces have it.
struct StepOfRanks {
  std::vector<int64_t> ranks;
  double seconds = 0;
  std::map<WorkKey, WorkSum> work;
};

/// A plan: all ranks are in exactly one entry of `timelines`.
struct StepPlan {
  int64_t worldSize = 0;
  double seconds = 0;
  std::string machine;
  std::vector<StepOfRanks> timelines;

  const StepOfRanks &timelineOf(int64_t rank) const;
};

/// The trace of one rank. Times are means over its steps. The first step is left out if there are
/// others, because it also fills caches.
struct StepTrace {
  std::string path;
  int64_t worldSize = 0;
  int64_t steps = 0; ///< that the means are over
  bool leavesOutFirst = false;
  StepOfRanks step;
};

/// Reads a file that `dpc-compile --report=FILE.json` or `--report=FILE.trace.json` wrote.
llvm::Expected<StepPlan> readPlan(const std::string &path);
/// Reads a file that `dpc-run --trace=FILE` wrote.
llvm::Expected<StepTrace> readTrace(const std::string &path);

} // namespace dpc

#endif // DPC_TOOLS_DPC_REPORT_STEPFILE_H
