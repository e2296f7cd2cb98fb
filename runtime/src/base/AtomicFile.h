#ifndef DPC_RUNTIME_SRC_BASE_ATOMICFILE_H
#define DPC_RUNTIME_SRC_BASE_ATOMICFILE_H

#include "dpc/status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dpc {

/// A file that appears under its name only when it is complete and on the disk.
/// (A device or a pipe is written in place instead.) AtomicFile writes a
/// temporary file next to the final path. commit() fsyncs and renames the
/// temporary file, and then fsyncs the directory. Without commit(), the
/// destructor removes the temporary file. If a writer is killed, the next writer
/// of the same path removes the temporary file of the killed writer. All
/// failures are DPC_IO. The message names the path, or its directory.
class AtomicFile {
public:
  ~AtomicFile();
  dpc_status_t create(const std::string &path);
  /// Appends bytes, and updates the CRC-32 of all bytes written so far.
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
