#ifndef DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H
#define DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H

#include "runtime/src/device/LibraryProducts.h"

#include <map>
#include <string>

namespace dpc {

/// The fastest measured algorithm of each product, in a file that several runs can
/// share. The file is text and has one line for each product, device and library
/// version. Tabs separate the fields of a line: the device's name, the library's
/// version, a description for readers, the product and its algorithm as hexadecimal
/// bytes, and the measured time in microseconds.
class TunedProducts {
public:
  /// `device` is the name of the device's model, because the fastest algorithm
  /// depends on the model.
  TunedProducts(std::string device, uint64_t libraryVersion);

  /// Reads a file. A missing file counts as an empty one. Returns DPC_INVALID, with
  /// a message that names the line, if the file is malformed.
  dpc_status_t read(const std::string &path);
  /// The algorithm for a product on this device; null if it has not been
  /// measured.
  const cuda::MatmulAlgorithm *find(const LibraryProducts::Wanted &wanted) const;
  void add(const LibraryProducts::Wanted &wanted, const cuda::MatmulAlgorithm &algorithm,
           double microseconds);
  /// Writes all entries. This includes the entries for other devices that `read`
  /// found in the file.
  dpc_status_t write(const std::string &path) const;

private:
  struct Entry {
    std::string words, microseconds;
    cuda::MatmulAlgorithm algorithm;
  };
  std::string keyOf(const LibraryProducts::Wanted &wanted) const;

  const std::string prefix; ///< device and version, the first fields of this device's keys
  /// Keyed by the fields device, version and product, as the file has them.
  std::map<std::string, Entry> entries;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_TUNEDPRODUCTS_H
