#ifndef DPC_TEST_UNIT_PASSES_MEMORY_SOLVEDPLAN_H
#define DPC_TEST_UNIT_PASSES_MEMORY_SOLVEDPLAN_H

#include "passes/Memory/MemoryPlan.h"

#include <gtest/gtest.h>

namespace dpc::test {

inline std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

/// The plan of `problem`, verified; an empty one after a failed expectation.
inline MemoryPlan solve(const MemoryProblem &problem, const MemoryPlanOptions &options = {}) {
  llvm::Expected<MemoryPlan> plan = planMemory(problem, options);
  if (!plan) {
    ADD_FAILURE() << text(plan.takeError());
    return {};
  }
  EXPECT_EQ(text(plan->verify(problem)), "");
  return *plan;
}

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_MEMORY_SOLVEDPLAN_H
