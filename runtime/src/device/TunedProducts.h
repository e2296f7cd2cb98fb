#ifndef DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H
#define DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H

#include "runtime/src/device/LibraryProducts.h"

#include <map>
#include <string>

namespace dpc {

/// The measured fastest algorithms of products, in a file that runs share. The
/// file is text and has a line for each product, device and library version.
/// The fields of a line are separated by tabs: the device's name, the library's
/// version, a description for readers, the product and its algorithm as
/// hexadecimal bytes, and microseconds.
class TunedProducts {
public:
  /// `device` is the name of the device model, on which speed depends.
  TunedProducts(std::string device, uint64_t libraryVersion);

  /// Reads a file; a missing file counts as empty. DPC_INVALID, with a message
  /// that names the line, if the file is malformed.
  dpc_status_t read(const std::string &path);
  /// The algorithm for a product on this device; null if it has not been
  /// measured.
  const cuda::MatmulAlgorithm *find(const LibraryProducts::Wanted &wanted) const;
  void add(const LibraryProducts::Wanted &wanted, const cuda::MatmulAlgorithm &algorithm,
           double microseconds);
  /// Writes all entries, including those that were read for other devices.
  dpc_status_t write(const std::string &path) const;

private:
  struct Entry {
    std::string words, microseconds;
    cuda::MatmulAlgorithm algorithm;
  };
  std::string keyOf(const LibraryProducts::Wanted &wanted) const;

  const std::string prefix; ///< first fields of this device's keys
  /// Keyed by device, version and product, in the notation of the file.
  std::map<std::string, Entry> entries;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H
