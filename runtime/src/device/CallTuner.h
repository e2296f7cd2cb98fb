#ifndef DPC_RUNTIME_SRC_DEVICE_CALLTUNER_H
#define DPC_RUNTIME_SRC_DEVICE_CALLTUNER_H

#include "runtime/src/device/CudaDevice.h"
#include "runtime/src/device/ProgramCalls.h"

#include <functional>
#include <string>

namespace dpc {

/// For each call of one kind in a program: measures the algorithms that the library
/// has, and makes the library use the fastest. Stores the results in a file
/// (TunedCalls), so that later runs need not measure again. Rank 0 uses this class
/// before the first step. At that time the memory holds no data yet, so the measured
/// calls may overwrite it.
class CallTuner {
public:
  /// `own` are the calls to measure, and `path` names the file. `perform` enqueues the
  /// launch with the index `launch` on the device's stream.
  CallTuner(CudaDevice &device, const ProgramCalls::OfKind &own, std::string path,
            std::function<dpc_status_t(uint64_t launch)> perform)
      : device(device), own(own), library(*own.calls), path(std::move(path)),
        perform(std::move(perform)) {}
  ~CallTuner();

  /// Tunes all calls and reports the result to the user on stderr.
  dpc_status_t run();

private:
  /// Measures the algorithms of call `number`, and returns the fastest and its time.
  dpc_status_t tune(uint32_t number, CallChoice *fastest, double *microseconds);
  /// Measures the time of a launch with the algorithm that its call has now.
  dpc_status_t measure(uint64_t launch, double *microseconds);

  CudaDevice &device;
  const ProgramCalls::OfKind &own;
  LibraryCalls &library;
  const std::string path;
  const std::function<dpc_status_t(uint64_t)> perform;
  cuda::Event begin = nullptr, end = nullptr;
  /// Sums over all measured calls, in microseconds: the time of the algorithm that the
  /// library lists first, and the time of the fastest algorithm.
  double first = 0, best = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CALLTUNER_H
