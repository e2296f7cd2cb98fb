#ifndef DPC_RUNTIME_SRC_DATA_ARRAYFILE_H
#define DPC_RUNTIME_SRC_DATA_ARRAYFILE_H

#include "dpc/data.h"

#include <deque>
#include <map>
#include <string>

namespace dpc {

/// A read-only mapping of a whole file, or anonymous memory.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();
  /// Maps a regular file; an empty one has no bytes. DPC_IO if it cannot be
  /// read.
  dpc_status_t openFile(const char *path);
  /// The same for a file in an open folder, which may not be a link; `path` is
  /// its name in messages.
  dpc_status_t openIn(int folder, const char *name, const char *path);
  /// Maps `bytes` of an open file, shared with whoever else maps it.
  dpc_status_t openShared(int fd, size_t bytes, bool writable);
  /// Zeroed memory that can be written.
  dpc_status_t allocate(size_t bytes);
  char *data() const { return start; }
  size_t size() const { return length; }
  /// Gives back the memory that a file's contents take since they were read;
  /// they come from the file again.
  void forget() const;
  /// CRC-32 of all bytes. At most some MiB of a file are in memory meanwhile.
  uint32_t checksum() const;

private:
  dpc_status_t mapFile(int fd, const char *path);

  char *start = nullptr;
  size_t length = 0;
  bool isFile = false; ///< what is forgotten can be read again
};

/// Bytes of an array of this shape; false if a dimension is negative or the
/// product does not fit.
bool arrayBytes(uint32_t dtype, const int64_t *shape, uint32_t dimCount, uint64_t *outBytes);

/// "[3, 4]"
std::string shapeText(const int64_t *shape, uint32_t dimCount);

/// Parses the header of an npy image; fills dtype and shape of `out`.
/// `*outDataAt` is where the elements begin. DPC_INVALID with a message that
/// does not name the file.
dpc_status_t parseNpyHeader(const char *image, uint64_t bytes, dpc_array_t *out,
                            bool *outFortranOrder, uint64_t *outDataAt);

/// Opens a safetensors file that is mapped already; `path` is its name in
/// messages.
dpc_status_t openSafetensors(Mapping mapping, const char *path, dpc_array_file_t **outFile);

/// "F32"; null for a type that safetensors lacks.
const char *safetensorsTypeName(uint32_t dtype);

/// The type of that name; 0 if there is none.
uint32_t safetensorsType(const std::string &name);

} // namespace dpc

/// Names, arrays and the memory behind them. Deques: elements never move.
struct dpc_array_file {
  std::deque<dpc::Mapping> memory;
  std::deque<std::string> names;
  std::deque<dpc_array_t> arrays;
  std::map<std::string, std::string> metadata;

  dpc_array_t &add(const std::string &name);
};

#endif // DPC_RUNTIME_SRC_DATA_ARRAYFILE_H
