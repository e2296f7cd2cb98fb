#ifndef DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H
#define DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H

#include "dpc/program.h"
#include "runtime/src/cuda/Libraries.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// The state of this process on one CUDA device: the driver, a context and a
/// stream, the spaces of the rank in the device's memory, and the kernels of the
/// program. The destructor frees all of these. Streams that other objects have
/// created on the device must be destroyed before that.
class CudaDevice {
public:
  CudaDevice() = default;
  ~CudaDevice();
  CudaDevice(const CudaDevice &) = delete;
  CudaDevice &operator=(const CudaDevice &) = delete;

  /// Opens the device with the number `index`, modulo the number of devices. Returns
  /// DPC_INVALID, with a message of one line, if the machine has no driver or no device.
  dpc_status_t open(uint32_t index);
  /// Makes this device current in the calling thread. This is necessary before
  /// other calls, because another thread may have opened the device, or the thread
  /// may have made another device current.
  dpc_status_t use() const;
  /// Allocates the rank's spaces, filled with zeros, and loads every kernel of
  /// `program`. Returns DPC_INVALID, with a message of one line, if the device is
  /// too old or has too little memory.
  dpc_status_t load(const dpc_program_t &program, uint32_t rank);
  /// Allocates the spaces; `bytes` has the size of each space.
  dpc_status_t allocate(const uint64_t (&bytes)[DPC_SPACE_COUNT]);

  /// Turns the result of a driver call into a status. The message of a failure
  /// names the failed action `what`, the driver's error and, if the run has several
  /// ranks, the rank. If a kernel fails, only a later call of the driver reports this.
  /// Therefore the message tells the user how to find the kernel: with
  /// CUDA_LAUNCH_BLOCKING=1, each launch waits until its kernel is done.
  dpc_status_t check(cuda::Result result, const char *what) const;

  cuda::DevicePointer base(uint32_t space) const { return spaces[space]; }
  /// Reads the device's UUID, which no other device has.
  dpc_status_t readId(cuda::Uuid *out) const;
  dpc_status_t readName(std::string *out) const;
  /// Reads how many bytes of the device's memory are free, and how many of them a plan must leave
  /// to libraries: NCCL and cuBLASLt allocate memory of their own, and so does the driver for
  /// kernels. This is 1 GiB, but at most a sixteenth of the device's memory.
  dpc_status_t readMemory(uint64_t *outFree, uint64_t *outForLibraries) const;
  /// The loaded function of a kernel; `kernel` is an index in the kernel table.
  cuda::Function function(uint32_t kernel) const { return functions[kernel]; }

  cuda::Driver driver;
  cuda::Stream stream = nullptr;

private:
  /// The images of a kernel that this device can run, the best first: machine
  /// code before PTX, and code for later devices before code for earlier ones.
  std::vector<const dpc_image_t *> findImages(const dpc_kernel_t &kernel) const;
  dpc_status_t load(const dpc_kernel_t &kernel, cuda::Module *out);
  dpc_status_t allowSharedMemory(const dpc_device_program_t &tables, const dpc_launch_t &launch);

  cuda::Device device = 0;
  cuda::Context context = nullptr;
  bool isRetained = false;
  std::string owner; // "rank R: ", the prefix of failures if there are several ranks
  uint32_t arch = 0;
  cuda::DevicePointer spaces[DPC_SPACE_COUNT] = {};
  std::map<const dpc_image_t *, cuda::Module> modules;
  std::vector<cuda::Function> functions;
};

/// This rank's number among the ranks of its host: by a variable of the launcher, or else by the
/// hosts that the ranks have found (`dpc_comm_t::hosts`). If the ranks know nothing about their
/// hosts, it is the rank.
uint32_t rankOnHost(uint32_t rank, uint32_t worldSize, const uint32_t *hosts);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H
