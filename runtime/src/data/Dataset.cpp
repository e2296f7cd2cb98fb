// Opens the files that --data names, binds them to a program's inputs, and
// picks each batch's samples, shuffled by a Feistel permutation.

#include "runtime/src/data/Dataset.h"

#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

namespace dpc {

namespace {

uint64_t mix(uint64_t x) { // splitmix64's finaliser
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// A number or a fraction such as 1/255.
bool parseNumber(const std::string &text, double *out) {
  char *end = nullptr;
  *out = std::strtod(text.c_str(), &end);
  if (end == text.c_str())
    return false;
  if (*end == '/') {
    const char *denominator = end + 1;
    const double below = std::strtod(denominator, &end);
    if (end == denominator || below == 0)
      return false;
    *out /= below;
  }
  return *end == 0;
}

/// Values of an input that are checked before the first step: a second's work
/// at most.
constexpr uint64_t kCheckedBytes = uint64_t(1) << 30;

bool isInteger(uint32_t dtype) { return dtype >= DPC_I64 && dtype <= DPC_BOOL; }

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// Where NAME=FILE.npy has its "="; npos for the name of a file alone.
size_t endOfName(const std::string &spec) {
  const size_t equals = spec.find('='), slash = spec.find('/');
  return equals > 0 && (slash == std::string::npos || equals < slash) ? equals : std::string::npos;
}

} // namespace

std::vector<std::string> filesOfData(const std::string &spec) {
  const size_t equals = endOfName(spec);
  if (startsWith(spec, "idx:")) {
    std::vector<std::string> parts = splitAtCommas(spec.substr(4));
    parts.resize(std::min<size_t>(parts.size(), 2));
    return parts;
  }
  if (startsWith(spec, "tokens:"))
    return {splitAtCommas(spec.substr(7))[0]};
  return {equals == std::string::npos ? spec : spec.substr(equals + 1)};
}

uint64_t permuted(uint64_t index, uint64_t count, uint64_t key) {
  uint32_t half = 1;
  while (half < 32 && (uint64_t(1) << (2 * half)) < count)
    ++half;
  const uint64_t mask = (uint64_t(1) << half) - 1;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (mix(right + mix(key + round * 0x9e3779b97f4a7c15ull)) & mask);
      left = right, right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

/// The names of all arrays that were opened.
std::string Dataset::arrayNames() const {
  std::string names;
  for (const File &file : files)
    for (const dpc_array_t &array : file->arrays)
      if (*array.name)
        names += (names.empty() ? "" : ", ") + std::string(array.name);
  return names.empty() ? "no named arrays" : names;
}

dpc_status_t Dataset::openNpz(const std::string &path) {
  dpc_array_file_t *opened = nullptr;
  if (dpc_status_t status = dpc::openNpz(path.c_str(), *maker, &opened))
    return status;
  files.emplace_back(opened, dpc_array_file_close);
  for (uint32_t i = 0; i < program->input_count; ++i) {
    const dpc_input_t &input = program->inputs[i];
    const dpc_array_t *array = dpc_array_file_find(opened, input.name);
    const char *name = input.name;
    if (!array && input.role == DPC_INPUT_LABEL)
      array = dpc_array_file_find(opened, name = "label");
    if (!array)
      continue;
    if (dpc_status_t status = bindings->bind(i, *array, path + ": array \"" + name + "\""))
      return status;
  }
  return DPC_OK;
}

dpc_status_t Dataset::openNpy(const std::string &name, const std::string &path) {
  const uint32_t input = findInput(*program, name.c_str());
  if (input == DPC_NONE)
    return fail(DPC_INVALID, "data \"%s=%s\": the program has no input \"%s\", but: %s",
                name.c_str(), path.c_str(), name.c_str(), inputNames(*program).c_str());
  dpc_array_file_t *opened = nullptr;
  if (dpc_status_t status = dpc_npy_open(path.c_str(), &opened))
    return status;
  files.emplace_back(opened, dpc_array_file_close);
  return bindings->bind(input, *dpc_array_file_at(opened, 0), path);
}

dpc_status_t Dataset::openIdx(const std::string &spec) {
  const std::vector<std::string> parts = splitAtCommas(spec.substr(4));
  double scale = 1, mean = 0, deviation = 1;
  if (parts.size() < 2)
    return fail(DPC_USAGE, "data \"%s\": needs idx:IMAGES,LABELS", spec.c_str());
  for (size_t k = 2; k < parts.size(); ++k) {
    const size_t equals = parts[k].find('=');
    const std::string key = parts[k].substr(0, equals),
                      value = equals == std::string::npos ? "" : parts[k].substr(equals + 1);
    double *to = key == "scale"  ? &scale
                 : key == "mean" ? &mean
                 : key == "std"  ? &deviation
                                 : nullptr;
    if (!to || !parseNumber(value, to) || deviation == 0)
      return fail(DPC_USAGE, "data \"%s\": \"%s\" is not scale=, mean= or std= with a number",
                  spec.c_str(), parts[k].c_str());
  }
  uint32_t images = DPC_NONE, labels = DPC_NONE;
  for (uint32_t i = program->input_count; i-- > 0;) {
    const dpc_input_t &input = program->inputs[i];
    if (input.role == DPC_INPUT_LABEL || (labels == DPC_NONE && isInteger(input.dtype)))
      labels = i;
    else if (input.batch_dim >= 0)
      images = i;
  }
  const uint32_t targets[] = {images, labels};
  for (size_t k = 0; k < 2; ++k) {
    if (targets[k] == DPC_NONE)
      continue; // an inference or label-free program
    dpc_array_file_t *opened = nullptr;
    if (dpc_status_t status = dpc::openIdx(parts[k].c_str(), *maker, &opened))
      return status;
    files.emplace_back(opened, dpc_array_file_close);
    // An image file has no channel dimension; a graph usually has one of
    // extent 1.
    if (dpc_status_t status =
            bindings->bind(targets[k], *dpc_array_file_at(opened, 0), parts[k], true))
      return status;
    if (k == 0 && (scale != 1 || mean != 0 || deviation != 1)) {
      Binding binding = bindings->binding(images);
      binding.scaled = true;
      binding.scale = scale / deviation;
      binding.shift = -mean / deviation;
      bindings->setBinding(images, std::move(binding));
    }
  }
  return DPC_OK;
}

dpc_status_t Dataset::openTokens(const std::string &spec) {
  static const std::map<std::string, uint32_t> types = {{"uint8", DPC_U8},
                                                        {"uint16", DPC_U16},
                                                        {"uint32", DPC_U32},
                                                        {"int32", DPC_I32},
                                                        {"int64", DPC_I64}};
  const std::vector<std::string> parts = splitAtCommas(spec.substr(7));
  uint32_t dtype = DPC_U16;
  double length = 0;
  for (size_t k = 1; k < parts.size(); ++k) {
    const size_t equals = parts[k].find('=');
    const std::string key = parts[k].substr(0, equals),
                      value = equals == std::string::npos ? "" : parts[k].substr(equals + 1);
    auto type = types.find(value);
    if (key == "dtype" && type != types.end())
      dtype = type->second;
    else if (key != "length" || !parseNumber(value, &length) || length < 1)
      return fail(DPC_USAGE,
                  "data \"%s\": \"%s\" is not "
                  "dtype=uint8|uint16|uint32|int32|int64 or length=N",
                  spec.c_str(), parts[k].c_str());
  }
  dpc_array_file_t *opened = nullptr;
  if (dpc_status_t status = dpc_raw_open(parts[0].c_str(), dtype, &opened))
    return status;
  files.emplace_back(opened, dpc_array_file_close);
  const dpc_array_t &tokens = *dpc_array_file_at(opened, 0);
  const uint64_t bytes = dpc_array_elements(&tokens) * dpc_dtype_size(dtype);
  for (const auto &[magic, kind, instead] : {std::tuple<const char *, const char *, const char *>{
                                                 "\x93NUMPY", "an npy file", "--data=NAME="},
                                             {"PK\x03\x04", "an npz file", "--data="}})
    if (bytes >= std::strlen(magic) && std::memcmp(tokens.data, magic, std::strlen(magic)) == 0)
      return fail(DPC_INVALID,
                  "data \"%s\": %s is %s, whose header would be read as tokens: "
                  "use %s%s, or write the ids without a header",
                  spec.c_str(), parts[0].c_str(), kind, instead, parts[0].c_str());
  bool first = true, shifted = false;
  for (uint32_t i = 0; i < program->input_count; ++i)
    shifted = shifted || program->inputs[i].role == DPC_INPUT_LABEL;
  for (uint32_t i = 0; i < program->input_count; ++i) {
    const dpc_input_t &input = program->inputs[i];
    const bool label = input.role == DPC_INPUT_LABEL;
    const bool target =
        label || std::strcmp(input.name, "labels") == 0 || std::strcmp(input.name, "label") == 0;
    if (input.batch_dim < 0 || !isInteger(input.dtype) || (!first && !target))
      continue;
    first = first && target;
    const uint64_t sample = elementCount(input.shape, input.dim_count) / program->batch;
    if (length != 0 && double(sample) != length)
      return fail(DPC_INVALID, "data \"%s\": length %.0f, but a sample of input %s has %llu tokens",
                  spec.c_str(), length, input.name, static_cast<unsigned long long>(sample));
    const uint64_t count = static_cast<uint64_t>(tokens.shape[0]);
    Binding binding;
    binding.data = static_cast<const char *>(tokens.data);
    binding.dtype = dtype;
    binding.rows = count > (shifted ? 1 : 0) ? (count - (shifted ? 1 : 0)) / sample : 0;
    binding.rowStride = sample;
    binding.rowOffset = label ? 1 : 0; // a loss outside the graph is given the next token
    binding.source = parts[0];
    if (binding.rows == 0)
      return fail(DPC_INVALID, "%s: %llu tokens, fewer than one sample of %llu", parts[0].c_str(),
                  static_cast<unsigned long long>(count), static_cast<unsigned long long>(sample));
    bindings->setBinding(i, std::move(binding));
  }
  return DPC_OK;
}

dpc_status_t Dataset::countRows() {
  const char *first = nullptr;
  for (uint32_t i = 0; i < program->input_count; ++i) {
    const Binding &binding = bindings->binding(i);
    if (program->inputs[i].batch_dim < 0)
      continue;
    if (first && binding.rows != sampleCount)
      return fail(DPC_INVALID, "%s has %llu samples, but %s has %llu", binding.source.c_str(),
                  static_cast<unsigned long long>(binding.rows), first,
                  static_cast<unsigned long long>(sampleCount));
    first = binding.source.c_str();
    sampleCount = binding.rows;
  }
  return DPC_OK;
}

dpc_status_t Dataset::open(const dpc_program_t &forProgram, uint32_t rank,
                           const std::vector<std::string> &specs, MemoryMaker &memory) {
  maker = &memory;
  program = &forProgram;
  bindings = std::make_unique<InputLoader>(forProgram, rank);
  for (const std::string &spec : specs) {
    const size_t equals = endOfName(spec);
    dpc_status_t status = startsWith(spec, "idx:")      ? openIdx(spec)
                          : startsWith(spec, "tokens:") ? openTokens(spec)
                          : equals != std::string::npos
                              ? openNpy(spec.substr(0, equals), spec.substr(equals + 1))
                              : openNpz(spec);
    if (status)
      return status;
  }
  if (dpc_status_t status = bindings->checkAllBound())
    return specs.empty() ? status
                         : fail(status, "%s: %s; it has %s, the program's inputs are %s",
                                specs[0].c_str(), std::string(dpc_last_error()).c_str(),
                                arrayNames().c_str(), inputNames(*program).c_str());
  return countRows();
}

dpc_status_t Dataset::checkValues() const {
  for (uint32_t i = 0; program && i < program->input_count; ++i)
    if (dpc_status_t status = bindings->checkAll(i, kCheckedBytes))
      return status;
  return DPC_OK;
}

void Dataset::activate(InputLoader &loader) const {
  for (uint32_t i = 0; i < program->input_count; ++i)
    loader.setBinding(i, bindings->binding(i));
}

void Dataset::select(InputLoader &loader, uint64_t index, bool shuffle, uint64_t key) const {
  std::vector<uint64_t> &rows = loader.rows();
  for (uint64_t b = 0; b < rows.size(); ++b) {
    const uint64_t at = index * rows.size() + b;
    rows[b] = at >= sampleCount ? 0 : shuffle ? permuted(at, sampleCount, key) : at;
  }
}

} // namespace dpc
