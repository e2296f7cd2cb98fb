#ifndef DPC_RUNTIME_SRC_DEVICE_PROGRAMPRODUCTS_H
#define DPC_RUNTIME_SRC_DEVICE_PROGRAMPRODUCTS_H

#include "dpc/comm.h"
#include "dpc/program.h"
#include "runtime/src/device/LibraryProducts.h"

#include <functional>
#include <vector>

namespace dpc {

/// Decides which of a program's products the library (cuBLASLt) computes. All ranks
/// decide alike: either all ranks use the library or no rank does, and all ranks
/// use the algorithms that rank 0 chose. So if several ranks compute the same value,
/// it has the same bits on all of them.
class ProgramProducts {
public:
  /// Opens the library if the program has products. Rank 0 then lets the library
  /// choose algorithms and, if `refine` is not empty, calls `refine` to improve the
  /// choice. `window` is memory of `control` for messages of at most `windowBytes`
  /// bytes. Collective. If the library is not installed, rank 0 tells the user that
  /// kernels compute the products.
  dpc_status_t open(const dpc_program_t &program, dpc_comm_t &control, char *window,
                    uint64_t windowBytes, const std::function<dpc_status_t()> &refine);

  /// Whether the library computes the product of an entry of the launch table.
  bool makes(uint64_t launch) const {
    return launch < numbers.size() && numbers[launch] != DPC_NONE &&
           products.isMade(numbers[launch]);
  }
  dpc_status_t run(uint64_t launch, const cuda::DevicePointer *buffers, cuda::Stream stream) {
    return products.run(numbers[launch], buffers, stream);
  }
  LibraryProducts &getLibrary() { return products; }
  /// The library's number for the product of a launch that it computes.
  uint32_t numberOf(uint64_t launch) const { return numbers[launch]; }
  /// For each product that the library computes, the first launch that has it.
  std::vector<uint64_t> getExamples() const;

private:
  dpc_status_t agreeOnLibrary(dpc_comm_t &control, char *window, bool *isUsed);
  dpc_status_t agreeOnChoices(dpc_comm_t &control, char *window, uint64_t windowBytes,
                              const std::function<dpc_status_t()> &refine);

  LibraryProducts products;
  std::vector<uint32_t> numbers; ///< for each launch: number of its product, or DPC_NONE
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_PROGRAMPRODUCTS_H
