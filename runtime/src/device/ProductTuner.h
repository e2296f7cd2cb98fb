#ifndef DPC_RUNTIME_SRC_DEVICE_PRODUCTTUNER_H
#define DPC_RUNTIME_SRC_DEVICE_PRODUCTTUNER_H

#include "runtime/src/device/CudaDevice.h"
#include "runtime/src/device/ProgramProducts.h"

#include <functional>
#include <string>

namespace dpc {

/// Measures in how many ways the library makes each product of a program, and
/// has it take the fastest. What was measured once stands in a file
/// (TunedProducts), from which later runs take it. For rank 0, before the first
/// step: what the products leave in memory is nothing yet.
class ProductTuner {
public:
  /// `perform` puts an entry of the launch table on the device's stream.
  ProductTuner(CudaDevice &device, ProgramProducts &products, std::string path,
               std::function<dpc_status_t(uint64_t launch)> perform)
      : device(device), products(products), path(std::move(path)), perform(std::move(perform)) {}
  ~ProductTuner();

  /// Tells the user on stderr what came of it.
  dpc_status_t run();

private:
  dpc_status_t tune(uint64_t launch, LibraryProducts::Choice *fastest, double *microseconds);
  dpc_status_t measure(uint64_t launch, double *microseconds);

  CudaDevice &device;
  ProgramProducts &products;
  const std::string path;
  const std::function<dpc_status_t(uint64_t)> perform;
  cuda::Event begin = nullptr, end = nullptr;
  double first = 0, best = 0; ///< microseconds of all products that were measured
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_PRODUCTTUNER_H
