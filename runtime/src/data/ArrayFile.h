#ifndef DPC_RUNTIME_SRC_DATA_ARRAYFILE_H
#define DPC_RUNTIME_SRC_DATA_ARRAYFILE_H

#include "dpc/data.h"

#include <deque>
#include <map>
#include <string>

namespace dpc {

/// A mapping of memory: an entire file (read-only), shared memory, or anonymous memory.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();
  /// Maps a regular file. The mapping of an empty file is empty. Returns DPC_IO if the
  /// file cannot be read, and DPC_INVALID if it is not a regular file.
  dpc_status_t openFile(const char *path);
  /// Maps a file in an open folder. Refuses a symbolic link. `path` is the file's
  /// name in messages.
  dpc_status_t openIn(int folder, const char *name, const char *path);
  /// Maps the first `bytes` bytes of an open file. The memory is shared with all
  /// other mappings of the file.
  dpc_status_t openShared(int fd, size_t bytes, bool writable);
  /// Allocates zeroed, writable memory.
  dpc_status_t allocate(size_t bytes);
  char *data() const { return start; }
  size_t size() const { return length; }
  /// Frees the memory that the contents of a mapped file occupy. A later access
  /// reads the contents from the file again.
  void forget() const;
  /// CRC-32 of all bytes. Frees the memory of a mapped file after every 4 MiB, so
  /// that a large file does not fill the memory.
  uint32_t checksum() const;

private:
  dpc_status_t mapFile(int fd, const char *path);

  char *start = nullptr;
  size_t length = 0;
  bool isFile = false; ///< this maps a file, so its pages can be freed and read again
};

/// Computes the size in bytes of an array. Returns false if a dimension is negative
/// or the size overflows.
bool arrayBytes(uint32_t dtype, const int64_t *shape, uint32_t dimCount, uint64_t *outBytes);

/// Formats a shape for messages: "[3, 4]".
std::string shapeText(const int64_t *shape, uint32_t dimCount);

/// Parses the header of an npy image (the bytes of an npy file), and sets dtype and
/// shape of `out`. `*outDataAt` is the offset of the elements. Returns DPC_INVALID
/// if the header is malformed. The message does not name the file, so the caller
/// must add the name.
dpc_status_t parseNpyHeader(const char *image, uint64_t bytes, dpc_array_t *out,
                            bool *outFortranOrder, uint64_t *outDataAt);

/// Opens a safetensors file that the caller has mapped. `path` is the file's name in
/// messages.
dpc_status_t openSafetensors(Mapping mapping, const char *path, dpc_array_file_t **outFile);

/// The name of a type in safetensors files, for example "F32" for DPC_F32. Null if
/// safetensors does not have the type.
const char *safetensorsTypeName(uint32_t dtype);

/// The type whose name in safetensors files is `name`; DPC_DTYPE_INVALID if the
/// name is unknown.
uint32_t safetensorsType(const std::string &name);

} // namespace dpc

/// The definition of dpc_array_file_t: arrays, and the names and memory to which
/// they point. The members are deques because a deque does not move its elements
/// when it grows, so that the pointers stay valid.
struct dpc_array_file {
  std::deque<dpc::Mapping> memory;
  std::deque<std::string> names;
  std::deque<dpc_array_t> arrays;
  std::map<std::string, std::string> metadata;

  dpc_array_t &add(const std::string &name);
};

#endif // DPC_RUNTIME_SRC_DATA_ARRAYFILE_H
