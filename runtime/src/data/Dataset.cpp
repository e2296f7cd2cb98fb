// Opens the files that --data names, and binds them to a program's inputs. Selects
// the samples of each batch, in file order or shuffled by a Feistel permutation.

#include "runtime/src/data/Dataset.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

namespace dpc {

namespace {

uint64_t mix(uint64_t x) { // the finalizer of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Parses a number, or a fraction like 1/255.
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

/// An input with at most this many bytes is checked before the first step. The check
/// takes at most a second.
constexpr uint64_t kCheckedBytes = uint64_t(1) << 30;

bool isInteger(uint32_t dtype) { return dtype >= DPC_I64 && dtype <= DPC_BOOL; }

} // namespace

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

/// Fails because an input has no data. The message lists the program's inputs and
/// the arrays of the latest file. If that file has only an unnamed array, the
/// message lists the inputs for which data was given, and no arrays.
dpc_status_t Dataset::lacks(const std::string &source, uint32_t input) const {
  const char *name = program->inputs[input].name;
  std::vector<std::string> names, unused;
  for (const dpc_array_t &array : files.back()->arrays) {
    if (!*array.name)
      continue;
    names.emplace_back(array.name);
    if (findInput(*program, array.name) == DPC_NONE)
      unused.emplace_back(array.name);
  }
  if (names.empty() && !files.back()->arrays.empty()) {
    for (uint32_t i = 0; i < program->input_count; ++i)
      if (!bindings->allBindings(i).empty())
        names.emplace_back(program->inputs[i].name);
    return fail(DPC_INVALID,
                "no data for input \"%s\": there is data for %s, the program's inputs are %s", name,
                listNames(names).c_str(), inputNames(*program).c_str());
  }
  const std::string meant = nearestName(name, unused);
  return fail(DPC_INVALID, "%s: no data for input \"%s\"%s; it has %s, the program's inputs are %s",
              source.c_str(), name, meant.empty() ? "" : (" (is \"" + meant + "\" meant?)").c_str(),
              names.empty() ? "no named arrays" : listNames(names).c_str(),
              inputNames(*program).c_str());
}

/// Records the arrays of the latest file that no input uses.
void Dataset::findUnused() {
  for (const dpc_array_t &array : files.back()->arrays)
    if (*array.name && findInput(*program, array.name) == DPC_NONE &&
        std::find(unused.begin(), unused.end(), array.name) == unused.end())
      unused.emplace_back(array.name);
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
    if (array) {
      if (dpc_status_t status = bindings->append(i, *array, path + ": array \"" + name + "\""))
        return status;
    } else if (input.batch_dim >= 0 || bindings->allBindings(i).empty()) {
      return lacks(path, i);
    }
  }
  findUnused();
  return checkLastFile();
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
  return bindings->append(input, *dpc_array_file_at(opened, 0), path);
}

/// The inputs that read the images and the labels of idx files; DPC_NONE if the program has no such
/// input.
static std::array<uint32_t, 2> inputsOfIdx(const dpc_program_t &program) {
  uint32_t images = DPC_NONE, labels = DPC_NONE;
  for (uint32_t i = program.input_count; i-- > 0;) {
    const dpc_input_t &input = program.inputs[i];
    if (input.role == DPC_INPUT_LABEL || (labels == DPC_NONE && isInteger(input.dtype)))
      labels = i;
    else if (input.batch_dim >= 0)
      images = i;
  }
  return {images, labels};
}

std::vector<std::string> Dataset::filesOf(const dpc_program_t &program,
                                          const std::vector<std::string> &texts) {
  std::vector<std::string> out;
  for (const std::string &text : texts) {
    DataSpec spec;
    if (parseDataSpec(text, &spec) != DPC_OK)
      continue;
    for (const std::vector<std::string> &together : spec.files)
      for (size_t k = 0; k < together.size(); ++k)
        if (spec.form != DataForm::idx || inputsOfIdx(program)[k] != DPC_NONE)
          out.push_back(together[k]);
  }
  return out;
}

dpc_status_t Dataset::openIdx(const DataSpec &spec, const std::string &imageFile,
                              const std::string &labelFile) {
  double scale = 1, mean = 0, deviation = 1;
  for (const std::string &setting : spec.settings) {
    const size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals),
                      value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    double *to = key == "scale"  ? &scale
                 : key == "mean" ? &mean
                 : key == "std"  ? &deviation
                                 : nullptr;
    if (!to || !parseNumber(value, to) || deviation == 0)
      return fail(DPC_USAGE, "data \"%s\": \"%s\" is not scale=, mean= or std= with a number",
                  spec.text.c_str(), setting.c_str());
  }
  const std::array<uint32_t, 2> targets = inputsOfIdx(*program);
  const std::string *const paths[] = {&imageFile, &labelFile};
  for (size_t k = 0; k < 2; ++k) {
    if (targets[k] == DPC_NONE)
      continue; // a program for inference, or one without labels
    dpc_array_file_t *opened = nullptr;
    if (dpc_status_t status = dpc::openIdx(paths[k]->c_str(), *maker, &opened))
      return status;
    files.emplace_back(opened, dpc_array_file_close);
    // A file of images has no dimension for channels, but the input of the graph
    // usually has one of extent 1. Therefore another shape is accepted here
    // (`flexible`).
    if (dpc_status_t status =
            bindings->append(targets[k], *dpc_array_file_at(opened, 0), *paths[k], true))
      return status;
    if (k == 0 && (scale != 1 || mean != 0 || deviation != 1)) {
      Binding &binding = bindings->allBindings(targets[0]).back();
      binding.scaled = true;
      binding.scale = scale / deviation;
      binding.shift = -mean / deviation;
    }
  }
  return checkLastFile();
}

dpc_status_t Dataset::openTokens(const DataSpec &spec, const std::string &path) {
  static const std::map<std::string, uint32_t> types = {{"uint8", DPC_U8},
                                                        {"uint16", DPC_U16},
                                                        {"uint32", DPC_U32},
                                                        {"int32", DPC_I32},
                                                        {"int64", DPC_I64}};
  uint32_t dtype = DPC_U16;
  double length = 0;
  for (const std::string &setting : spec.settings) {
    const size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals),
                      value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    auto type = types.find(value);
    if (key == "dtype" && type != types.end())
      dtype = type->second;
    else if (key != "length" || !parseNumber(value, &length) || length < 1)
      return fail(DPC_USAGE,
                  "data \"%s\": \"%s\" is not "
                  "dtype=uint8|uint16|uint32|int32|int64 or length=N",
                  spec.text.c_str(), setting.c_str());
  }
  dpc_array_file_t *opened = nullptr;
  if (dpc_status_t status = dpc_raw_open(path.c_str(), dtype, &opened))
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
                  spec.text.c_str(), path.c_str(), kind, instead, path.c_str());
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
      return fail(DPC_INVALID, "data \"%s\": length %.0f, but a sample of input %s has %s",
                  spec.text.c_str(), length, input.name, countOf(sample, "token").c_str());
    const uint64_t count = static_cast<uint64_t>(tokens.shape[0]);
    Binding binding;
    binding.data = static_cast<const char *>(tokens.data);
    binding.dtype = dtype;
    binding.rows = count > (shifted ? 1 : 0) ? (count - (shifted ? 1 : 0)) / sample : 0;
    binding.rowStride = sample;
    binding.rowOffset = label ? 1 : 0; // the label of a token is the next token
    binding.source = path;
    if (binding.rows == 0)
      return fail(DPC_INVALID, "%s: %s, fewer than one sample of %llu", path.c_str(),
                  countOf(count, "token").c_str(), static_cast<unsigned long long>(sample));
    bindings->append(i, std::move(binding));
  }
  return DPC_OK;
}

/// Checks that all inputs have the same number of samples in the latest file.
dpc_status_t Dataset::checkLastFile() const {
  const Binding *first = nullptr;
  for (uint32_t i = 0; i < program->input_count; ++i) {
    if (program->inputs[i].batch_dim < 0 || bindings->allBindings(i).empty())
      continue;
    const Binding &last = bindings->allBindings(i).back();
    if (first && last.rows != first->rows)
      return fail(DPC_INVALID, "%s has %s, but %s has %llu", last.source.c_str(),
                  countOf(last.rows, "sample").c_str(), first->source.c_str(),
                  static_cast<unsigned long long>(first->rows));
    first = &last;
  }
  return DPC_OK;
}

dpc_status_t Dataset::countRows() {
  bool isFirst = true;
  std::string first;
  for (uint32_t i = 0; i < program->input_count; ++i) {
    if (program->inputs[i].batch_dim < 0)
      continue;
    const uint64_t rows = bindings->sampleCount(i);
    if (!isFirst && rows != sampleCount)
      return fail(DPC_INVALID, "%s has %s, but %s has %llu", bindings->sourceOf(i).c_str(),
                  countOf(rows, "sample").c_str(), first.c_str(),
                  static_cast<unsigned long long>(sampleCount));
    first = bindings->sourceOf(i);
    sampleCount = rows;
    isFirst = false;
  }
  return DPC_OK;
}

std::string Dataset::source() const {
  const size_t count = files.size();
  return count > 1 ? firstFile + " and " + countOf(count - 1, "more file") : firstFile;
}

dpc_status_t Dataset::openFiles(const DataSpec &spec) {
  for (const std::vector<std::string> &together : spec.files) {
    const std::string &file = together[0];
    if (firstFile.empty())
      firstFile = file;
    const dpc_status_t status = spec.form == DataForm::idx      ? openIdx(spec, file, together[1])
                                : spec.form == DataForm::tokens ? openTokens(spec, file)
                                : spec.form == DataForm::npy    ? openNpy(spec.name, file)
                                                                : openNpz(file);
    if (status)
      return status;
  }
  return DPC_OK;
}

dpc_status_t Dataset::open(const dpc_program_t &forProgram, uint32_t rank,
                           const std::vector<std::string> &texts, MemoryMaker &memory) {
  maker = &memory;
  program = &forProgram;
  bindings = std::make_unique<InputLoader>(forProgram, rank);
  std::vector<DataSpec> specs(texts.size());
  for (size_t k = 0; k < texts.size(); ++k) {
    if (dpc_status_t status = parseDataSpec(texts[k], &specs[k]))
      return status;
    if (specs[k].form != specs[0].form)
      return fail(DPC_USAGE, "data \"%s\" and \"%s\" have two forms: give all in one",
                  texts[0].c_str(), texts[k].c_str());
  }
  for (const DataSpec &spec : specs)
    if (dpc_status_t status = openFiles(spec))
      return status;
  for (uint32_t i = 0; i < program->input_count && !files.empty(); ++i)
    if (bindings->allBindings(i).empty())
      return lacks(texts[0], i);
  if (dpc_status_t status = bindings->checkAllBound())
    return status;
  return countRows();
}

dpc_status_t Dataset::checkValues() const {
  for (uint32_t i = 0; program && i < program->input_count; ++i)
    if (dpc_status_t status = bindings->checkAll(i, kCheckedBytes))
      return status;
  return DPC_OK;
}

/// Whether one of the first samples has a byte above 1. If all bytes are 0 or 1, the
/// user probably does not want them scaled.
static bool hasLargeBytes(const Binding &binding) {
  constexpr uint64_t mostSamples = 64;
  const auto *values = reinterpret_cast<const unsigned char *>(binding.data) + binding.rowOffset;
  return std::any_of(values, values + std::min(binding.rows, mostSamples) * binding.rowStride,
                     [](unsigned char value) { return value > 1; });
}

std::vector<std::string> Dataset::notes() const {
  std::vector<std::string> notes;
  for (uint32_t i = 0; program && i < program->input_count; ++i) {
    const dpc_input_t &input = program->inputs[i];
    const Bindings &all = bindings->allBindings(i);
    // For Layout::either, the shape does not tell which dimension counts samples,
    // because both dimensions have the same extent.
    for (const Binding &binding : all)
      if (binding.layout == Layout::either)
        notes.push_back(binding.source + ": the samples of input " + input.name +
                        " are read from dimension 0; the "
                        "array would also fit with them in dimension " +
                        std::to_string(input.batch_dim) +
                        ": move them to the front of it if they are there");
    if (input.role != DPC_INPUT_GRAPH || input.batch_dim < 0 || isInteger(input.dtype))
      continue;
    const auto found = std::find_if(all.begin(), all.end(), [](const Binding &binding) {
      return binding.dtype == DPC_U8 && !binding.scaled && hasLargeBytes(binding);
    });
    if (found != all.end())
      notes.push_back(found->source + ": uint8 is read as 0..255 into input " + input.name + " (" +
                      dpc_dtype_name(input.dtype) +
                      "); --data=idx:..,scale=1/255 scales, other forms need the file scaled");
  }
  return notes;
}

void Dataset::activate(InputLoader &loader) const {
  for (uint32_t i = 0; i < program->input_count; ++i)
    loader.setBindings(i, bindings->allBindings(i));
}

void Dataset::select(InputLoader &loader, uint64_t index, bool shuffle, uint64_t key) const {
  std::vector<uint64_t> &rows = loader.rows();
  for (uint64_t b = 0; b < rows.size(); ++b) {
    const uint64_t at = index * rows.size() + b;
    rows[b] = at >= sampleCount ? 0 : shuffle ? permuted(at, sampleCount, key) : at;
  }
}

} // namespace dpc
