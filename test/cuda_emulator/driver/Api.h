#ifndef DPC_TEST_CUDA_EMULATOR_DRIVER_API_H
#define DPC_TEST_CUDA_EMULATOR_DRIVER_API_H

// What the emulator's libraries export. A definition whose types differ from
// the declaration does not compile.

#include "runtime/src/cuda/Driver.h"

#define DPC_EMU_EXPORT __attribute__((visibility("default")))

namespace dpc::cuda {
extern "C" {
#define DPC_EMU_DECLARE(result, name, parameters) DPC_EMU_EXPORT result name parameters;
DPC_CUDA_DRIVER_FUNCTIONS(DPC_EMU_DECLARE)

/// For the emulated libraries beside the driver: appends work to a stream, or to
/// the graph that is captured from it. `release` gets `data` when it can no
/// longer run. Not a function of NVIDIA's.
DPC_EMU_EXPORT void dpcEmulatorEnqueue(Stream stream, HostFunction run, HostFunction release,
                                       void *data);
/// Where the host reaches device memory; ends the process, naming `what`, unless
/// the range is allocated. Not a function of NVIDIA's.
DPC_EMU_EXPORT void *dpcEmulatorReach(const void *device, size_t bytes, const char *what);
/// The device that this process uses; -1 while it has no context. Not a function
/// of NVIDIA's.
DPC_EMU_EXPORT int dpcEmulatorDevice();
/// Graphs that can be launched and were not destroyed. Not a function of NVIDIA's.
DPC_EMU_EXPORT int dpcEmulatorExecutableGraphs();
/// Waits until all streams have done their work, even if the context is lost.
DPC_EMU_EXPORT void dpcEmulatorFinish();
/// Counts what happens, by name: see Counters.cpp. Not a function of NVIDIA's.
DPC_EMU_EXPORT void dpcEmulatorCount(const char *what);
}
} // namespace dpc::cuda

#endif // DPC_TEST_CUDA_EMULATOR_DRIVER_API_H
