#ifndef DPC_RUNTIME_SRC_BASE_ATOMICFILE_H
#define DPC_RUNTIME_SRC_BASE_ATOMICFILE_H

#include "dpc/status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dpc {

/// A file that appears under its name only when it is complete and on the disk.
/// It is written next to its final path, fsynced and renamed, and then the
/// directory is fsynced. Without commit() no file remains. The next writer of
/// the same path removes temporary files of writers that were killed. All
/// failures are DPC_IO and name the path.
class AtomicFile {
public:
  ~AtomicFile();
  dpc_status_t create(const std::string &path);
  /// Appends bytes and updates a CRC-32 of everything written so far.
  dpc_status_t write(const void *data, size_t bytes);
  dpc_status_t commit();
  uint32_t checksum() const { return crc; }
  uint64_t size() const { return written; }

private:
  std::string path, temporary;
  int fd = -1;
  uint32_t crc = 0;
  uint64_t written = 0;
};

/// fsyncs the directory that holds `path`, so that a rename in it is durable.
dpc_status_t syncDirectoryOf(const std::string &path);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_ATOMICFILE_H
