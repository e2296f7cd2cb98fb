#ifndef DPC_RUNTIME_SRC_DEVICE_PRODUCTTUNER_H
#define DPC_RUNTIME_SRC_DEVICE_PRODUCTTUNER_H

#include "runtime/src/device/CudaDevice.h"
#include "runtime/src/device/ProgramProducts.h"

#include <functional>
#include <string>

namespace dpc {

/// Measures the algorithms that the library has for each product of a program, and
/// makes the library use the fastest one. Keeps the results in a file
/// (TunedProducts), from which later runs read them. Rank 0 uses a tuner before the
/// first step. At this time products may overwrite their result buffers, because
/// the buffers have no values yet.
class ProductTuner {
public:
  /// `path` is the file with the results. `perform` enqueues an entry of the launch
  /// table on the device's stream.
  ProductTuner(CudaDevice &device, ProgramProducts &products, std::string path,
               std::function<dpc_status_t(uint64_t launch)> perform)
      : device(device), products(products), path(std::move(path)), perform(std::move(perform)) {}
  ~ProductTuner();

  /// Tunes all products and reports the result to the user on stderr.
  dpc_status_t run();

private:
  dpc_status_t tune(uint64_t launch, LibraryProducts::Choice *fastest, double *microseconds);
  dpc_status_t measure(uint64_t launch, double *microseconds);

  CudaDevice &device;
  ProgramProducts &products;
  const std::string path;
  const std::function<dpc_status_t(uint64_t)> perform;
  cuda::Event begin = nullptr, end = nullptr;
  /// Microseconds of all measured products together: with the algorithms that the
  /// library lists first, and with the fastest algorithms.
  double first = 0, best = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_PRODUCTTUNER_H
