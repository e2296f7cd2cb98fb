// Reads npz files, which are zip archives of npy files. Finds the members of an
// archive by its central directory (APPNOTE 6.3, with Zip64), as zip requires.
#include "runtime/src/data/MemoryMaker.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <zlib.h>

namespace dpc {

dpc_status_t bindNpy(dpc_array_file_t &file, const std::string &name, const char *image,
                     uint64_t bytes);

namespace {

uint16_t u16(const char *p) {
  uint16_t v;
  std::memcpy(&v, p, 2);
  return v;
}
uint32_t u32(const char *p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
uint64_t u64(const char *p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

constexpr uint64_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30, kEnd64Bytes = 56,
                   kLocator64Bytes = 20;

struct Member {
  std::string name;
  uint16_t flags, method;
  uint32_t crc;
  uint64_t packed, size, localAt;
};

struct Archive {
  const char *data;
  uint64_t bytes;
  uint64_t directoryAt = 0, directoryBytes = 0, count = 0;

  bool inside(uint64_t at, uint64_t length) const { return at <= bytes && length <= bytes - at; }
  dpc_status_t findDirectory();
  dpc_status_t readMember(uint64_t *at, Member *out) const;
  dpc_status_t locateData(const Member &member, const char **out) const;
};

dpc_status_t Archive::findDirectory() {
  if (bytes < kEndBytes)
    return fail(DPC_INVALID, "not an npz file: %s", countOf(bytes, "byte").c_str());
  if (std::memcmp(data, "\x93NUMPY", 6) == 0)
    return fail(DPC_INVALID,
                "an npy file, not an npz file: --data=NAME=FILE.npy says which input its "
                "array is");
  const uint64_t lowest = bytes - kEndBytes > 65535 ? bytes - kEndBytes - 65535 : 0;
  for (uint64_t at = bytes - kEndBytes + 1; at-- > lowest;) {
    if (u32(data + at) != 0x06054b50 || at + kEndBytes + u16(data + at + 20) != bytes)
      continue;
    count = u16(data + at + 10), directoryBytes = u32(data + at + 12),
    directoryAt = u32(data + at + 16);
    if ((count == 0xffff || directoryBytes == 0xffffffff || directoryAt == 0xffffffff) &&
        at >= kLocator64Bytes && u32(data + at - kLocator64Bytes) == 0x07064b50) {
      const uint64_t end64 = u64(data + at - kLocator64Bytes + 8);
      if (!inside(end64, kEnd64Bytes) || u32(data + end64) != 0x06064b50)
        return fail(DPC_INVALID, "the zip64 directory is damaged");
      count = u64(data + end64 + 32), directoryBytes = u64(data + end64 + 40),
      directoryAt = u64(data + end64 + 48);
    }
    if (!inside(directoryAt, directoryBytes) || count > directoryBytes / kEntryBytes)
      return fail(DPC_INVALID, "the zip directory lies outside the file (truncated?)");
    return DPC_OK;
  }
  return fail(DPC_INVALID, "not an npz file, or truncated: it has no zip directory");
}

dpc_status_t Archive::readMember(uint64_t *at, Member *out) const {
  const uint64_t end = directoryAt + directoryBytes;
  auto damaged = [] { return fail(DPC_INVALID, "the zip directory is damaged"); };
  if (end - *at < kEntryBytes || u32(data + *at) != 0x02014b50)
    return damaged();
  const char *p = data + *at;
  const uint64_t nameBytes = u16(p + 28), extraBytes = u16(p + 30), commentBytes = u16(p + 32);
  if (end - *at - kEntryBytes < nameBytes + extraBytes + commentBytes)
    return damaged();
  out->flags = u16(p + 8), out->method = u16(p + 10), out->crc = u32(p + 16);
  out->packed = u32(p + 20), out->size = u32(p + 24), out->localAt = u32(p + 42);
  out->name.assign(p + kEntryBytes, nameBytes);
  const char *extra = p + kEntryBytes + nameBytes, *extraEnd = extra + extraBytes;
  while (extraEnd - extra >= 4) {
    const uint16_t id = u16(extra), length = u16(extra + 2);
    const char *field = extra + 4;
    if (extraEnd - field < length)
      return damaged();
    const char *fieldEnd = field + length;
    if (id == 1) // the zip64 record has, in this order, the fields that need more than 32 bits
      for (uint64_t *value : {&out->size, &out->packed, &out->localAt})
        if (*value == 0xffffffff) {
          if (fieldEnd - field < 8)
            return damaged();
          *value = u64(field);
          field += 8;
        }
    extra = fieldEnd;
  }
  *at += kEntryBytes + nameBytes + extraBytes + commentBytes;
  return DPC_OK;
}

dpc_status_t Archive::locateData(const Member &member, const char **out) const {
  if (!inside(member.localAt, kLocalBytes) || u32(data + member.localAt) != 0x04034b50)
    return fail(DPC_INVALID, "its zip header lies outside the file (truncated?)");
  const uint64_t at = member.localAt + kLocalBytes + u16(data + member.localAt + 26) +
                      u16(data + member.localAt + 28);
  if (!inside(at, member.packed))
    return fail(DPC_INVALID, "its data lies outside the file (truncated?)");
  *out = data + at;
  return DPC_OK;
}

/// Inflates a raw deflate stream into exactly `size` bytes. Fails if the stream has
/// another length. If `prefixOnly`, inflates only the first `size` bytes and does
/// not check the length.
dpc_status_t inflateTo(const char *from, uint64_t packed, char *to, uint64_t size,
                       bool prefixOnly) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return fail(DPC_IO, "out of memory");
  uint64_t in = 0, out = 0;
  int code = Z_OK;
  constexpr uint64_t kPiece = 1u << 30; // zlib's counters have 32 bits
  while (code == Z_OK) {
    if (stream.avail_in == 0 && in < packed) {
      stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(from + in));
      stream.avail_in = static_cast<uInt>(std::min(kPiece, packed - in));
      in += stream.avail_in;
    }
    if (stream.avail_out == 0 && out < size) {
      stream.next_out = reinterpret_cast<Bytef *>(to + out);
      stream.avail_out = static_cast<uInt>(std::min(kPiece, size - out));
      out += stream.avail_out;
    }
    code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_OK && stream.avail_out == 0 && out == size && prefixOnly)
      break;
    if (code == Z_BUF_ERROR && out == size && stream.avail_out == 0)
      break;
  }
  const bool complete = code == Z_STREAM_END && out == size && stream.avail_out == 0;
  inflateEnd(&stream);
  if (complete || (prefixOnly && (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)))
    return DPC_OK;
  return fail(DPC_INVALID, "its compressed data is damaged");
}

dpc_status_t checkChecksum(const char *data, const Member &member) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(data);
  return ::crc32_z(0, bytes, member.size) == member.crc
             ? DPC_OK
             : fail(DPC_INVALID, "its checksum does not match (damaged)");
}

dpc_status_t addMember(dpc_array_file_t &file, const Archive &archive, const Member &member,
                       MemoryMaker &maker) {
  std::string name = member.name;
  if (name.size() > 4 && name.compare(name.size() - 4, 4, ".npy") == 0)
    name.resize(name.size() - 4);
  if (name.find('\0') != std::string::npos)
    return fail(DPC_INVALID, "a NUL in its name");
  if (dpc_array_file_find(&file, name.c_str()))
    return fail(DPC_INVALID, "it occurs twice");
  if (member.flags & 1)
    return fail(DPC_INVALID, "it is encrypted");
  const char *data = nullptr;
  if (dpc_status_t status = archive.locateData(member, &data))
    return status;
  if (member.method == 0) {
    if (member.packed != member.size)
      return fail(DPC_INVALID, "stored with two different sizes");
    if (maker.checks())
      if (dpc_status_t status = checkChecksum(data, member))
        return status;
    return bindNpy(file, name, data, member.size);
  }
  if (member.method != Z_DEFLATED)
    return fail(DPC_INVALID, "zip method %u is not supported (stored and deflate are)",
                member.method);
  // The zip directory may state a wrong, huge size. Therefore the npy header of the
  // member must confirm the size before memory is allocated.
  char head[4096] = {};
  const uint64_t headBytes = std::min<uint64_t>(sizeof head, member.size);
  dpc_array_t array = {};
  bool fortran;
  uint64_t dataAt, need;
  if (dpc_status_t status = inflateTo(data, member.packed, head, headBytes, true))
    return status;
  if (dpc_status_t status = parseNpyHeader(head, headBytes, &array, &fortran, &dataAt))
    return status;
  arrayBytes(array.dtype, array.shape, array.dim_count, &need);
  if (member.size != dataAt + need || member.size / 1100 > member.packed)
    return fail(DPC_INVALID, "shape %s of %s does not match %llu inflated and %llu deflated bytes",
                shapeText(array.shape, array.dim_count).c_str(), dpc_dtype_name(array.dtype),
                static_cast<unsigned long long>(member.size),
                static_cast<unsigned long long>(member.packed));
  Mapping inflated;
  auto inflateAll = [&](char *to) -> dpc_status_t {
    if (dpc_status_t status = inflateTo(data, member.packed, to, member.size, false))
      return status;
    return checkChecksum(to, member);
  };
  if (dpc_status_t status = maker.make(member.size, inflateAll, &inflated))
    return status;
  if (dpc_status_t status = bindNpy(file, name, inflated.data(), member.size))
    return status;
  file.memory.push_back(std::move(inflated));
  return DPC_OK;
}

} // namespace

dpc_status_t openNpz(const char *path, MemoryMaker &maker, dpc_array_file_t **outFile) {
  auto file = std::make_unique<dpc_array_file>();
  Mapping mapping;
  if (dpc_status_t status = mapping.openFile(path))
    return status;
  Archive archive{mapping.data(), mapping.size()};
  if (dpc_status_t status = archive.findDirectory())
    return failWithin(status, "%s", path);
  uint64_t at = archive.directoryAt;
  for (uint64_t i = 0; i < archive.count; ++i) {
    Member member;
    if (dpc_status_t status = archive.readMember(&at, &member))
      return failWithin(status, "%s", path);
    if (dpc_status_t status = addMember(*file, archive, member, maker))
      return failWithin(status, "%s: array \"%s\"", path, member.name.c_str());
  }
  file->memory.push_back(std::move(mapping));
  *outFile = file.release();
  return DPC_OK;
}

} // namespace dpc

extern "C" dpc_status_t dpc_npz_open(const char *path, dpc_array_file_t **outFile) {
  dpc::MemoryMaker maker;
  return dpc::openNpz(path, maker, outFile);
}
