#ifndef DPC_RUNTIME_SRC_PROGRAM_GRADIENTCHECK_H
#define DPC_RUNTIME_SRC_PROGRAM_GRADIENTCHECK_H

#include "dpc/program.h"
#include "runtime/src/device/Queue.h"

#include <string>
#include <vector>

namespace dpc {

/// Index of the first element that is infinite or NaN; `count` if there is none. Elements of types
/// that have no such values are never found.
uint64_t findNotFinite(uint32_t dtype, const void *elements, uint64_t count);

/// Looks for values that are not finite in what a rank adds to sums over ranks: its own gradients,
/// before they are mixed with those of other ranks. Only for programs whose memory the host can
/// read in the middle of a step, so not for CUDA devices.
class GradientCheck {
public:
  GradientCheck(const dpc_program_t &program, uint32_t rank, Queue &queue);

  /// A step begins.
  void begin();
  /// Reads the `in` of an operation that is about to start, at the address `in`. Later operations
  /// of a step are not read if an earlier one has had a value that is not finite, except to find
  /// the parameter that it belongs to.
  dpc_status_t look(const dpc_action_t &action, DeviceAddress in);

  /// Whether the step had a value that is not finite.
  bool hasFound() const { return foundAt != UINT64_MAX; }
  /// How many sums the step had before the one with the value. UINT64_MAX: no value was found.
  uint64_t getFoundAt() const { return foundAt; }
  /// Describes the first gradient with such a value, or if no parameter is known, the first sum:
  /// "the gradient of fc1.weight is NaN (all-reduce of buffer 1, node_linear)".
  const std::string &getText() const { return text; }

private:
  void take(const dpc_action_t &action, uint64_t place, uint64_t element, const void *value);
  std::string parameterOf(const dpc_action_t &action, uint64_t element) const;
  const dpc_state_t *stateAt(uint32_t member, uint32_t space, uint64_t offset) const;

  const dpc_program_t &program;
  const uint32_t rank;
  Queue &queue;
  std::vector<char> staging;
  uint64_t sums = 0, foundAt = UINT64_MAX;
  bool knowsParameter = false;
  std::string text;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_GRADIENTCHECK_H
