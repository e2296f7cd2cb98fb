// Small files that data tests need: written from bytes, so that damaged ones
// can be made too.
#ifndef DPC_TEST_RUNTIME_TESTFILES_H
#define DPC_TEST_RUNTIME_TESTFILES_H

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
#include <zlib.h>

namespace dpc::test {

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string readFile(const std::string &path) {
  std::stringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

template <typename T> std::string little(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

/// An npy image, header dictionary given as text.
inline std::string npyImage(const std::string &dictionary, const std::string &elements) {
  std::string header = dictionary;
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + little<uint16_t>(uint16_t(header.size())) + header +
         elements;
}

template <typename T>
std::string npyOf(const char *descr, const std::string &shape, const std::vector<T> &values) {
  return npyImage(
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + shape + "), }",
      std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)));
}

inline std::string deflated(const std::string &bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), 0);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = uInt(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct ZipMember {
  std::string name;
  std::string bytes;
  bool compress = false;
};

/// A zip archive as numpy.savez and savez_compressed write it.
inline std::string zipOf(const std::vector<ZipMember> &members) {
  std::string out, directory;
  for (const ZipMember &m : members) {
    const std::string packed = m.compress ? deflated(m.bytes) : m.bytes;
    const uint32_t crc =
        uint32_t(crc32(0, reinterpret_cast<const Bytef *>(m.bytes.data()), uInt(m.bytes.size())));
    const std::string common =
        little<uint16_t>(20) + little<uint16_t>(0) + little<uint16_t>(m.compress ? 8 : 0) +
        little<uint32_t>(0) + little(crc) + little(uint32_t(packed.size())) +
        little(uint32_t(m.bytes.size())) + little(uint16_t(m.name.size())) + little<uint16_t>(0);
    directory += little(0x02014b50u) + little<uint16_t>(20) + common + little<uint16_t>(0) +
                 little<uint32_t>(0) + little<uint32_t>(0) + little(uint32_t(out.size())) + m.name;
    out += little(0x04034b50u) + common + m.name + packed;
  }
  const uint32_t at = uint32_t(out.size());
  out += directory + little(0x06054b50u) + little<uint32_t>(0) + little(uint16_t(members.size())) +
         little(uint16_t(members.size())) + little(uint32_t(directory.size())) + little(at) +
         little<uint16_t>(0);
  return out;
}

inline void writeGzip(const std::string &path, const std::string &bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), unsigned(bytes.size()));
  gzclose(file);
}

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_TESTFILES_H
