// Reads npy files of versions 1.0 to 3.0, and writes version 1.0.
// numpy/lib/format.py describes the format.
#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/data/ArrayFile.h"

#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <vector>

namespace dpc {

namespace {

struct NpyType {
  const char *code; // kind and size of the element, without the byte order
  uint32_t dtype;
};
constexpr NpyType kNpyTypes[] = {{"f8", DPC_F64}, {"f4", DPC_F32}, {"f2", DPC_F16},
                                 {"i8", DPC_I64}, {"i4", DPC_I32}, {"i2", DPC_I16},
                                 {"i1", DPC_I8},  {"u8", DPC_U64}, {"u4", DPC_U32},
                                 {"u2", DPC_U16}, {"u1", DPC_U8},  {"b1", DPC_BOOL}};

/// A parser for the header, which is a Python dictionary. Its values are strings,
/// True, False and tuples of integers.
struct Header {
  std::string text;
  size_t at = 0;

  void space() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool take(char c) {
    space();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool word(const char *w) {
    space();
    if (text.compare(at, std::strlen(w), w) != 0)
      return false;
    at += std::strlen(w);
    return true;
  }
  bool string(std::string *out) {
    space();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string::npos)
      return false;
    *out = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  bool integer(int64_t *out) {
    space();
    size_t begin = at;
    uint64_t value = 0;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
      if (__builtin_mul_overflow(value, uint64_t(10), &value) ||
          __builtin_add_overflow(value, uint64_t(text[at] - '0'), &value))
        return false;
    *out = static_cast<int64_t>(value);
    return at > begin && value <= INT64_MAX;
  }
};

dpc_status_t parseType(const std::string &descr, uint32_t *outDtype) {
  if (descr.size() >= 3 && descr[0] == '>' && descr.compare(1, 2, "u1") &&
      descr.compare(1, 2, "i1"))
    return fail(DPC_INVALID, "element type \"%s\" is big-endian, but little-endian is needed",
                descr.c_str());
  for (const NpyType &type : kNpyTypes)
    if (descr.size() == 3 && std::strchr("<|=>", descr[0]) && descr.compare(1, 2, type.code) == 0) {
      *outDtype = type.dtype;
      return DPC_OK;
    }
  // If an array has the type bfloat16 of ml_dtypes, numpy writes the opaque type V2.
  const bool isOpaque = descr == "|V2" || descr == "<V2";
  return fail(DPC_INVALID, "element type \"%s\" is not supported%s", descr.c_str(),
              isOpaque ? " (bf16 has no name in npy files: save f32)" : "");
}

dpc_status_t parseDictionary(Header &header, dpc_array_t *out, bool *outFortranOrder) {
  auto malformed = [] {
    return fail(DPC_INVALID, "the npy header is not the expected dictionary");
  };
  bool haveType = false, haveOrder = false, haveShape = false;
  if (!header.take('{'))
    return malformed();
  while (!header.take('}')) {
    std::string key, descr;
    if (!header.string(&key) || !header.take(':'))
      return malformed();
    if (key == "descr" && !haveType) {
      if (!header.string(&descr))
        return fail(DPC_INVALID, "structured element types are not supported");
      if (dpc_status_t status = parseType(descr, &out->dtype))
        return status;
      haveType = true;
    } else if (key == "fortran_order" && !haveOrder) {
      *outFortranOrder = header.word("True");
      if (!*outFortranOrder && !header.word("False"))
        return malformed();
      haveOrder = true;
    } else if (key == "shape" && !haveShape) {
      if (!header.take('('))
        return malformed();
      while (!header.take(')')) {
        if (out->dim_count == DPC_MAX_RANK_DIMS)
          return fail(DPC_INVALID, "more than %u dimensions", DPC_MAX_RANK_DIMS);
        if (!header.integer(&out->shape[out->dim_count++]))
          return malformed();
        header.take(',');
      }
      haveShape = true;
    } else
      return malformed();
    header.take(',');
  }
  return haveType && haveOrder && haveShape ? DPC_OK : malformed();
}

/// Copies the column-major elements at `from` to row-major order at `to`.
void toRowMajor(const dpc_array_t &array, const char *from, char *to) {
  const uint64_t size = dpc_dtype_size(array.dtype), count = dpc_array_elements(&array);
  int64_t index[DPC_MAX_RANK_DIMS] = {};
  uint64_t stride[DPC_MAX_RANK_DIMS], step = 1;
  for (uint32_t d = 0; d < array.dim_count; ++d) {
    stride[d] = step;
    step *= static_cast<uint64_t>(array.shape[d]);
  }
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t source = 0;
    for (uint32_t d = 0; d < array.dim_count; ++d)
      source += stride[d] * static_cast<uint64_t>(index[d]);
    std::memcpy(to + i * size, from + source * size, size);
    for (uint32_t d = array.dim_count; d-- > 0 && ++index[d] == array.shape[d];)
      index[d] = 0;
  }
}

} // namespace

dpc_status_t parseNpyHeader(const char *image, uint64_t bytes, dpc_array_t *out,
                            bool *outFortranOrder, uint64_t *outDataAt) {
  const auto *u = reinterpret_cast<const unsigned char *>(image);
  if (bytes < 10 || std::memcmp(image, "\x93NUMPY", 6) != 0)
    return fail(DPC_INVALID, "not an npy array");
  if (u[6] < 1 || u[6] > 3)
    return fail(DPC_INVALID, "npy version %u.%u is not supported", u[6], u[7]);
  const uint64_t prefix = u[6] == 1 ? 10 : 12;
  if (bytes < prefix)
    return fail(DPC_INVALID, "truncated npy header");
  uint64_t length = u[8] | uint64_t(u[9]) << 8;
  if (prefix == 12)
    length |= uint64_t(u[10]) << 16 | uint64_t(u[11]) << 24;
  constexpr uint64_t kLongestHeader = 1 << 16;
  if (length > kLongestHeader || length > bytes - prefix)
    return fail(DPC_INVALID, "npy header of %llu bytes in a file of %llu",
                static_cast<unsigned long long>(length), static_cast<unsigned long long>(bytes));
  Header header{std::string(image + prefix, length)};
  out->dim_count = 0;
  if (dpc_status_t status = parseDictionary(header, out, outFortranOrder))
    return status;
  *outDataAt = prefix + length;
  uint64_t need = 0;
  if (!arrayBytes(out->dtype, out->shape, out->dim_count, &need))
    return fail(DPC_INVALID, "the shape %s is too large",
                shapeText(out->shape, out->dim_count).c_str());
  return DPC_OK;
}

/// Adds an array to `file` from its npy image. The array points into the image. If
/// the elements are column-major or misaligned, it points to a copy instead.
dpc_status_t bindNpy(dpc_array_file_t &file, const std::string &name, const char *image,
                     uint64_t bytes) {
  dpc_array_t array = {};
  bool fortran = false;
  uint64_t dataAt = 0, need = 0;
  if (dpc_status_t status = parseNpyHeader(image, bytes, &array, &fortran, &dataAt))
    return status;
  arrayBytes(array.dtype, array.shape, array.dim_count, &need);
  if (bytes - dataAt != need)
    return fail(DPC_INVALID, "%llu bytes of elements where shape %s of %s needs %llu",
                static_cast<unsigned long long>(bytes - dataAt),
                shapeText(array.shape, array.dim_count).c_str(), dpc_dtype_name(array.dtype),
                static_cast<unsigned long long>(need));
  const char *data = image + dataAt;
  const bool misaligned = reinterpret_cast<uintptr_t>(data) % dpc_dtype_size(array.dtype) != 0;
  if ((fortran && array.dim_count > 1) || misaligned) {
    Mapping copy;
    if (dpc_status_t status = copy.allocate(need))
      return status;
    if (fortran && need)
      toRowMajor(array, data, copy.data());
    else if (need)
      std::memcpy(copy.data(), data, need);
    data = copy.data();
    file.memory.push_back(std::move(copy));
  }
  dpc_array_t &added = file.add(name);
  array.name = added.name;
  array.data = data;
  added = array;
  return DPC_OK;
}

} // namespace dpc

using namespace dpc;

extern "C" dpc_status_t dpc_npy_open(const char *path, dpc_array_file_t **outFile) {
  auto file = std::make_unique<dpc_array_file>();
  Mapping mapping;
  if (dpc_status_t status = mapping.openFile(path))
    return status;
  if (dpc_status_t status = bindNpy(*file, "", mapping.data(), mapping.size()))
    return failWithin(status, "%s", path);
  file->memory.push_back(std::move(mapping));
  *outFile = file.release();
  return DPC_OK;
}

extern "C" dpc_status_t dpc_npy_write(const char *path, const dpc_array_t *array) {
  const uint32_t dtype = array->dtype == DPC_BF16 ? uint32_t(DPC_F32) : array->dtype;
  const char *code = nullptr;
  for (const NpyType &type : kNpyTypes)
    if (type.dtype == dtype)
      code = type.code;
  if (!code)
    return fail(DPC_INVALID, "%s: element type %u has no npy form", path, array->dtype);
  const uint64_t count = dpc_array_elements(array), bytes = count * dpc_dtype_size(dtype);
  std::vector<char> wide;
  const void *data = array->data;
  if (dtype != array->dtype) {
    wide.resize(bytes);
    dpc_convert(dtype, wide.data(), array->dtype, array->data, count);
    data = wide.data();
  }
  std::string header = "{'descr': '" + std::string(dpc_dtype_size(dtype) == 1 ? "|" : "<") + code +
                       "', 'fortran_order': False, 'shape': (";
  for (uint32_t i = 0; i < array->dim_count; ++i)
    header += std::to_string(array->shape[i]) + ",";
  header += "), }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  const char prefix[10] = {'\x93',
                           'N',
                           'U',
                           'M',
                           'P',
                           'Y',
                           1,
                           0,
                           static_cast<char>(header.size() & 255),
                           static_cast<char>(header.size() >> 8)};
  AtomicFile out;
  if (dpc_status_t status = out.create(path))
    return status;
  if (dpc_status_t status = out.write(prefix, sizeof prefix))
    return status;
  if (dpc_status_t status = out.write(header.data(), header.size()))
    return status;
  if (dpc_status_t status = out.write(data, bytes))
    return status;
  return out.commit();
}
