#ifndef DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H
#define DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H

#include "runtime/src/device/LibraryProducts.h"

#include <map>
#include <string>

namespace dpc {

/// How products are made fastest, as was measured, in a file that runs share: a
/// line for each product, device and version of the library. Text, with tabs
/// between the fields of a line: the device's name, the library's version, words
/// for readers, the product and its algorithm as hexadecimal bytes, microseconds.
class TunedProducts {
public:
  /// `device` is its name, which says how fast it is.
  TunedProducts(std::string device, uint64_t libraryVersion);

  /// Reads a file; one that is not there has nothing. DPC_INVALID names the line
  /// of a file that is no such one.
  dpc_status_t read(const std::string &path);
  /// What is known of a product on this device; null: nothing.
  const cuda::MatmulAlgorithm *find(const LibraryProducts::Wanted &wanted) const;
  void add(const LibraryProducts::Wanted &wanted, const cuda::MatmulAlgorithm &algorithm,
           double microseconds);
  /// Writes everything, what was read of other devices too.
  dpc_status_t write(const std::string &path) const;

private:
  struct Entry {
    std::string words, microseconds;
    cuda::MatmulAlgorithm algorithm;
  };
  std::string keyOf(const LibraryProducts::Wanted &wanted) const;

  const std::string prefix; ///< of this device's keys
  /// By device, version and product, as they stand in the file.
  std::map<std::string, Entry> entries;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H
