#ifndef DPC_TEST_CUDA_EMULATOR_DRIVER_LAUNCHREPORT_H
#define DPC_TEST_CUDA_EMULATOR_DRIVER_LAUNCHREPORT_H

#include "test/cuda_emulator/execution/AccessCounts.h"
#include "test/cuda_emulator/execution/Context.h"

namespace dpc::emulator {

/// Appends the line of a launch to the file of DPC_EMU_COUNT: the word `launch` and a JSON object.
/// docs/testing.md has its fields. `number` counts the launches of the process from 1. Ranks may
/// share a file, because each line is one write.
void reportLaunch(const Kernel &kernel, uint64_t number, uint64_t blocks, uint64_t threads,
                  const AccessCounts &counts);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_DRIVER_LAUNCHREPORT_H
