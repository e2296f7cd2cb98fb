#ifndef DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H
#define DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H

#include "dpc/program.h"
#include "runtime/src/cuda/Libraries.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// One CUDA device as this process uses it: its driver, context and stream, the
/// spaces of a rank in its memory, and the functions of a program. Everything is
/// given back when it is destroyed; streams of others are destroyed before.
class CudaDevice {
public:
  CudaDevice() = default;
  ~CudaDevice();
  CudaDevice(const CudaDevice &) = delete;
  CudaDevice &operator=(const CudaDevice &) = delete;

  /// Takes the device of this rank. DPC_INVALID, in one line, where there is no
  /// driver or no device.
  dpc_status_t open(uint32_t rank);
  /// Makes the device that of the thread which calls: another one may have opened
  /// it, or another device since.
  dpc_status_t use() const;
  /// Allocates the rank's spaces, which begin as zeros, and loads every kernel of
  /// `program`. DPC_INVALID, in one line, where the device is too old or has too
  /// little memory.
  dpc_status_t load(const dpc_program_t &program, uint32_t rank);
  /// Allocates the spaces, of so many bytes each.
  dpc_status_t allocate(const uint64_t (&bytes)[DPC_SPACE_COUNT]);

  /// DPC_OK, or a message that says what failed and what the driver calls it, with
  /// the rank where there are several. A kernel's fault comes to light in whatever
  /// call is made next, and it is known which kernel it was only where launches
  /// wait for theirs: the message says how.
  dpc_status_t check(cuda::Result result, const char *what) const;

  cuda::DevicePointer base(uint32_t space) const { return spaces[space]; }
  /// What tells this device from all others.
  dpc_status_t readId(cuda::Uuid *out) const;
  dpc_status_t readName(std::string *out) const;
  /// The function of an entry of the kernel table.
  cuda::Function function(uint32_t kernel) const { return functions[kernel]; }

  cuda::Driver driver;
  cuda::Stream stream = nullptr;

private:
  /// The images of a kernel that this device runs, the best first: machine code
  /// for the latest device before PTX for it.
  std::vector<const dpc_image_t *> findImages(const dpc_kernel_t &kernel) const;
  dpc_status_t load(const dpc_kernel_t &kernel, cuda::Module *out);

  cuda::Device device = 0;
  cuda::Context context = nullptr;
  bool isRetained = false;
  std::string owner; // "rank R: " before what fails, where there are several ranks
  uint32_t arch = 0;
  cuda::DevicePointer spaces[DPC_SPACE_COUNT] = {};
  std::map<const dpc_image_t *, cuda::Module> modules;
  std::vector<cuda::Function> functions;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CUDADEVICE_H
