#ifndef DPC_PASSES_REMAT_REMATUSES_H
#define DPC_PASSES_REMAT_REMATUSES_H

#include "passes/Remat/RematPlan.h"

#include "llvm/ADT/ArrayRef.h"

namespace dpc {

/// The values that each op of a problem makes, and the ops that read each value.
class RematUses {
public:
  explicit RematUses(const RematProblem &problem)
      : results(problem.ops.size()), readers(problem.values.size()) {
    for (size_t value = 0; value < problem.values.size(); ++value)
      results[problem.values[value].maker].push_back(value);
    for (size_t op = 0; op < problem.ops.size(); ++op)
      for (int64_t read : problem.ops[op].reads)
        readers[read].push_back(op);
  }

  llvm::ArrayRef<int64_t> resultsOf(int64_t op) const { return results[op]; }
  /// The ops of the forward pass that read `value`, ascending.
  llvm::ArrayRef<int64_t> readersOf(int64_t value) const { return readers[value]; }
  /// The last op of the forward pass that reads `value`; if there is none, the op that makes
  /// `value`.
  int64_t lastReaderOf(const RematProblem &problem, int64_t value) const {
    return readers[value].empty() ? problem.values[value].maker : readers[value].back();
  }

private:
  std::vector<std::vector<int64_t>> results, readers;
};

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATUSES_H
