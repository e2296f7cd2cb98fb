// Maps files into memory, and finds arrays in them by name or index. Each
// format (npz, npy, idx, safetensors) has a reader in its own source file.

#include "runtime/src/data/ArrayFile.h"

#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace dpc {

Mapping::Mapping(Mapping &&other) noexcept
    : start(std::exchange(other.start, nullptr)), length(std::exchange(other.length, 0)),
      isFile(other.isFile) {}

Mapping &Mapping::operator=(Mapping &&other) noexcept {
  std::swap(start, other.start);
  std::swap(length, other.length);
  std::swap(isFile, other.isFile);
  return *this;
}

Mapping::~Mapping() {
  if (start)
    ::munmap(start, length);
}

// With O_NONBLOCK, opening a pipe that has no writer returns at once, and mapFile
// refuses the pipe. The flag has no effect on regular files.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

dpc_status_t Mapping::openFile(const char *path) {
  const int fd = ::open(path, kReadFlags);
  return fd < 0 ? fail(DPC_IO, "%s: %s", path, std::strerror(errno)) : mapFile(fd, path);
}

dpc_status_t Mapping::openIn(int folder, const char *name, const char *path) {
  const int fd = ::openat(folder, name, kReadFlags | O_NOFOLLOW);
  if (fd < 0 && errno == ELOOP)
    return fail(DPC_INVALID, "%s is a symbolic link", path);
  return fd < 0 ? fail(DPC_IO, "%s: %s", path, std::strerror(errno)) : mapFile(fd, path);
}

/// Maps an open file. Closes `fd` even if this fails.
dpc_status_t Mapping::mapFile(int fd, const char *path) {
  struct stat info;
  dpc_status_t status = DPC_OK;
  if (::fstat(fd, &info) != 0)
    status = fail(DPC_IO, "%s: %s", path, std::strerror(errno));
  else if (!S_ISREG(info.st_mode))
    status = fail(DPC_INVALID, "%s: not a regular file", path);
  else if (info.st_size > 0) {
    void *mapped =
        ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED)
      status = fail(DPC_IO, "%s: cannot be mapped: %s", path, std::strerror(errno));
    else
      start = static_cast<char *>(mapped), length = static_cast<size_t>(info.st_size),
      isFile = true;
  }
  ::close(fd);
  return status;
}

dpc_status_t Mapping::openShared(int fd, size_t bytes, bool writable) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || static_cast<size_t>(info.st_size) < bytes)
    return fail(DPC_INVALID, "shared memory of %zu bytes is smaller than that", bytes);
  if (bytes == 0)
    return DPC_OK;
  void *mapped = ::mmap(nullptr, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED)
    return fail(DPC_IO, "cannot map %zu bytes of shared memory: %s", bytes, std::strerror(errno));
  start = static_cast<char *>(mapped), length = bytes;
  return DPC_OK;
}

dpc_status_t Mapping::allocate(size_t bytes) {
  if (bytes == 0)
    return DPC_OK;
  void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(DPC_IO, "out of memory for %zu bytes", bytes);
  start = static_cast<char *>(mapped), length = bytes;
  return DPC_OK;
}

void Mapping::forget() const {
  if (isFile)
    ::madvise(start, length, MADV_DONTNEED);
}

uint32_t Mapping::checksum() const {
  constexpr size_t most = 4u << 20; // bytes in memory at a time
  uint32_t crc = 0;
  for (size_t at = 0; at < length; at += most) {
    crc = static_cast<uint32_t>(::crc32_z(crc, reinterpret_cast<const unsigned char *>(start) + at,
                                          std::min(most, length - at)));
    forget();
  }
  return crc;
}

bool arrayBytes(uint32_t dtype, const int64_t *shape, uint32_t dimCount, uint64_t *outBytes) {
  uint64_t bytes = dpc_dtype_size(dtype);
  bool empty = false, overflow = false;
  for (uint32_t i = 0; i < dimCount; ++i) {
    if (shape[i] < 0)
      return false;
    empty |= shape[i] == 0;
    overflow |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(shape[i]), &bytes);
  }
  *outBytes = empty ? 0 : bytes;
  return empty || (!overflow && bytes <= INT64_MAX);
}

std::string shapeText(const int64_t *shape, uint32_t dimCount) {
  std::string out = "[";
  for (uint32_t i = 0; i < dimCount; ++i)
    out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

} // namespace dpc

dpc_array_t &dpc_array_file::add(const std::string &name) {
  names.push_back(name);
  arrays.emplace_back();
  arrays.back().name = names.back().c_str();
  return arrays.back();
}

extern "C" uint64_t dpc_array_elements(const dpc_array_t *array) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < array->dim_count; ++i)
    count *= static_cast<uint64_t>(array->shape[i]);
  return count;
}

extern "C" size_t dpc_array_file_count(const dpc_array_file_t *file) { return file->arrays.size(); }

extern "C" const dpc_array_t *dpc_array_file_at(const dpc_array_file_t *file, size_t index) {
  return index < file->arrays.size() ? &file->arrays[index] : nullptr;
}

extern "C" const dpc_array_t *dpc_array_file_find(const dpc_array_file_t *file, const char *name) {
  for (const dpc_array_t &array : file->arrays)
    if (std::strcmp(array.name, name) == 0)
      return &array;
  return nullptr;
}

extern "C" void dpc_array_file_close(dpc_array_file_t *file) { delete file; }
