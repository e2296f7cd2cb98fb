// Files of logical tensors: parameters, the patched ONNX template. Checkpoints
// use the same collection.
#include "runtime/src/session/StateFiles.h"

#include "dpc/safetensors.h"
#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"

#include <algorithm>
#include <cstring>

namespace dpc {

dpc_status_t
collectStates(dpc_session &session, const std::function<bool(const dpc_state_t &)> &wanted,
              const std::function<dpc_status_t(const std::vector<dpc_array_t> &)> &write) {
  const dpc_program_t &program = session.program;
  std::vector<dpc_array_t> arrays;
  uint64_t bytes = 0;
  std::vector<uint64_t> offsets;
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    if (!wanted(state))
      continue;
    dpc_array_t array = {state.name, state.dtype, state.dim_count, {}, nullptr};
    std::copy(state.shape, state.shape + state.dim_count, array.shape);
    arrays.push_back(array);
    offsets.push_back(bytes);
    bytes += (dpc_array_elements(&array) * dpc_dtype_size(state.dtype) + 63) / 64 * 64;
  }
  Mapping assembled;
  dpc_status_t status =
      session.options.rank == 0 ? assembled.allocate(bytes) : dpc_status_t(DPC_OK);
  if (status)
    return session.failed(status);
  size_t k = 0;
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    if (!wanted(state))
      continue;
    char *to = assembled.data() ? assembled.data() + offsets[k] : nullptr;
    if ((status = session.gather(state.placements, state.dtype, to)))
      return session.failed(status);
    arrays[k++].data = to;
  }
  return session.agree(session.options.rank == 0 ? write(arrays) : dpc_status_t(DPC_OK));
}

dpc_status_t loadState(dpc_session &session, uint32_t index, const StateSource &source,
                       bool exactType) {
  const dpc_state_t &state = session.program.states[index];
  if (dpc_status_t status = checkSource(state, source, exactType))
    return status;
  if (!source.view)
    return session.scatter(index, source.array->dtype, source.array->data);
  const std::vector<char> elements = readSource(state, source);
  return session.scatter(index, source.array->dtype, elements.data());
}

dpc_status_t findAllStates(const dpc_program_t &program, const dpc_array_file_t &file,
                           std::vector<StateSource> *out, std::vector<std::string> *notes) {
  ArraysByName arrays;
  for (const dpc_array_t &array : file.arrays)
    arrays[array.name] = &array;
  const StateSources sources(program, arrays);
  for (const dpc_array_t &array : file.arrays)
    if (!sources.isUsed(array.name))
      return fail(DPC_INVALID, "it is another program's: this one has no state \"%s\"", array.name);
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    out->push_back(sources[i]);
    if (sources.isDropped(i))
      continue;
    if (!sources[i].array)
      return fail(DPC_INVALID, "it is another program's: it has no state \"%s\"", state.name);
    if (dpc_status_t status = checkSource(state, sources[i], true))
      return failWithin(status, "it is another program's");
  }
  *notes = sources.getNotes();
  return DPC_OK;
}

dpc_status_t loadAllStates(dpc_session &session, const std::vector<StateSource> &sources) {
  for (uint32_t i = 0; i < sources.size(); ++i)
    if (sources[i].array)
      if (dpc_status_t status = loadState(session, i, sources[i], true))
        return status;
  return DPC_OK;
}

/// Writes the template with the values of `arrays` in it, one for each patch.
static dpc_status_t writeOnnx(const dpc_program_t &program, const std::vector<dpc_array_t> &arrays,
                              const char *path) {
  AtomicFile file;
  if (dpc_status_t status = file.create(path))
    return status;
  const uint8_t *bytes = program.onnx_template;
  uint64_t done = 0;
  std::vector<char> converted;
  for (uint64_t p = 0; p <= program.onnx_patch_count; ++p) {
    const bool last = p == program.onnx_patch_count;
    const uint64_t until = last ? program.onnx_template_bytes : program.onnx_patches[p].offset;
    if (until < done || until > program.onnx_template_bytes)
      return fail(DPC_INVALID, "patch %llu lies outside the ONNX template",
                  static_cast<unsigned long long>(p));
    if (dpc_status_t status = file.write(bytes + done, until - done))
      return status;
    done = until;
    if (last)
      break;
    const dpc_onnx_patch_t &patch = program.onnx_patches[p];
    const char *name = program.states[patch.state].name;
    const auto array = std::find_if(arrays.begin(), arrays.end(), [&](const dpc_array_t &a) {
      return std::strcmp(a.name, name) == 0;
    });
    const uint64_t count = dpc_array_elements(&*array);
    if (patch.bytes != count * dpc_dtype_size(patch.dtype))
      return fail(DPC_INVALID, "%s does not fit its place in the ONNX model", name);
    const void *value = array->data;
    if (patch.dtype != array->dtype) {
      converted.resize(patch.bytes);
      if (dpc_status_t status =
              dpc_convert(patch.dtype, converted.data(), array->dtype, array->data, count))
        return status;
      value = converted.data();
    }
    if (dpc_status_t status = file.write(value, patch.bytes))
      return status;
  }
  return file.commit();
}

dpc_status_t checkOnnx(const dpc_program_t &program) {
  if (program.onnx_template)
    return DPC_OK;
  if (!program.onnx_template_bytes)
    return fail(DPC_INVALID, "the program holds no ONNX model to save");
  return fail(DPC_INVALID,
              "--save-onnx: the model needs %llu bytes, but an ONNX file holds "
              "at most 2147483647: use --save-params",
              static_cast<unsigned long long>(program.onnx_template_bytes));
}

dpc_status_t saveOnnx(dpc_session &session, const char *path) {
  const dpc_program_t &program = session.program;
  if (dpc_status_t status = checkOnnx(program))
    return session.failed(status);
  auto patched = [&](const dpc_state_t &state) {
    for (uint64_t p = 0; p < program.onnx_patch_count; ++p)
      if (&program.states[program.onnx_patches[p].state] == &state)
        return true;
    return false;
  };
  return collectStates(session, patched, [&](const std::vector<dpc_array_t> &arrays) {
    return writeOnnx(program, arrays, path);
  });
}

} // namespace dpc
