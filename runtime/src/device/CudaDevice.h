#ifndef DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H
#define DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H

#include "dpc/program.h"
#include "runtime/src/cuda/Libraries.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// One CUDA device as this process uses it: the driver, the context and the
/// stream, the spaces of a rank in its memory, and the functions of a program.
/// The destructor frees everything; streams that other objects created on the
/// device must be destroyed before it.
class CudaDevice {
public:
  CudaDevice() = default;
  ~CudaDevice();
  CudaDevice(const CudaDevice &) = delete;
  CudaDevice &operator=(const CudaDevice &) = delete;

  /// Opens this rank's device. DPC_INVALID, with a message of one line, if
  /// there is no driver or no device.
  dpc_status_t open(uint32_t rank);
  /// Makes this device current in the calling thread. Needed because another
  /// thread may have opened it, or made another device current since.
  dpc_status_t use() const;
  /// Allocates the rank's spaces, filled with zeros, and loads every kernel of
  /// `program`. DPC_INVALID, with a message of one line, if the device is too
  /// old or has too little memory.
  dpc_status_t load(const dpc_program_t &program, uint32_t rank);
  /// Allocates the spaces; `bytes` has the size of each.
  dpc_status_t allocate(const uint64_t (&bytes)[DPC_SPACE_COUNT]);

  /// DPC_OK, or a failure whose message names the failed action, the driver's
  /// error and, if there are several ranks, the rank. The fault of a kernel is
  /// reported by whatever call comes next, so the message also says how to find
  /// the kernel: by making each launch wait for its kernel
  /// (CUDA_LAUNCH_BLOCKING=1).
  dpc_status_t check(cuda::Result result, const char *what) const;

  cuda::DevicePointer base(uint32_t space) const { return spaces[space]; }
  /// Reads the id that distinguishes this device from all others.
  dpc_status_t readId(cuda::Uuid *out) const;
  dpc_status_t readName(std::string *out) const;
  /// The function of a kernel, by its index in the kernel table.
  cuda::Function function(uint32_t kernel) const { return functions[kernel]; }

  cuda::Driver driver;
  cuda::Stream stream = nullptr;

private:
  /// The images of a kernel that this device can run, the best first: machine
  /// code before PTX, and code for later devices before code for earlier ones.
  std::vector<const dpc_image_t *> findImages(const dpc_kernel_t &kernel) const;
  dpc_status_t load(const dpc_kernel_t &kernel, cuda::Module *out);

  cuda::Device device = 0;
  cuda::Context context = nullptr;
  bool isRetained = false;
  std::string owner; // "rank R: ", the prefix of failures if there are several ranks
  uint32_t arch = 0;
  cuda::DevicePointer spaces[DPC_SPACE_COUNT] = {};
  std::map<const dpc_image_t *, cuda::Module> modules;
  std::vector<cuda::Function> functions;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H
