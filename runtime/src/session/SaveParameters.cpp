// Writes files of parameters: chooses the tensors and their names. Rank 0 writes
// the file, and receives the elements from the ranks that hold them.
#include "runtime/src/session/SaveParameters.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/data/SafetensorsWriter.h"
#include "runtime/src/program/StateNames.h"
#include "runtime/src/session/StateFiles.h"
#include "runtime/src/session/StateSources.h"

#include <algorithm>
#include <map>

namespace dpc {

namespace {

/// A tensor that can be saved, with its name in the program and in the file.
struct Candidate {
  uint32_t state;
  std::string name, nameInFile;
};

std::vector<Candidate> listCandidates(const dpc_program_t &program) {
  std::vector<Candidate> out;
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    if (state.kind == DPC_STATE_OPTIMIZER || state.unsaved)
      continue;
    out.push_back({i, state.name, nameInFiles(state)});
    for (uint64_t k = 0; k < state.file_tensor_count; ++k) {
      const dpc_file_tensor_t &other = state.file_tensors[k];
      if (other.holds == DPC_HOLDS_TIED && findState(program, other.name) == DPC_NONE)
        out.push_back({i, other.name, other.name});
    }
  }
  return out;
}

/// Whether a glob matches a candidate. If a state has several names, a glob must
/// match the name of this candidate. A name that only the ONNX file has is an
/// exception: a glob that matches it matches all candidates of the state.
bool matches(const dpc_program_t &program, const std::string &glob, const Candidate &candidate) {
  if (matchesGlob(glob, candidate.name))
    return true;
  const dpc_state_t &state = program.states[candidate.state];
  for (uint64_t k = 0; k < state.file_tensor_count; ++k) {
    const dpc_file_tensor_t &other = state.file_tensors[k];
    if (other.holds != DPC_HOLDS_TIED && findState(program, other.name) == DPC_NONE &&
        matchesGlob(glob, other.name))
      return true;
  }
  return false;
}

dpc_status_t list(const dpc_program_t &program, const ParameterSpec &spec,
                  std::vector<SavedTensor> *out) {
  const std::vector<Candidate> candidates = listCandidates(program);
  auto matchesAny = [&](const std::vector<std::string> &globs, const Candidate &candidate) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string &glob) { return matches(program, glob, candidate); });
  };
  for (const auto *globs : {&spec.only, &spec.except})
    for (const std::string &glob : *globs)
      if (std::none_of(candidates.begin(), candidates.end(), [&](const Candidate &candidate) {
            return matches(program, glob, candidate);
          }))
        return fail(DPC_INVALID, "%s=%s: the program has no parameter of this name",
                    globs == &spec.only ? "only" : "except", glob.c_str());
  Renaming renaming(spec);
  std::map<std::string, const Candidate *> written;
  for (const Candidate &candidate : candidates) {
    if ((!spec.only.empty() && !matchesAny(spec.only, candidate)) ||
        matchesAny(spec.except, candidate))
      continue;
    const std::string name = renaming.apply(candidate.nameInFile);
    if (name.empty())
      return fail(DPC_INVALID, "strip=%s leaves nothing of the name %s", spec.strip.c_str(),
                  candidate.name.c_str());
    const auto [other, isNew] = written.emplace(name, &candidate);
    if (!isNew)
      return fail(DPC_INVALID, "%s and %s are both written as %s", other->second->name.c_str(),
                  candidate.name.c_str(), name.c_str());
    out->push_back({candidate.state, name});
  }
  if (out->empty())
    return fail(DPC_INVALID, candidates.empty() ? "the program has no parameters"
                                                : "only= and except= leave nothing to write");
  return renaming.finish();
}

dpc_status_t write(dpc_session &session, const ParameterSpec &spec) {
  std::vector<SavedTensor> tensors;
  if (dpc_status_t status = listSavedTensors(session.program, spec, &tensors))
    return status;
  std::vector<PlannedPiece> plan;
  if (dpc_status_t status = planWriting(session.program, &plan))
    return status;
  std::vector<dpc_array_t> arrays;
  for (const SavedTensor &tensor : tensors) {
    const dpc_state_t &state = session.program.states[tensor.state];
    dpc_array_t array = {tensor.name.c_str(), state.dtype, state.dim_count, {}, nullptr};
    std::copy(state.shape, state.shape + state.dim_count, array.shape);
    arrays.push_back(array);
  }
  SafetensorsWriter file;
  const dpc_metadata_t metadata = {"program", session.program.name};
  const bool isFirst = session.options.rank == 0;
  if (isFirst)
    if (dpc_status_t status = file.create(spec.path.c_str(), arrays, &metadata, 1))
      return status;
  for (size_t i : SafetensorsWriter::orderOf(arrays)) {
    const uint64_t size = dpc_dtype_size(arrays[i].dtype);
    if (dpc_status_t status =
            forEachPart(session, plan, tensors[i].state, [&](const void *elements, uint64_t count) {
              return file.write(elements, count * size);
            }))
      return status;
  }
  return isFirst ? file.commit() : dpc_status_t(DPC_OK);
}

} // namespace

dpc_status_t listSavedTensors(const dpc_program_t &program, const ParameterSpec &spec,
                              std::vector<SavedTensor> *out) {
  const dpc_status_t status = list(program, spec, out);
  return status ? failWithin(status, "--save-params") : status;
}

dpc_status_t saveParameters(dpc_session &session, const ParameterSpec &spec) {
  return session.agree(write(session, spec));
}

} // namespace dpc
