// Reads files in the idx format, which MNIST uses. The file begins with four bytes:
// 0, 0, the type, and the number of dimensions. After these come the extents and the
// elements, all big-endian. The file may be gzip-compressed.
#include "runtime/src/data/MemoryMaker.h"

#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>
#include <zlib.h>

namespace dpc {

namespace {

uint32_t big32(const unsigned char *p) {
  return uint32_t(p[0]) << 24 | uint32_t(p[1]) << 16 | uint32_t(p[2]) << 8 | p[3];
}

/// Reader of a file that may be gzip-compressed. For an uncompressed file, gzread
/// returns the bytes as they are. The caller must reverse the bytes of each element,
/// because the file is big-endian.
struct GzFile {
  gzFile file;
  explicit GzFile(const char *path) : file(::gzopen(path, "rbe")) {}
  ~GzFile() {
    if (file)
      ::gzclose(file);
  }
  bool read(void *to, uint64_t bytes) {
    char *p = static_cast<char *>(to);
    while (bytes) {
      int n = ::gzread(file, p, static_cast<unsigned>(std::min<uint64_t>(bytes, 1u << 30)));
      if (n <= 0)
        return false;
      p += n, bytes -= static_cast<uint64_t>(n);
    }
    return true;
  }
};

uint32_t idxType(unsigned char code) {
  switch (code) {
  case 0x08:
    return DPC_U8;
  case 0x09:
    return DPC_I8;
  case 0x0B:
    return DPC_I16;
  case 0x0C:
    return DPC_I32;
  case 0x0D:
    return DPC_F32;
  case 0x0E:
    return DPC_F64;
  }
  return DPC_DTYPE_INVALID;
}

} // namespace

dpc_status_t openIdx(const char *path, MemoryMaker &maker, dpc_array_file_t **outFile) {
  Mapping raw; // gives the size of the file, and a clear message if the file is missing
  if (dpc_status_t status = raw.openFile(path))
    return status;
  GzFile gz(path);
  unsigned char head[4], extent[4];
  if (!gz.file)
    return fail(DPC_IO, "%s: cannot be opened", path);
  if (!gz.read(head, 4) || head[0] || head[1] || idxType(head[2]) == DPC_DTYPE_INVALID)
    return fail(DPC_INVALID, "%s: not an idx file", path);
  dpc_array_t array = {};
  array.dtype = idxType(head[2]);
  array.dim_count = head[3];
  if (array.dim_count == 0 || array.dim_count > DPC_MAX_RANK_DIMS)
    return fail(DPC_INVALID, "%s: %u dimensions", path, array.dim_count);
  for (uint32_t i = 0; i < array.dim_count; ++i) {
    if (!gz.read(extent, 4))
      return fail(DPC_INVALID, "%s: truncated header", path);
    array.shape[i] = big32(extent);
  }
  uint64_t bytes = 0;
  // Deflate compresses at most by a factor of 1032. If the size in the header is more
  // than 1100 times the size of the file, the header is wrong. Then no memory may be
  // allocated for the array.
  if (!arrayBytes(array.dtype, array.shape, array.dim_count, &bytes) || bytes / 1100 > raw.size())
    return fail(DPC_INVALID, "%s: shape %s in a file of %zu bytes", path,
                shapeText(array.shape, array.dim_count).c_str(), raw.size());
  auto file = std::make_unique<dpc_array_file>();
  Mapping memory;
  auto readAll = [&](char *to) -> dpc_status_t {
    if (!gz.read(to, bytes))
      return fail(DPC_INVALID, "%s: truncated or damaged: shape %s needs %llu bytes", path,
                  shapeText(array.shape, array.dim_count).c_str(),
                  static_cast<unsigned long long>(bytes));
    char extra;
    if (::gzread(gz.file, &extra, 1) != 0)
      return fail(DPC_INVALID, "%s: bytes after the last element, or a damaged end", path);
    const uint64_t size = dpc_dtype_size(array.dtype);
    for (uint64_t i = 0; size > 1 && i < bytes; i += size)
      std::reverse(to + i, to + i + size);
    return DPC_OK;
  };
  if (dpc_status_t status = maker.make(bytes, readAll, &memory))
    return status;
  dpc_array_t &added = file->add("");
  array.name = added.name;
  array.data = memory.data();
  added = array;
  file->memory.push_back(std::move(memory));
  *outFile = file.release();
  return DPC_OK;
}

} // namespace dpc

using namespace dpc;

extern "C" dpc_status_t dpc_idx_open(const char *path, dpc_array_file_t **outFile) {
  MemoryMaker maker;
  return openIdx(path, maker, outFile);
}

extern "C" dpc_status_t dpc_raw_open(const char *path, uint32_t dtype, dpc_array_file_t **outFile) {
  const uint64_t size = dpc_dtype_size(dtype);
  auto file = std::make_unique<dpc_array_file>();
  Mapping mapping;
  if (size == 0)
    return fail(DPC_INVALID, "%s: unknown element type", path);
  if (dpc_status_t status = mapping.openFile(path))
    return status;
  if (mapping.size() % size != 0)
    return fail(DPC_INVALID, "%s: %zu bytes are no whole number of %s", path, mapping.size(),
                dpc_dtype_name(dtype));
  dpc_array_t &array = file->add("");
  array.dtype = dtype;
  array.dim_count = 1;
  array.shape[0] = static_cast<int64_t>(mapping.size() / size);
  array.data = mapping.data();
  file->memory.push_back(std::move(mapping));
  *outFile = file.release();
  return DPC_OK;
}
