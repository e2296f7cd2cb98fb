// Copies elements of a batch from the data files to a rank's buffer. Only the elements
// that the rank holds are copied; the input's placement lists them. Checks and converts
// each value.

#include "runtime/src/data/InputLoader.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/data/InputBounds.h"
#include "runtime/src/data/SettleLayouts.h"
#include "runtime/src/data/ShapeRemedy.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace dpc {

namespace {

bool isFloat(uint32_t dtype) { return dtype >= DPC_F64 && dtype <= DPC_BF16; }

/// Whether the samples of an array can lie along batch_dim, as in the input. They can if the array
/// and the input have equal extents in all other dimensions. False if batch_dim is the first
/// dimension, or if the input has no batch dimension.
bool isLaidOutAs(const dpc_input_t &input, const dpc_array_t &array) {
  if (input.batch_dim <= 0 || array.dim_count != input.dim_count)
    return false;
  for (uint32_t d = 0; d < input.dim_count; ++d)
    if (d != static_cast<uint32_t>(input.batch_dim) && array.shape[d] != input.shape[d])
      return false;
  return true;
}

/// The file that contains the sample `row`.
const Binding &fileOf(const Bindings &all, uint64_t row) {
  const auto next =
      std::upper_bound(all.begin(), all.end(), row,
                       [](uint64_t at, const Binding &each) { return at < each.firstRow; });
  return *(next - 1);
}

} // namespace

uint32_t findInput(const dpc_program_t &program, const char *name) {
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (std::strcmp(program.inputs[i].name, name) == 0)
      return i;
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (program.inputs[i].role == DPC_INPUT_LABEL && std::strcmp(name, "label") == 0)
      return i;
  return DPC_NONE;
}

std::string inputNames(const dpc_program_t &program) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < program.input_count; ++i)
    names.emplace_back(program.inputs[i].name);
  return listNames(names);
}

InputLoader::InputLoader(const dpc_program_t &program, uint32_t rank)
    : program(program), rank(rank), bindings(program.input_count), batchRows(program.batch) {
  std::iota(batchRows.begin(), batchRows.end(), uint64_t(0));
}

dpc_status_t InputLoader::makeBinding(uint32_t index, const dpc_array_t &array,
                                      const std::string &source, bool flexible,
                                      Binding *out) const {
  const dpc_input_t &input = program.inputs[index];
  const std::vector<int64_t> want = sampleShape(input);
  const uint32_t skip = input.batch_dim >= 0 ? 1 : 0;
  const std::vector<int64_t> have(array.shape + std::min(skip, array.dim_count),
                                  array.shape + array.dim_count);
  const uint64_t elements = elementCount(want.data(), static_cast<uint32_t>(want.size()));
  const bool isAsInput = have != want && isLaidOutAs(input, array);
  const bool fits =
      array.dim_count >= skip &&
      (have == want || isAsInput ||
       (flexible && elementCount(have.data(), static_cast<uint32_t>(have.size())) == elements));
  if (!fits)
    return fail(DPC_INVALID, "%s: %s shape %s, but %s of the program needs %s%s", source.c_str(),
                skip ? "samples have" : "it has",
                shapeText(have.data(), static_cast<uint32_t>(have.size())).c_str(), input.name,
                shapeText(want.data(), static_cast<uint32_t>(want.size())).c_str(),
                shapeRemedy(input, array).c_str());
  if (isFloat(array.dtype) && !isFloat(input.dtype))
    return fail(DPC_INVALID, "%s: its type is %s, but %s of the program needs integers (%s)",
                source.c_str(), dpc_dtype_name(array.dtype), input.name,
                dpc_dtype_name(input.dtype));
  Binding &binding = *out;
  binding.data = static_cast<const char *>(array.data);
  binding.dtype = array.dtype;
  binding.rows = skip ? static_cast<uint64_t>(array.shape[0]) : 1;
  binding.rowStride = skip ? elements : 0;
  if (isAsInput) {
    binding.rows = static_cast<uint64_t>(array.shape[input.batch_dim]);
    layAsInput(input, &binding);
  } else if (input.batch_dim > 0 && !flexible) {
    binding.layout = isLaidOutAs(input, array) ? Layout::either : Layout::samplesFirst;
  }
  binding.source = source;
  static const char empty[8] = {};
  if (!binding.data)
    binding.data = empty; // the array has no elements
  return DPC_OK;
}

dpc_status_t InputLoader::bind(uint32_t index, const dpc_array_t &array,
                               const std::string &source) {
  Binding binding;
  if (dpc_status_t status = makeBinding(index, array, source, false, &binding))
    return status;
  bindings[index] = {std::move(binding)};
  return DPC_OK;
}

dpc_status_t InputLoader::append(uint32_t index, const dpc_array_t &array,
                                 const std::string &source, bool flexible) {
  const dpc_input_t &input = program.inputs[index];
  Binding binding;
  if (dpc_status_t status = makeBinding(index, array, source, flexible, &binding))
    return status;
  if (input.batch_dim >= 0 || bindings[index].empty()) {
    append(index, std::move(binding));
    return DPC_OK;
  }
  const Binding &before = bindings[index].front();
  const uint64_t bytes = elementCount(input.shape, input.dim_count) * dpc_dtype_size(binding.dtype);
  if (before.dtype == binding.dtype && std::memcmp(before.data, binding.data, bytes) == 0)
    return DPC_OK;
  return fail(DPC_INVALID, "%s: differs from %s, but input %s has no samples: one array is for all",
              source.c_str(), before.source.c_str(), input.name);
}

void InputLoader::append(uint32_t index, Binding binding) {
  binding.firstRow = sampleCount(index);
  bindings[index].push_back(std::move(binding));
}

uint64_t InputLoader::sampleCount(uint32_t index) const {
  const Bindings &all = bindings[index];
  return all.empty() ? 0 : all.back().firstRow + all.back().rows;
}

std::string InputLoader::sourceOf(uint32_t index) const {
  const Bindings &all = bindings[index];
  return all.empty()       ? "no data"
         : all.size() == 1 ? all[0].source
                           : all[0].source + " and " + countOf(all.size() - 1, "more file");
}

dpc_status_t InputLoader::checkAll(uint32_t index, uint64_t mostBytes) const {
  const dpc_input_t &input = program.inputs[index];
  const bool batched = input.batch_dim >= 0;
  const uint64_t count = elementCount(input.shape, input.dim_count) / (batched ? program.batch : 1);
  for (const Binding &binding : bindings[index]) {
    const uint64_t rowBytes = count * dpc_dtype_size(binding.dtype);
    if (rowBytes && binding.rows > mostBytes / rowBytes)
      return DPC_OK;
    mostBytes -= binding.rows * rowBytes;
  }
  for (const Binding &binding : bindings[index]) {
    const uint64_t size = dpc_dtype_size(binding.dtype);
    const uint64_t piece = binding.outerStride ? binding.rowStride : count;
    for (uint64_t row = 0; row < binding.rows; ++row)
      for (uint64_t at = 0; at < count; at += piece) {
        const uint64_t element =
            binding.rowOffset + row * binding.rowStride + at / piece * binding.outerStride;
        if (dpc_status_t status =
                checkBounds(input, binding.source, binding.dtype, binding.data + element * size, at,
                            piece, {binding.firstRow + row, row}))
          return status;
      }
  }
  return DPC_OK;
}

dpc_status_t InputLoader::checkAllBound() const {
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (bindings[i].empty())
      return fail(DPC_INVALID, "no data for input \"%s\"", program.inputs[i].name);
  return DPC_OK;
}

dpc_status_t InputLoader::copyPiece(const dpc_input_t &input, const Binding &binding,
                                    uint64_t element, uint64_t within, uint64_t count, uint64_t row,
                                    char *to) {
  const char *from = binding.data + element * dpc_dtype_size(binding.dtype);
  if (dpc_status_t status = checkBounds(input, binding.source, binding.dtype, from, within, count,
                                        {binding.firstRow + row, row}))
    return status;
  if (!binding.scaled)
    return dpc_convert(input.dtype, to, binding.dtype, from, count);
  constexpr uint64_t kPiece = 256;
  double wide[kPiece];
  for (uint64_t i = 0; i < count; i += kPiece) {
    const uint64_t n = std::min(kPiece, count - i);
    dpc_convert(DPC_F64, wide, binding.dtype, from + i * dpc_dtype_size(binding.dtype), n);
    for (uint64_t k = 0; k < n; ++k)
      wide[k] = wide[k] * binding.scale + binding.shift;
    dpc_convert(input.dtype, to + i * dpc_dtype_size(input.dtype), DPC_F64, wide, n);
  }
  return DPC_OK;
}

dpc_status_t InputLoader::load(uint32_t index, uint64_t micro, char *destination) {
  const dpc_input_t &input = program.inputs[index];
  const Bindings &all = bindings[index];
  if (all.empty())
    return fail(DPC_INVALID, "no data for input \"%s\"", input.name);
  const uint64_t size = dpc_dtype_size(input.dtype);
  const bool batched = input.batch_dim >= 0;
  const uint32_t before = batched ? static_cast<uint32_t>(input.batch_dim) : input.dim_count;
  const uint64_t part = batched ? program.batch / input.micro_count : 1; // rows of one microbatch
  const uint64_t inner = batched
                             ? elementCount(input.shape + before + 1, input.dim_count - before - 1)
                             : elementCount(input.shape, before);
  micro %= input.micro_count; // if micro_count is 1, every microbatch has the complete batch
  // The tensor is [outer, rows, inner], where a row is a sample. A piece of the
  // placement is cut where the row changes, because the rows may be in different
  // files and at different positions.
  return forEachPiece(
      input.placements[rank], [&](uint64_t local, uint64_t global, uint64_t length) -> int32_t {
        while (length) {
          const uint64_t within = global % inner, row = global / inner % part,
                         outer = global / inner / part;
          const uint64_t count = std::min(length, inner - within);
          const uint64_t dataRow = batched ? batchRows[micro * part + row] : 0;
          const Binding &binding = fileOf(all, dataRow);
          const uint64_t fileRow = dataRow - binding.firstRow;
          const uint64_t element = fileRow * binding.rowStride + binding.rowOffset +
                                   outer * (binding.outerStride ? binding.outerStride : inner) +
                                   within;
          if (dpc_status_t status = copyPiece(input, binding, element, outer * inner + within,
                                              count, fileRow, destination + local * size))
            return status;
          local += count, global += count, length -= count;
        }
        return DPC_OK;
      });
}

} // namespace dpc
