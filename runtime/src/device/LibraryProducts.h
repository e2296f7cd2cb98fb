#ifndef DPC_RUNTIME_SRC_DEVICE_LIBRARYPRODUCTS_H
#define DPC_RUNTIME_SRC_DEVICE_LIBRARYPRODUCTS_H

#include "dpc/device.h"
#include "dpc/status.h"
#include "runtime/src/cuda/Libraries.h"

#include <vector>

namespace dpc {

/// The products of matrices that cuBLASLt computes on a device. The library's
/// matrices are column-major, so a row-major D = A B is passed to it as D' = B'
/// A'.
class LibraryProducts {
public:
  /// Numbers of buffers of a product, as dpc_product_t counts them.
  static constexpr uint32_t kMostBuffers = 5, kWorkspace = 3, kAddend = 4;

  /// A product with the properties of its buffers that matter to the library.
  struct Wanted {
    dpc_product_t product = {};
    /// A power of two that divides the address of each buffer.
    uint64_t alignments[kMostBuffers] = {};
    uint64_t workspaceBytes = 0;
  };
  /// The algorithm with which the library computes a product.
  struct Choice {
    cuda::MatmulAlgorithm algorithm = {};
    uint32_t isMade = 0;
    uint32_t reserved = 0;
  };

  LibraryProducts() = default;
  ~LibraryProducts();
  LibraryProducts(const LibraryProducts &) = delete;
  LibraryProducts &operator=(const LibraryProducts &) = delete;

  /// Opens the library for this thread's device. DPC_INVALID, with a message of
  /// one line, if it is not installed.
  dpc_status_t open();
  /// Adds a product and returns its number; equal products share a number.
  uint32_t add(const Wanted &wanted);
  size_t size() const { return products.size(); }
  const Wanted &getWanted(uint32_t number) const { return products[number].wanted; }
  uint64_t getVersion() const { return library.cublasLtGetVersion(); }

  /// Lets the library choose an algorithm for each product. Products that it
  /// does not support remain with the program's kernels.
  dpc_status_t choose();
  /// Returns at most `most` algorithms for a product, the one that the library
  /// expects to be fastest first. None if the library does not support the
  /// product.
  dpc_status_t findChoices(uint32_t number, size_t most, std::vector<Choice> *out);
  /// Uses an algorithm for a product from now on. DPC_INVALID if this device's
  /// library does not support it.
  dpc_status_t take(uint32_t number, const Choice &choice);
  /// The chosen algorithm of each product, so that other ranks can use the
  /// same.
  std::vector<Choice> getChoices() const;
  /// Uses the choices of another rank; one per product.
  dpc_status_t adopt(const Choice *choices);

  bool isMade(uint32_t number) const { return products[number].choice.isMade; }
  /// Enqueues a product, for which isMade is true, on a stream.
  dpc_status_t run(uint32_t number, const cuda::DevicePointer *buffers, cuda::Stream stream);

private:
  /// The library's descriptors of a product; a, b and d as the library names
  /// the matrices.
  struct Prepared {
    Wanted wanted;
    cuda::MatmulDescription description = nullptr;
    cuda::MatrixLayout a = nullptr, b = nullptr, d = nullptr;
    Choice choice;
  };

  dpc_status_t check(cuda::BlasStatus status, const char *what) const;
  /// Creates the descriptors of a product, unless they exist.
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
