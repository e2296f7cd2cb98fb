#ifndef DPC_RUNTIME_SRC_DEVICE_LIBRARYPRODUCTS_H
#define DPC_RUNTIME_SRC_DEVICE_LIBRARYPRODUCTS_H

#include "dpc/device.h"
#include "dpc/status.h"
#include "runtime/src/cuda/Libraries.h"

#include <vector>

namespace dpc {

/// The products of matrices that cuBLASLt computes on a device. The library's
/// matrices are column-major, so the library sees a row-major matrix as its
/// transpose. Therefore the product D = A B is passed to it as D' = B' A'.
class LibraryProducts {
public:
  /// The largest number of buffers of a product, and the indices of two of them.
  /// dpc_product_t lists the buffers.
  static constexpr uint32_t kMostBuffers = 5, kWorkspace = 3, kAddend = 4;

  /// A product, and the properties of its buffers on which the library's choice of
  /// an algorithm depends.
  struct Wanted {
    dpc_product_t product = {};
    /// For each buffer, a power of two that divides its address.
    uint64_t alignments[kMostBuffers] = {};
    uint64_t workspaceBytes = 0;
  };
  /// The algorithm with which the library computes a product. `isMade` is 0 if the
  /// library does not compute the product.
  struct Choice {
    cuda::MatmulAlgorithm algorithm = {};
    uint32_t isMade = 0;
    uint32_t reserved = 0;
  };

  LibraryProducts() = default;
  ~LibraryProducts();
  LibraryProducts(const LibraryProducts &) = delete;
  LibraryProducts &operator=(const LibraryProducts &) = delete;

  /// Opens the library for the device that is current in this thread. Returns
  /// DPC_INVALID, with a message of one line, if the library is not installed.
  dpc_status_t open();
  /// Adds a product and returns its number. Equal products have the same number.
  uint32_t add(const Wanted &wanted);
  size_t size() const { return products.size(); }
  const Wanted &getWanted(uint32_t number) const { return products[number].wanted; }
  uint64_t getVersion() const { return library.cublasLtGetVersion(); }

  /// Lets the library choose an algorithm for each product. If the library does not
  /// support a product, the program's own kernel computes it.
  dpc_status_t choose();
  /// Finds at most `most` algorithms for a product. The first one is the algorithm
  /// that the library expects to be fastest. `out` is empty if the library does not
  /// support the product.
  dpc_status_t findChoices(uint32_t number, size_t most, std::vector<Choice> *out);
  /// Uses an algorithm for a product from now on. Returns DPC_INVALID if the library
  /// does not support the algorithm on this device.
  dpc_status_t take(uint32_t number, const Choice &choice);
  /// The chosen algorithm of each product, so that other ranks can use the same
  /// algorithms.
  std::vector<Choice> getChoices() const;
  /// Uses the choices of another rank. `choices` has one choice per product.
  dpc_status_t adopt(const Choice *choices);

  bool isMade(uint32_t number) const { return products[number].choice.isMade; }
  /// Enqueues a product on a stream. isMade must be true for this product.
  dpc_status_t run(uint32_t number, const cuda::DevicePointer *buffers, cuda::Stream stream);

private:
  /// The library's descriptors of a product. The names a, b and d are those of the
  /// library: its a is b of dpc_product_t, and its b is a of dpc_product_t.
  struct Prepared {
    Wanted wanted;
    cuda::MatmulDescription description = nullptr;
    cuda::MatrixLayout a = nullptr, b = nullptr, d = nullptr;
    Choice choice;
  };

  dpc_status_t check(cuda::BlasStatus status, const char *what) const;
  /// Creates the descriptors of a product, unless an earlier call has created them.
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
