#ifndef DPC_RUNTIME_SRC_DEVICE_PROGRAMPRODUCTS_H
#define DPC_RUNTIME_SRC_DEVICE_PROGRAMPRODUCTS_H

#include "dpc/comm.h"
#include "dpc/program.h"
#include "runtime/src/device/LibraryProducts.h"

#include <functional>
#include <vector>

namespace dpc {

/// Which launches of a program are products that the library makes. All ranks
/// agree: the library makes them in all or in none, and each as rank 0 does, so
/// that what ranks compute twice is the same twice.
class ProgramProducts {
public:
  /// Opens the library, if the program has products, and has rank 0 choose how
  /// they are made; `refine` (may be empty) is run there after the library's own
  /// choice. `window` is memory of `control` for messages of at most
  /// `windowBytes` bytes. Collective. Where the library is not there rank 0 tells
  /// the user that kernels make the products.
  dpc_status_t open(const dpc_program_t &program, dpc_comm_t &control, char *window,
                    uint64_t windowBytes, const std::function<dpc_status_t()> &refine);

  /// Whether the library makes an entry of the launch table.
  bool makes(uint64_t launch) const {
    return launch < numbers.size() && numbers[launch] != DPC_NONE &&
           products.isMade(numbers[launch]);
  }
  dpc_status_t run(uint64_t launch, const cuda::DevicePointer *buffers, cuda::Stream stream) {
    return products.run(numbers[launch], buffers, stream);
  }
  LibraryProducts &getLibrary() { return products; }
  /// The library's number of the product of a launch that it makes.
  uint32_t numberOf(uint64_t launch) const { return numbers[launch]; }
  /// A launch for each product that the library makes.
  std::vector<uint64_t> getExamples() const;

private:
  dpc_status_t agreeOnLibrary(dpc_comm_t &control, char *window, bool *isUsed);
  dpc_status_t agreeOnChoices(dpc_comm_t &control, char *window, uint64_t windowBytes,
                              const std::function<dpc_status_t()> &refine);

  LibraryProducts products;
  std::vector<uint32_t> numbers; ///< by launch: its product, or DPC_NONE
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_PROGRAMPRODUCTS_H
