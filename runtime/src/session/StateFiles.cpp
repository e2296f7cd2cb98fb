// Writes and loads complete tensors, and writes the ONNX template with the values
// of state. Rank 0 writes a file from its beginning to its end, and receives the
// elements of each tensor from the ranks that hold them.
#include "runtime/src/session/StateFiles.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"

#include <algorithm>

namespace dpc {

namespace {

/// Rank 0 holds at most this many bytes of elements in memory at a time.
constexpr uint64_t kMostBytes = 1u << 20;

/// Calls `write` on rank 0; does nothing on other ranks.
template <typename Write> dpc_status_t onRankZero(const dpc_session &session, Write write) {
  return session.options.rank == 0 ? write() : dpc_status_t(DPC_OK);
}

/// Writes the template, with the values of states inserted at the patches.
dpc_status_t writeOnnx(dpc_session &session, const char *path) {
  const dpc_program_t &program = session.program;
  std::vector<PlannedPiece> plan;
  if (dpc_status_t status = planWriting(program, &plan))
    return status;
  AtomicFile file;
  if (dpc_status_t status = onRankZero(session, [&] { return file.create(path); }))
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
    if (dpc_status_t status =
            onRankZero(session, [&] { return file.write(bytes + done, until - done); }))
      return status;
    done = until;
    if (last)
      break;
    const dpc_onnx_patch_t &patch = program.onnx_patches[p];
    const dpc_state_t &state = program.states[patch.state];
    const uint64_t size = dpc_dtype_size(patch.dtype);
    if (patch.bytes != elementCount(state.shape, state.dim_count) * size)
      return fail(DPC_INVALID, "%s does not fit its place in the ONNX model", state.name);
    auto write = [&](const void *elements, uint64_t count) -> dpc_status_t {
      if (patch.dtype == state.dtype)
        return file.write(elements, count * size);
      converted.resize(std::max(converted.size(), count * size));
      if (dpc_status_t status =
              dpc_convert(patch.dtype, converted.data(), state.dtype, elements, count))
        return status;
      return file.write(converted.data(), count * size);
    };
    if (dpc_status_t status = forEachPart(session, plan, patch.state, write))
      return status;
  }
  return onRankZero(session, [&] { return file.commit(); });
}

} // namespace

bool isOfLossScale(const std::string &name) {
  return name == "loss_scale" || name.rfind("loss_scale|", 0) == 0;
}

dpc_status_t forEachPart(dpc_session &session, const std::vector<PlannedPiece> &plan,
                         uint32_t index, const WritePart &write) {
  const bool first = session.options.rank == 0;
  const dpc_state_t &state = session.program.states[index];
  std::vector<dpc_placement_t> places(state.placements,
                                      state.placements + session.options.world_size);
  for (dpc_placement_t &place : places)
    place.owner = 0;
  for (const PlannedPiece &piece : plan)
    if (piece.state == index)
      places[piece.rank].owner = 1;
  const uint64_t size = dpc_dtype_size(state.dtype),
                 count = elementCount(state.shape, state.dim_count), most = kMostBytes / size;
  std::vector<char> part(first ? std::min(count, most) * size : 0);
  for (uint64_t at = 0; at < count; at += most) {
    const uint64_t end = std::min(count, at + most);
    if (dpc_status_t status = session.gather(places.data(), state.dtype, part.data(), 0, at, end))
      return status;
    if (first)
      if (dpc_status_t status = write(part.data(), end - at))
        return status;
  }
  return DPC_OK;
}

dpc_status_t loadState(dpc_session &session, uint32_t index, const StateSource &source,
                       Likeness likeness) {
  const dpc_state_t &state = session.program.states[index];
  if (dpc_status_t status = checkSource(state, source, likeness))
    return status;
  return session.scatter(index, source.tensor->array.dtype,
                         [&](uint64_t begin, uint64_t count, char *to) -> dpc_status_t {
                           readSource(state, source, begin, count, to);
                           return DPC_OK;
                         });
}

dpc_status_t findAllStates(const dpc_program_t &program, const TensorFiles &files,
                           std::vector<StateSource> *out, std::vector<std::string> *notes) {
  TensorsByName tensors;
  for (const FileTensor &tensor : files.all())
    tensors[tensor.array.name] = &tensor;
  const StateSources sources(program, tensors);
  for (const auto &[name, tensor] : tensors)
    if (!sources.isUsed(name) && !isOfLossScale(name))
      return fail(DPC_INVALID, "it is another program's: this one has no state \"%s\"",
                  name.c_str());
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    out->push_back(sources[i]);
    if (sources.isDropped(i))
      continue;
    if (!sources[i].tensor && isOfLossScale(state.name))
      continue;
    if (!sources[i].tensor)
      return fail(DPC_INVALID, "it is another program's: it has no state \"%s\"", state.name);
    if (dpc_status_t status = checkSource(state, sources[i], Likeness::type))
      return failWithin(status, "it is another program's");
  }
  *notes = sources.getNotes();
  return DPC_OK;
}

dpc_status_t loadAllStates(dpc_session &session, const std::vector<StateSource> &sources) {
  for (uint32_t i = 0; i < sources.size(); ++i)
    if (sources[i].tensor)
      if (dpc_status_t status = loadState(session, i, sources[i], Likeness::type))
        return status;
  return DPC_OK;
}

dpc_status_t checkOnnx(const dpc_program_t &program) {
  if (program.onnx_template)
    return DPC_OK;
  if (!program.onnx_template_bytes)
    return fail(DPC_INVALID, "--save-onnx: the program holds no ONNX model to save");
  return fail(DPC_INVALID,
              "--save-onnx: the model needs %llu bytes, but an ONNX file holds "
              "at most 2147483647: use --save-params",
              static_cast<unsigned long long>(program.onnx_template_bytes));
}

dpc_status_t saveOnnx(dpc_session &session, const char *path) {
  if (dpc_status_t status = checkOnnx(session.program))
    return session.failed(status);
  return session.agree(writeOnnx(session, path));
}

} // namespace dpc
