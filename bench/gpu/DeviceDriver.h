#ifndef DPC_BENCH_GPU_DEVICEDRIVER_H
#define DPC_BENCH_GPU_DEVICEDRIVER_H

#include "runtime/src/device/CudaDevice.h"

#include <functional>
#include <string>
#include <vector>

namespace dpc::bench {

/// A failure that ends the tool, as one line.
struct Failure {
  std::string text;
};

/// Throws a Failure with the last error of dpc.
void require(dpc_status_t status);

/// A device, its stream, and a pair of events that measure work in it.
class BenchDevice {
public:
  BenchDevice();
  ~BenchDevice();
  BenchDevice(const BenchDevice &) = delete;
  BenchDevice &operator=(const BenchDevice &) = delete;

  const cuda::Driver &driver() const { return device.driver; }
  cuda::Stream stream() const { return device.stream; }
  void check(cuda::Result result, const char *what) const { require(device.check(result, what)); }
  int attribute(cuda::DeviceAttribute which) const;
  /// Memory that is freed at the end.
  cuda::DevicePointer allocate(uint64_t bytes);
  void free(cuda::DevicePointer memory);
  /// Returns when all work is done.
  void wait() const { check(driver().cuStreamSynchronize(stream()), "the device's work"); }
  /// The microseconds of one run of `work`: the least of some measurements, each with so many runs
  /// that they take `least` seconds together.
  double measure(const std::function<void()> &work, double least);

  CudaDevice device;

private:
  double measureRuns(const std::function<void()> &work, int runs);

  cuda::Event begin = nullptr, end = nullptr;
  std::vector<cuda::DevicePointer> memory;
};

/// Prints a line of JSON at once.
void printLine(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// The rates of cuBLASLt for the products that stdin lists, one line each. A
/// measurement takes `least` seconds or more.
void measureProducts(BenchDevice &device, double least);
/// NCCL with one rank, step by step. `keepsGraph`: the communicator is aborted before the graph
/// with its operations is destroyed.
void tryNccl(BenchDevice &device, bool keepsGraph);

} // namespace dpc::bench

#endif // DPC_BENCH_GPU_DEVICEDRIVER_H
