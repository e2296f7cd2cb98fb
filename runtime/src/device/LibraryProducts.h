#ifndef DPC_RUNTIME_SRC_DEVICE_LIBRARYPRODUCTS_H
#define DPC_RUNTIME_SRC_DEVICE_LIBRARYPRODUCTS_H

#include "dpc/device.h"
#include "dpc/status.h"
#include "runtime/src/cuda/Libraries.h"

#include <vector>

namespace dpc {

/// The products of matrices that cuBLASLt makes on a device. Its matrices are
/// column-major: a row-major D = A B is its D' = B' A'.
class LibraryProducts {
public:
  /// Buffers of a product, as dpc_product_t counts them.
  static constexpr uint32_t kMostBuffers = 5, kWorkspace = 3, kAddend = 4;

  /// A product, and what is known of its buffers.
  struct Wanted {
    dpc_product_t product = {};
    /// What divides the address of each buffer.
    uint64_t alignments[kMostBuffers] = {};
    uint64_t workspaceBytes = 0;
  };
  /// How the library makes a product, if it does.
  struct Choice {
    cuda::MatmulAlgorithm algorithm = {};
    uint32_t isMade = 0;
    uint32_t reserved = 0;
  };

  LibraryProducts() = default;
  ~LibraryProducts();
  LibraryProducts(const LibraryProducts &) = delete;
  LibraryProducts &operator=(const LibraryProducts &) = delete;

  /// Opens the library for the device of this thread. DPC_INVALID, in one line,
  /// where it is not there.
  dpc_status_t open();
  /// Notes a product and returns its number; equal ones have one.
  uint32_t add(const Wanted &wanted);
  size_t size() const { return products.size(); }
  const Wanted &getWanted(uint32_t number) const { return products[number].wanted; }
  uint64_t getVersion() const { return library.cublasLtGetVersion(); }

  /// Has the library choose how it makes each product. One that it does not make
  /// is for the kernels.
  dpc_status_t choose();
  /// Ways in which the library makes a product, `most` at most, that which it
  /// thinks the fastest first; none where it does not make it.
  dpc_status_t findChoices(uint32_t number, size_t most, std::vector<Choice> *out);
  /// Has a product made so from now on. DPC_INVALID where this device's library
  /// does not.
  dpc_status_t take(uint32_t number, const Choice &choice);
  /// What was chosen, one for each product, so that other ranks take the same.
  std::vector<Choice> getChoices() const;
  /// Takes all of them.
  dpc_status_t adopt(const Choice *choices);

  bool isMade(uint32_t number) const { return products[number].choice.isMade; }
  /// Puts a product that is made on a stream.
  dpc_status_t run(uint32_t number, const cuda::DevicePointer *buffers, cuda::Stream stream);

private:
  /// What the library knows of a product, by its names of the matrices.
  struct Prepared {
    Wanted wanted;
    cuda::MatmulDescription description = nullptr;
    cuda::MatrixLayout a = nullptr, b = nullptr, d = nullptr;
    Choice choice;
  };

  dpc_status_t check(cuda::BlasStatus status, const char *what) const;
  /// Tells the library of a product, once.
  dpc_status_t describe(Prepared &product);
  dpc_status_t layOut(const Wanted &wanted, const dpc_matrix_t &matrix, uint64_t rows,
                      uint64_t columns, cuda::MatrixLayout *out);
  dpc_status_t findChoices(Prepared &product, cuda::MatmulPreference preference, size_t most,
                           std::vector<Choice> *out);

  cuda::CublasLt library;
  cuda::BlasHandle handle = nullptr;
  std::vector<Prepared> products;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_LIBRARYPRODUCTS_H
