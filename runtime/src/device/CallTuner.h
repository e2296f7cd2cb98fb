#ifndef DPC_RUNTIME_SRC_DEVICE_CALLTUNER_H
#define DPC_RUNTIME_SRC_DEVICE_CALLTUNER_H

#include "runtime/src/device/CudaDevice.h"
#include "runtime/src/device/ProgramCalls.h"

#include <functional>
#include <string>

namespace dpc {

/// Measures the algorithms that the library has for each call of one kind in a
/// program, and lets each call use the fastest one. Results are kept in a file
/// (TunedCalls), from which later runs read them. Used on rank 0 before the first
/// step. At that time calls may overwrite the device's memory, because no values are
/// in it yet.
class CallTuner {
public:
  /// `perform` enqueues an entry of the launch table on the device's stream.
  CallTuner(CudaDevice &device, const ProgramCalls::OfKind &own, std::string path,
            std::function<dpc_status_t(uint64_t launch)> perform)
      : device(device), own(own), library(*own.calls), path(std::move(path)),
        perform(std::move(perform)) {}
  ~CallTuner();

  /// Tunes all calls and reports the result to the user on stderr.
  dpc_status_t run();

private:
  dpc_status_t tune(uint32_t number, CallChoice *fastest, double *microseconds);
  dpc_status_t measure(uint64_t launch, double *microseconds);

  CudaDevice &device;
  const ProgramCalls::OfKind &own;
  LibraryCalls &library;
  const std::string path;
  const std::function<dpc_status_t(uint64_t)> perform;
  cuda::Event begin = nullptr, end = nullptr;
  double first = 0, best = 0; ///< sums over all measured calls, in microseconds
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CALLTUNER_H
