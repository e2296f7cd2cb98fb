#ifndef DPC_TEST_CUDA_EMULATOR_CUDNN_ENGINES_H
#define DPC_TEST_CUDA_EMULATOR_CUDNN_ENGINES_H

#include "test/cuda_emulator/cudnn/Convolution.h"

#include <optional>
#include <string>
#include <vector>

namespace dpc::emulator {

/// A way to compute convolutions. Each engine but the plain one computes something that is not as
/// exact, or not the same in every run, and has a note of it.
struct DnnEngine {
  enum Index { plain = 0, atomic = 1, units = 2, narrowSums = 3, compiled = 4, narrowFactors = 5 };
  Index index;
  std::vector<cuda::DnnNumericalNote> notes;
  std::vector<cuda::DnnBehaviorNote> behavior;
  int64_t settings; ///< how many configurations it has
};

/// An engine with one of its settings, and the operations of a graph.
struct DnnPlan {
  int64_t engine = 0, setting = 0;
  std::vector<DnnConvolution> operations;

  const DnnEngine &getEngine() const;
  uint64_t getWorkspace() const;
  std::string getText() const;
  DnnRounding getRounding() const;
};

/// The plans that heuristics propose for a graph, the best first.
std::vector<DnnPlan> propose(const std::vector<DnnConvolution> &operations,
                             cuda::DnnHeuristicMode mode);
/// The plan that DnnPlan::getText wrote.
std::optional<DnnPlan> parsePlan(const std::string &text);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_CUDNN_ENGINES_H
