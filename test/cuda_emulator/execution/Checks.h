#ifndef DPC_TEST_CUDA_EMULATOR_EXECUTION_CHECKS_H
#define DPC_TEST_CUDA_EMULATOR_EXECUTION_CHECKS_H

#include "test/cuda_emulator/execution/Context.h"

namespace dpc::emulator {

/// Looks at an access before it happens, with DPC_EMU_CHECK=1: alignment, bounds,
/// freed memory, and in shared memory races and bytes that nobody wrote. Ends the
/// process with what is wrong.
void checkAccess(ThreadContext *thread, uint64_t address, uint32_t bytes, uint32_t space,
                 uint32_t access, int line);
/// Where the host reaches a generic address.
char *genericAddress(ThreadContext *thread, char *local, uint64_t address);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_EXECUTION_CHECKS_H
