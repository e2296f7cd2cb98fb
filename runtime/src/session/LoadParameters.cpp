// Loads parameters from a file that another program may have written: matches
// names, checks shapes, and reports tensors that it left out.
#include "runtime/src/session/LoadParameters.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/program/StateNames.h"
#include "runtime/src/session/SharedFiles.h"
#include "runtime/src/session/StateFiles.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace dpc {

namespace {

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// Whether a tensor is the buffer in which PyTorch's BatchNorm counts its calls.
/// Only a BatchNorm whose momentum is None needs the count. No exported graph
/// reads it, so programs do not have it.
bool isCallCount(const std::string &name) { return endsWith(name, "num_batches_tracked"); }

/// Whether a file must contain the state. A buffer that training does not change
/// may be missing, because the exporter may have created it. Unsaved state is in
/// no file, because the PyTorch module does not save it.
bool mustBeGiven(const dpc_state_t &state) {
  return state.kind == DPC_STATE_PARAMETER ||
         (state.kind == DPC_STATE_BUFFER && state.changes && !state.unsaved);
}

class Loader {
public:
  Loader(dpc_session &session, const ParameterSpec &source, const TensorFiles &files)
      : session(session), program(session.program), source(source), files(files) {}

  dpc_status_t run(std::vector<std::string> *notes) {
    if (dpc_status_t status = match())
      return status;
    if (dpc_status_t status = checkGlobs())
      return status;
    if (dpc_status_t status = checkMissing())
      return status;
    for (uint32_t i = 0; i < program.state_count; ++i)
      if (isLoaded(i))
        if (dpc_status_t status = loadState(session, i, (*found)[i], Likeness::elements))
          return status;
    report(notes);
    return DPC_OK;
  }

private:
  bool isAskedFor(const dpc_state_t &state) const {
    return (source.only.empty() || matchesAny(source.only, state)) &&
           !matchesAny(source.except, state);
  }
  bool isWanted(const dpc_state_t &state) const { return isOfModel(state) && isAskedFor(state); }
  bool isLoaded(uint32_t index) const {
    return (*found)[index].tensor && isWanted(program.states[index]);
  }
  bool matchesAny(const std::vector<std::string> &globs, const dpc_state_t &state) const {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string &glob) { return matchesState(program, glob, state); });
  }

  /// Whether a tensor that the program lacks is optimizer state or the loss scale.
  /// For example, a checkpoint has "exp_avg|fc.weight" in addition to fc.weight.
  bool isOfOptimizer(const std::string &name) const {
    const size_t bar = name.find('|');
    return (bar != std::string::npos && tensors.count(name.substr(bar + 1))) ||
           (files.isCheckpoint() && isOfLossScale(name));
  }

  /// Finds, for every state, the tensor of the file from which the state is read.
  dpc_status_t match() {
    Renaming renaming(source);
    for (const FileTensor &tensor : files.all()) {
      const std::string name = renaming.apply(tensor.array.name);
      auto [known, isNew] = tensors.try_emplace(name, &tensor);
      if (!isNew)
        return fail(DPC_INVALID, "\"%s\" and \"%s\" are both %s", known->second->array.name,
                    tensor.array.name, name.c_str());
    }
    if (dpc_status_t status = renaming.finish())
      return status;
    found = std::make_unique<StateSources>(program, tensors);
    for (const auto &[name, tensor] : tensors) {
      if (found->isUsed(name) || isCallCount(name))
        continue;
      if (isOfOptimizer(name))
        ++optimizerCount;
      else
        unknown.push_back(tensor->array.name);
    }
    for (uint32_t i = 0; i < program.state_count; ++i) {
      const dpc_state_t &state = program.states[i];
      if (!(*found)[i].tensor)
        continue;
      optimizerCount += state.kind == DPC_STATE_OPTIMIZER;
      if (state.reordered && !files.isCheckpoint() && isWanted(state) && !(*found)[i].view &&
          tensors.count(nameInFiles(state)) == 0)
        return fail(DPC_INVALID,
                    "%s: the export looked up its rows and lost the module's order of them; "
                    "torch.onnx.export(..., optimize=False) keeps it",
                    state.name);
      if (state.kind == DPC_STATE_CONSTANT && isAskedFor(state))
        if (dpc_status_t status = checkConstant(state, (*found)[i]))
          return status;
    }
    return DPC_OK;
  }

  dpc_status_t checkGlobs() const {
    for (const auto *globs : {&source.only, &source.except})
      for (const std::string &glob : *globs) {
        bool any = false;
        for (uint32_t i = 0; i < program.state_count && !any; ++i)
          any = isOfModel(program.states[i]) && matchesState(program, glob, program.states[i]);
        if (!any)
          return fail(DPC_INVALID, "%s=%s: the program has no parameter of this name",
                      globs == &source.only ? "only" : "except", glob.c_str());
      }
    return DPC_OK;
  }

  dpc_status_t checkMissing() const {
    std::vector<std::string> missing;
    for (uint32_t i = 0; i < program.state_count; ++i)
      if (!(*found)[i].tensor && !found->isDropped(i) && isWanted(program.states[i]) &&
          mustBeGiven(program.states[i]))
        missing.push_back(program.states[i].name);
    if (missing.empty() || source.isPartial)
      return DPC_OK;
    return fail(DPC_INVALID, "lacks %zu of the program's parameters: %s (%s)", missing.size(),
                listNames(missing).c_str(), advice(missing).c_str());
  }

  /// Suggests a setting to the user: a prefix with which a missing name matches a
  /// name of the file, or else settings that load only a part.
  std::string advice(const std::vector<std::string> &missing) const {
    for (const std::string &theirs : unknown)
      for (const std::string &ours : missing) {
        const bool longer = endsWith(theirs, "." + ours);
        if (!longer && !endsWith(ours, "." + theirs))
          continue;
        const std::string &whole = longer ? theirs : ours, &part = longer ? ours : theirs;
        const std::string prefix = whole.substr(0, whole.size() - part.size());
        return "the file has \"" + theirs + "\": add ," + (longer ? "strip=" : "add=") + prefix;
      }
    return "only=GLOB, except=GLOB and partial load a part";
  }

  /// Checks that the constant has the same value in the file as in the program.
  /// The compiled code relies on this value.
  dpc_status_t checkConstant(const dpc_state_t &state, const StateSource &place) {
    if (dpc_status_t status = checkSource(state, place, Likeness::elements))
      return status;
    const uint32_t dtype = place.tensor->array.dtype;
    const dpc_placement_t &own = state.placements[session.options.rank];
    const uint64_t size = dpc_dtype_size(state.dtype), most = 1u << 17;
    std::vector<char> theirs, converted, known;
    return forEachPiece(own, [&](uint64_t local, uint64_t global, uint64_t length) -> dpc_status_t {
      for (uint64_t at = 0; at < length; at += most) {
        const uint64_t count = std::min(length - at, most);
        theirs.resize(count * dpc_dtype_size(dtype));
        converted.resize(count * size);
        known.resize(count * size);
        place.tensor->read(global + at, count, theirs.data());
        if (dpc_status_t status =
                dpc_convert(state.dtype, converted.data(), dtype, theirs.data(), count))
          return status;
        if (dpc_status_t status = session.queue->download(
                known.data(), {own.space, own.offset + (local + at) * size}, known.size()))
          return status;
        if (converted != known)
          return fail(DPC_INVALID,
                      "%s is a constant that the program was compiled with, "
                      "and has other values in the file",
                      state.name);
      }
      return DPC_OK;
    });
  }

  void report(std::vector<std::string> *notes) const {
    size_t loaded = 0, all = 0;
    std::vector<std::string> kept;
    for (uint32_t i = 0; i < program.state_count; ++i) {
      if (!isOfModel(program.states[i]) || (program.states[i].unsaved && !(*found)[i].tensor))
        continue;
      ++all;
      loaded += isLoaded(i);
      if (!isLoaded(i))
        kept.push_back(program.states[i].name);
    }
    const std::string head = source.path + ": ";
    notes->push_back(head + std::to_string(loaded) + " of " + std::to_string(all) +
                     " parameters and buffers loaded");
    if (found->hasFileNames())
      notes->push_back("note: " + head + "has the names of the ONNX file, not the module's");
    for (const std::string &note : found->getNotes())
      notes->push_back("note: " + head + note);
    if (!kept.empty())
      notes->push_back("note: " + head + "not loaded, of the program: " + listNames(kept));
    if (!unknown.empty())
      notes->push_back("note: " + head + "not in the program, of the file: " + listNames(unknown));
    const bool trains = program.ranks[0].entries[DPC_ENTRY_STEP].count != 0;
    if (optimizerCount)
      notes->push_back("note: " + head + "the optimizer state in it is left out (" +
                       countOf(optimizerCount, "tensor") + ")" +
                       (trains ? ": --checkpoint with --resume goes on with a run" : ""));
  }

  dpc_session &session;
  const dpc_program_t &program;
  const ParameterSpec &source;
  const TensorFiles &files;
  TensorsByName tensors;
  std::unique_ptr<StateSources> found;
  std::vector<std::string> unknown; ///< names in the file that the program lacks
  size_t optimizerCount = 0;
};

} // namespace

dpc_status_t loadParameters(dpc_session &session, const ParameterSpec &source,
                            std::vector<std::string> *notes) {
  if (dpc_status_t status = checkSameFiles(session, TensorFiles::filesOfPath(source.path)))
    return status;
  TensorFiles files;
  if (dpc_status_t status = files.openPath(source.path))
    return session.failed(status);
  if (dpc_status_t status = Loader(session, source, files).run(notes))
    return session.failed(failWithin(status, "%s", source.path.c_str()));
  return session.agree(DPC_OK);
}

} // namespace dpc
