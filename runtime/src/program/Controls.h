#ifndef DPC_RUNTIME_SRC_PROGRAM_CONTROLS_H
#define DPC_RUNTIME_SRC_PROGRAM_CONTROLS_H

#include "dpc/program.h"
#include "runtime/src/device/Queue.h"

namespace dpc {

/// The numbers that the host passes to an entry. They are equal on all ranks.
/// The DPC_CONTROL_* constants say what each number means.
struct Controls {
  uint64_t step = 0;
  uint64_t seed = 0;
  uint64_t validRows = 0;
  double learningRate = 0;
};

/// Uploads the controls and the rank's mesh coordinates, each converted to the
/// type of its buffer.
dpc_status_t uploadControls(const dpc_program_t &program, uint32_t rank, const Controls &controls,
                            Queue &queue);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_CONTROLS_H
