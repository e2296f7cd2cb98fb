#ifndef DPC_RUNTIME_SRC_DATA_ARRAYFILE_H
#define DPC_RUNTIME_SRC_DATA_ARRAYFILE_H

#include "dpc/data.h"

#include <deque>
#include <map>
#include <string>

namespace dpc {

/// A read-only mapping of an entire file, or anonymous memory.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();
  /// Maps a regular file; an empty file gives an empty mapping. DPC_IO if the
  /// file cannot be read.
  dpc_status_t openFile(const char *path);
  /// Maps a file in an open folder; a symbolic link is refused. `path` is the
  /// file's name in messages.
  dpc_status_t openIn(int folder, const char *name, const char *path);
  /// Maps `bytes` of an open file, shared with all other mappings of it.
  dpc_status_t openShared(int fd, size_t bytes, bool writable);
  /// Allocates zeroed, writable memory.
  dpc_status_t allocate(size_t bytes);
  char *data() const { return start; }
  size_t size() const { return length; }
  /// Frees the memory that the contents of a file have taken since they were
  /// read. A later access reads them from the file again.
  void forget() const;
  /// CRC-32 of all bytes. While it is computed, at most 4 MiB of a file are in
  /// memory.
  uint32_t checksum() const;

private:
  dpc_status_t mapFile(int fd, const char *path);

  char *start = nullptr;
  size_t length = 0;
  bool isFile = false; ///< maps a file: its pages can be dropped and read again
};

/// Size in bytes of an array of this shape; false if a dimension is negative or
/// the product overflows.
bool arrayBytes(uint32_t dtype, const int64_t *shape, uint32_t dimCount, uint64_t *outBytes);

/// The shape as text, for messages: "[3, 4]".
std::string shapeText(const int64_t *shape, uint32_t dimCount);

/// Parses the header of an npy image and sets dtype and shape of `out`.
/// `*outDataAt` is the offset of the elements. DPC_INVALID with a message that
/// does not name the file.
dpc_status_t parseNpyHeader(const char *image, uint64_t bytes, dpc_array_t *out,
                            bool *outFortranOrder, uint64_t *outDataAt);

/// Opens a safetensors file that is already mapped; `path` is its name in
/// messages.
dpc_status_t openSafetensors(Mapping mapping, const char *path, dpc_array_file_t **outFile);

/// The name of a type in safetensors files, such as "F32"; null if safetensors
/// has no such type.
const char *safetensorsTypeName(uint32_t dtype);

/// The type with that name in safetensors files; 0 if there is none.
uint32_t safetensorsType(const std::string &name);

} // namespace dpc

/// The contents of dpc_array_file_t: names, arrays, and the memory that they
/// point to. Deques keep their elements in place when they grow.
struct dpc_array_file {
  std::deque<dpc::Mapping> memory;
  std::deque<std::string> names;
  std::deque<dpc_array_t> arrays;
  std::map<std::string, std::string> metadata;

  dpc_array_t &add(const std::string &name);
};

#endif // DPC_RUNTIME_SRC_DATA_ARRAYFILE_H
