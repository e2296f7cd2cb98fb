// Reads and writes safetensors files. The file begins with the length of the header
// in 64 bits. After it come the header, which is JSON, and the tensors without gaps.
#include "dpc/safetensors.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/OnnxModel.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/data/SafetensorsWriter.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <vector>

namespace dpc {

namespace {

constexpr uint64_t kLongestHeader = 100u << 20;

struct SafetensorsType {
  const char *name;
  uint32_t dtype;
};
constexpr SafetensorsType kTypes[] = {
    {"F64", DPC_F64}, {"F32", DPC_F32}, {"F16", DPC_F16},  {"BF16", DPC_BF16}, {"I64", DPC_I64},
    {"I32", DPC_I32}, {"I16", DPC_I16}, {"I8", DPC_I8},    {"U64", DPC_U64},   {"U32", DPC_U32},
    {"U16", DPC_U16}, {"U8", DPC_U8},   {"BOOL", DPC_BOOL}};

struct Tensor {
  std::string name;
  dpc_array_t array = {};
  uint64_t begin = 0, end = 0;
  bool hasType = false, hasShape = false, hasOffsets = false;
};

/// Handles the events of the JSON parser one by one instead of building a document
/// tree, for two reasons. A tree would hide duplicate keys. And a malicious header
/// could nest so deeply that the parser overflows the stack.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
public:
  std::vector<Tensor> tensors;
  std::map<std::string, std::string> metadata;
  std::string error;

  bool null() override { return reject("null"); }
  bool boolean(bool) override { return reject("a boolean"); }
  bool number_integer(number_integer_t) override { return reject("a negative number"); }
  bool number_float(number_float_t, const string_t &) override { return reject("a fraction"); }
  bool binary(binary_t &) override { return reject("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (depth != 3 || value > INT64_MAX)
      return reject("a number");
    Tensor &tensor = tensors.back();
    if (field == "shape") {
      if (tensor.array.dim_count == DPC_MAX_RANK_DIMS)
        return reject("more than 8 dimensions");
      tensor.array.shape[tensor.array.dim_count++] = static_cast<int64_t>(value);
      return true;
    }
    if (offsets == 2)
      return reject("more than two data_offsets");
    (offsets++ == 0 ? tensor.begin : tensor.end) = value;
    return true;
  }

  bool string(string_t &value) override {
    if (depth == 2 && inMetadata) {
      metadata[field] = value;
      return true;
    }
    if (depth != 2 || field != "dtype")
      return reject("a string");
    tensors.back().array.dtype = safetensorsType(value);
    tensors.back().hasType = tensors.back().array.dtype != DPC_DTYPE_INVALID;
    return tensors.back().hasType || reject("the type " + value);
  }

  bool key(string_t &name) override {
    if (!keys[depth].insert(name).second)
      return reject("the key \"" + name + "\" twice");
    if (depth == 1) {
      if (name.find('\0') != std::string::npos)
        return reject("a NUL in a name");
      inMetadata = name == "__metadata__";
      if (!inMetadata) {
        tensors.emplace_back();
        tensors.back().name = name;
      }
      return true;
    }
    field = name;
    return inMetadata || name == "dtype" || name == "shape" || name == "data_offsets" ||
           reject("the unknown key \"" + name + "\"");
  }

  bool start_object(std::size_t) override {
    if (depth > 1)
      return reject("an object");
    keys[++depth].clear();
    return true;
  }
  bool end_object() override {
    --depth;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth != 2 || inMetadata || (field != "shape" && field != "data_offsets"))
      return reject("an array");
    (field == "shape" ? tensors.back().hasShape : tensors.back().hasOffsets) = true;
    offsets = 0;
    depth = 3;
    return true;
  }
  bool end_array() override {
    depth = 2;
    return field != "data_offsets" || offsets == 2 || reject("fewer than two data_offsets");
  }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    error = "the header is not JSON at byte " + std::to_string(position);
    return false;
  }

private:
  bool reject(const std::string &what) {
    error = "the header has " + what + " where it may not" +
            (tensors.empty() ? "" : " (tensor \"" + tensors.back().name + "\")");
    return false;
  }
  int depth = 0;
  bool inMetadata = false;
  int offsets = 0;
  std::string field;
  std::set<std::string> keys[3];
};

dpc_status_t checkTensor(const Tensor &tensor, uint64_t expectedBegin, uint64_t dataBytes) {
  const char *name = tensor.name.c_str();
  uint64_t bytes = 0;
  if (!tensor.hasType || !tensor.hasShape || !tensor.hasOffsets)
    return fail(DPC_INVALID, "tensor \"%s\" lacks dtype, shape or data_offsets", name);
  if (!arrayBytes(tensor.array.dtype, tensor.array.shape, tensor.array.dim_count, &bytes))
    return fail(DPC_INVALID, "tensor \"%s\": its shape is too large", name);
  if (tensor.begin > tensor.end || tensor.end > dataBytes)
    return fail(DPC_INVALID, "tensor \"%s\": its data lies outside the file (truncated?)", name);
  if (tensor.end - tensor.begin != bytes)
    return fail(DPC_INVALID, "tensor \"%s\" has %llu bytes where %s of %s needs %llu", name,
                static_cast<unsigned long long>(tensor.end - tensor.begin),
                shapeText(tensor.array.shape, tensor.array.dim_count).c_str(),
                dpc_dtype_name(tensor.array.dtype), static_cast<unsigned long long>(bytes));
  if (tensor.begin != expectedBegin)
    return fail(DPC_INVALID, "tensor \"%s\" %s", name,
                tensor.begin < expectedBegin ? "overlaps another" : "follows a hole");
  return DPC_OK;
}

dpc_status_t parse(dpc_array_file_t &file, const Mapping &mapping) {
  uint64_t headerBytes = 0;
  if (mapping.size() < 8)
    return fail(DPC_INVALID, "not a safetensors file: %s", countOf(mapping.size(), "byte").c_str());
  if (std::memcmp(mapping.data(), "PK\3\4", 4) == 0)
    return fail(DPC_INVALID, "not a safetensors file but a zip archive, such as torch.save "
                             "and np.savez write: safetensors.torch.save_file writes a "
                             "state_dict as safetensors");
  std::memcpy(&headerBytes, mapping.data(), 8);
  const char *header = mapping.data() + 8;
  if (headerBytes > kLongestHeader || headerBytes > mapping.size() - 8) {
    // If the file is truncated, its header still begins with '{'.
    if (mapping.size() > 8 && *header == '{')
      return fail(DPC_INVALID, "truncated: a header of %llu bytes in a file of %zu",
                  static_cast<unsigned long long>(headerBytes), mapping.size());
    return fail(DPC_INVALID, "not a safetensors file%s",
                seemsOnnx(mapping.data(), mapping.size())
                    ? " but an ONNX model, whose parameters a program has from dpc-compile"
                    : ": it does not begin with the length of a header");
  }
  HeaderHandler handler;
  if (headerBytes == 0 || header[0] != '{' ||
      !nlohmann::json::sax_parse(header, header + headerBytes, &handler))
    return fail(DPC_INVALID, "%s",
                handler.error.empty() ? "the header is not a JSON object" : handler.error.c_str());
  std::stable_sort(handler.tensors.begin(), handler.tensors.end(),
                   [](const Tensor &a, const Tensor &b) {
                     return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
                   });
  const uint64_t dataBytes = mapping.size() - 8 - headerBytes;
  uint64_t at = 0;
  for (const Tensor &tensor : handler.tensors) {
    if (dpc_status_t status = checkTensor(tensor, at, dataBytes))
      return status;
    at = tensor.end;
    const char *data = header + headerBytes + tensor.begin;
    if (reinterpret_cast<uintptr_t>(data) % dpc_dtype_size(tensor.array.dtype) != 0) {
      Mapping copy;
      if (dpc_status_t status = copy.allocate(tensor.end - tensor.begin))
        return status;
      if (tensor.end > tensor.begin)
        std::memcpy(copy.data(), data, tensor.end - tensor.begin);
      data = copy.data();
      file.memory.push_back(std::move(copy));
    }
    dpc_array_t &added = file.add(tensor.name);
    const char *name = added.name;
    added = tensor.array;
    added.name = name;
    added.data = data;
  }
  if (at != dataBytes)
    return fail(DPC_INVALID, "%s after the last tensor", countOf(dataBytes - at, "byte").c_str());
  file.metadata = std::move(handler.metadata);
  return DPC_OK;
}

} // namespace
} // namespace dpc

using namespace dpc;

dpc_status_t dpc::openSafetensors(Mapping mapping, const char *path, dpc_array_file_t **outFile) {
  auto file = std::make_unique<dpc_array_file>();
  if (dpc_status_t status = parse(*file, mapping))
    return failWithin(status, "%s", path);
  file->memory.push_back(std::move(mapping));
  *outFile = file.release();
  return DPC_OK;
}

extern "C" dpc_status_t dpc_safetensors_open(const char *path, dpc_array_file_t **outFile) {
  Mapping mapping;
  if (dpc_status_t status = mapping.openFile(path))
    return status;
  return openSafetensors(std::move(mapping), path, outFile);
}

extern "C" const char *dpc_safetensors_metadata(const dpc_array_file_t *file, const char *key) {
  auto found = file->metadata.find(key);
  return found == file->metadata.end() ? nullptr : found->second.c_str();
}

const char *dpc::safetensorsTypeName(uint32_t dtype) {
  for (const SafetensorsType &type : kTypes)
    if (type.dtype == dtype)
      return type.name;
  return nullptr;
}

uint32_t dpc::safetensorsType(const std::string &name) {
  for (const SafetensorsType &type : kTypes)
    if (name == type.name)
      return type.dtype;
  return DPC_DTYPE_INVALID;
}

// If tensors with the widest elements come first, every tensor is aligned. The
// reference implementation of safetensors writes the same order.
std::vector<size_t> SafetensorsWriter::orderOf(const std::vector<dpc_array_t> &arrays) {
  std::vector<size_t> order(arrays.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return dpc_dtype_size(arrays[a].dtype) > dpc_dtype_size(arrays[b].dtype);
  });
  return order;
}

dpc_status_t SafetensorsWriter::create(const char *target, const std::vector<dpc_array_t> &arrays,
                                       const dpc_metadata_t *metadata, size_t metadataCount) {
  path = target;
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (size_t i = 0; i < metadataCount; ++i)
    header["__metadata__"][metadata[i].key] = metadata[i].value;
  std::set<std::string> names{"__metadata__"};
  uint64_t at = 0;
  for (size_t i : orderOf(arrays)) {
    const dpc_array_t &array = arrays[i];
    if (!names.insert(array.name).second)
      return fail(DPC_INVALID, "%s: two tensors are named \"%s\"", target, array.name);
    uint64_t bytes = 0;
    if (!safetensorsTypeName(array.dtype) ||
        !arrayBytes(array.dtype, array.shape, array.dim_count, &bytes))
      return fail(DPC_INVALID, "%s: tensor \"%s\" has no valid type and shape", target, array.name);
    nlohmann::ordered_json entry;
    entry["dtype"] = safetensorsTypeName(array.dtype);
    entry["shape"] = std::vector<int64_t>(array.shape, array.shape + array.dim_count);
    entry["data_offsets"] = {at, at + bytes};
    header.emplace(array.name, std::move(entry));
    at += bytes;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  expected = sizeof length + length + at;
  if (dpc_status_t status = file.create(path))
    return status;
  if (dpc_status_t status = file.write(&length, sizeof length))
    return status;
  return file.write(text.data(), text.size());
}

dpc_status_t SafetensorsWriter::commit() {
  if (file.size() == expected)
    return file.commit();
  return fail(DPC_INVALID, "%s: %llu bytes were written, the header says %llu", path.c_str(),
              static_cast<unsigned long long>(file.size()),
              static_cast<unsigned long long>(expected));
}

extern "C" dpc_status_t dpc_safetensors_write(const char *path, const dpc_array_t *arrays,
                                              size_t arrayCount, const dpc_metadata_t *metadata,
                                              size_t metadataCount) {
  const std::vector<dpc_array_t> all(arrays, arrays + arrayCount);
  SafetensorsWriter out;
  if (dpc_status_t status = out.create(path, all, metadata, metadataCount))
    return status;
  for (size_t i : SafetensorsWriter::orderOf(all))
    if (dpc_status_t status =
            out.write(all[i].data, dpc_array_elements(&all[i]) * dpc_dtype_size(all[i].dtype)))
      return status;
  return out.commit();
}
