// Decides whether a file of weights uses the names of the program or the names of
// the ONNX file that the program was compiled from. Then finds, for each state, the
// tensor to read and the strides with which to read it.

#include "runtime/src/session/StateSources.h"

#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace dpc {

namespace {

/// Part of a message: explains why a state of the program may have another shape
/// than the parameter of the PyTorch module.
constexpr const char *kFoldedByExport =
    ": the export computed with it, and kept a part or another shape of it; "
    "torch.onnx.export(..., optimize=False) keeps all of it";

/// The prefix that names the slot, e.g. "exp_avg|" of "exp_avg|fc.weight". Empty
/// if the state does not belong to the optimizer.
std::string slotOf(const dpc_state_t &state) {
  if (state.kind != DPC_STATE_OPTIMIZER)
    return {};
  const std::string name = state.name;
  return name.substr(0, name.find('|') + 1);
}

/// Whether the exporter replaced the state by other tensors of the ONNX file, or
/// dropped it.
bool isReplaced(const dpc_state_t &state) {
  return state.file_tensor_count && state.file_tensors[0].holds != DPC_HOLDS_TIED;
}

/// Adds `shift` to every element, and rounds the sum to the type of the elements.
void addTo(char *elements, uint64_t count, uint32_t dtype, double shift) {
  std::vector<double> wide(count);
  dpc_convert(DPC_F64, wide.data(), dtype, elements, count);
  for (double &element : wide)
    element += shift;
  dpc_convert(dtype, elements, DPC_F64, wide.data(), count);
}

/// Whether two sources of a state have equal elements. Both must have the same
/// type.
bool giveTheSame(const dpc_state_t &state, const StateSource &a, const StateSource &b) {
  constexpr uint64_t most = 1u << 17; // elements in memory at a time
  const uint64_t size = dpc_dtype_size(a.tensor->array.dtype),
                 count = elementCount(state.shape, state.dim_count);
  std::vector<char> ofA(std::min(count, most) * size), ofB(ofA.size());
  for (uint64_t at = 0; at < count; at += most) {
    const uint64_t part = std::min(count - at, most);
    readSource(state, a, at, part, ofA.data());
    readSource(state, b, at, part, ofB.data());
    if (!std::equal(ofA.begin(), ofA.begin() + std::ptrdiff_t(part * size), ofB.begin()))
      return false;
  }
  return true;
}

} // namespace

bool isOfModel(const dpc_state_t &state) {
  return state.kind == DPC_STATE_PARAMETER || state.kind == DPC_STATE_BUFFER;
}

std::string nameInFiles(const dpc_state_t &state) {
  return std::string(state.name) + (state.reordered ? "/rows" : "");
}

StateSources::StateSources(const dpc_program_t &program, const TensorsByName &tensors)
    : program(program), tensors(tensors), exported(decideNames()), found(program.state_count) {
  for (uint32_t i = 0; i < program.state_count; ++i) {
    if (exported && isReplaced(parameterOf(program.states[i])))
      findUnderFileNames(i);
    else
      findUnderOwnNames(i);
  }
}

const dpc_state_t &StateSources::parameterOf(const dpc_state_t &state) const {
  return state.parameter == DPC_NONE ? state : program.states[state.parameter];
}

bool StateSources::isDropped(uint32_t state) const {
  const dpc_state_t &parameter = parameterOf(program.states[state]);
  return exported && isReplaced(parameter) && parameter.file_tensors[0].holds == DPC_HOLDS_NOTHING;
}

bool StateSources::decideNames() const {
  std::set<std::string> replaced;
  bool hasOthers = true;
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    if (!isOfModel(state))
      continue;
    if (!isReplaced(state))
      hasOthers = hasOthers && tensors.count(state.name);
    for (uint64_t k = 0; k < state.file_tensor_count; ++k)
      if (state.file_tensors[k].holds < DPC_HOLDS_NOTHING)
        replaced.insert(state.file_tensors[k].name);
  }
  if (!std::all_of(replaced.begin(), replaced.end(),
                   [&](const auto &name) { return tensors.count(name) != 0; }))
    return false;
  bool isRestored = false;
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    if (!isOfModel(state) || !isReplaced(state))
      continue;
    isRestored = true;
    if (!replaced.count(state.name) && tensors.count(state.name))
      return false;
  }
  // Perhaps the exporter replaced no state by other tensors, and only dropped states that
  // were zero. Then a file of weights that has all other states uses the names of the ONNX
  // file.
  return isRestored && (!replaced.empty() || hasOthers);
}

void StateSources::findUnderOwnNames(uint32_t index) {
  const dpc_state_t &state = program.states[index], &parameter = parameterOf(state);
  const std::string slot = slotOf(state);
  auto look = [&](const std::string &name) {
    auto tensor = tensors.find(name);
    if (tensor == tensors.end())
      return;
    used[name] = true;
    take(index, {tensor->second, nullptr});
  };
  if (state.reordered)
    look(nameInFiles(state));
  look(state.name);
  for (uint64_t k = 0; k < parameter.file_tensor_count; ++k)
    if (parameter.file_tensors[k].holds == DPC_HOLDS_TIED)
      look(slot + parameter.file_tensors[k].name);
}

void StateSources::findUnderFileNames(uint32_t index) {
  const dpc_state_t &state = program.states[index], &parameter = parameterOf(state);
  const std::string slot = slotOf(state);
  for (uint64_t k = 0; k < parameter.file_tensor_count; ++k) {
    const dpc_file_tensor_t &view = parameter.file_tensors[k];
    auto tensor = tensors.find(slot + view.name);
    if (tensor == tensors.end())
      continue;
    used[tensor->first] = true;
    if (view.holds != DPC_HOLDS_ALL)
      continue;
    take(index, {tensor->second, &view});
  }
}

void StateSources::take(uint32_t index, const StateSource &other) {
  const dpc_state_t &state = program.states[index];
  StateSource &first = found[index];
  if (!first.tensor) {
    first = other;
    return;
  }
  if (checkSource(state, first, Likeness::elements) ||
      checkSource(state, other, Likeness::elements) ||
      first.tensor->array.dtype != other.tensor->array.dtype || giveTheSame(state, first, other))
    return;
  notes.push_back(std::string("\"") + first.tensor->array.name + "\" and \"" +
                  other.tensor->array.name + "\" are both " + state.name +
                  ", and differ: the first is read");
}

/// Whether two shapes are equal except for extents of 1, which do not change the
/// order of elements. True e.g. for [8, 1, 4] and [8, 4].
static bool haveEqualOrder(const int64_t *a, uint32_t aDims, const int64_t *b, uint32_t bDims) {
  std::vector<int64_t> ofA, ofB;
  std::copy_if(a, a + aDims, std::back_inserter(ofA), [](int64_t extent) { return extent != 1; });
  std::copy_if(b, b + bDims, std::back_inserter(ofB), [](int64_t extent) { return extent != 1; });
  return ofA == ofB;
}

dpc_status_t checkSource(const dpc_state_t &state, const StateSource &source, Likeness likeness) {
  const dpc_array_t &array = source.tensor->array;
  const uint32_t dims = source.view ? source.view->dim_count : state.dim_count;
  const int64_t *shape = source.view ? source.view->shape : state.shape;
  const bool fits = likeness == Likeness::elements
                        ? haveEqualOrder(shape, dims, array.shape, array.dim_count)
                        : array.dim_count == dims && std::equal(shape, shape + dims, array.shape);
  if (!fits)
    return fail(DPC_INVALID, "%s has shape %s, the program needs %s%s",
                source.view ? array.name : state.name,
                shapeText(array.shape, array.dim_count).c_str(), shapeText(shape, dims).c_str(),
                isReplaced(state) && !source.view ? kFoldedByExport : "");
  if (likeness == Likeness::type && array.dtype != state.dtype)
    return fail(DPC_INVALID, "%s has type %s, the program needs %s", state.name,
                dpc_dtype_name(array.dtype), dpc_dtype_name(state.dtype));
  return DPC_OK;
}

void readSource(const dpc_state_t &state, const StateSource &source, uint64_t begin, uint64_t count,
                char *to) {
  const FileTensor &tensor = *source.tensor;
  if (!source.view)
    return tensor.read(begin, count, to);
  const uint64_t size = dpc_dtype_size(tensor.array.dtype);
  int64_t at[DPC_MAX_RANK_DIMS] = {};
  uint64_t place = 0, rest = begin;
  for (uint32_t dim = state.dim_count; dim-- > 0;) {
    at[dim] = static_cast<int64_t>(rest % static_cast<uint64_t>(state.shape[dim]));
    rest /= static_cast<uint64_t>(state.shape[dim]);
    place += at[dim] * source.view->strides[dim];
  }
  for (uint64_t i = 0; i < count; ++i) {
    tensor.read(place, 1, to + i * size);
    for (uint32_t dim = state.dim_count; dim-- > 0;) {
      place += source.view->strides[dim];
      if (++at[dim] < state.shape[dim])
        break;
      place -= at[dim] * source.view->strides[dim];
      at[dim] = 0;
    }
  }
  if (source.view->shift != 0 && state.kind != DPC_STATE_OPTIMIZER)
    addTo(to, count, tensor.array.dtype, -source.view->shift);
}

} // namespace dpc
