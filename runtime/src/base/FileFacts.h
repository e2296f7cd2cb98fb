#ifndef DPC_RUNTIME_SRC_BASE_FILEFACTS_H
#define DPC_RUNTIME_SRC_BASE_FILEFACTS_H

#include <cstdint>
#include <string>

namespace dpc {

/// What tells two versions of a file apart, without reading a large file from end to end.
struct FileFacts {
  int32_t error = 0;      ///< errno if the file cannot be read, else 0
  uint32_t isRegular = 0; ///< 0: a folder, a pipe or a device, about which nothing else is known
  uint64_t bytes = 0;     ///< the size of the file
  uint64_t checksum = 0;  ///< CRC-32 of the sample
};

/// Reads a sample of at most about `sampleBytes` bytes. The sample of a file that is not larger is
/// the entire file. Otherwise it has the beginning and the end of the file, and blocks at equal
/// distances between them.
FileFacts factsOfFile(const std::string &path, uint64_t sampleBytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_FILEFACTS_H
