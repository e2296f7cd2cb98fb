// Scans the input of each sum over ranks. If a value is not finite, finds the parameter by the
// program's table of accesses: the launch that reads the value's place in the sum also writes the
// parameter, or its optimizer state, at the corresponding element.

#include "runtime/src/program/GradientCheck.h"

#include "dpc/action.h"
#include "dpc/data.h"
#include "runtime/src/base/OperationExtents.h"
#include "runtime/src/base/OperationNames.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dpc {

namespace {

constexpr uint64_t kStagingBytes = 256 << 10;
/// In one sum, the check looks at so many values that are not finite until one has a parameter. A
/// bucket may also have other values, for example the loss.
constexpr uint32_t kMostNameless = 64;

/// The first element whose exponent has only ones.
template <typename Bits>
uint64_t findExponent(const void *elements, uint64_t count, Bits exponent) {
  constexpr uint64_t kBlock = 64 / sizeof(Bits), kAhead = 4096 / sizeof(Bits); // see Fingerprint
  const auto *next = static_cast<const Bits *>(elements);
  for (uint64_t begin = 0; begin < count; begin += kBlock) {
    const uint64_t end = std::min(count, begin + kBlock);
    __builtin_prefetch(next + begin + kAhead);
    Bits found = 0; // without branches, so that the compiler uses vectors
    for (uint64_t i = begin; i < end; ++i)
      found |= Bits((next[i] & exponent) == exponent);
    for (uint64_t i = begin; found && i < end; ++i)
      if ((next[i] & exponent) == exponent)
        return i;
  }
  return count;
}

bool isSum(const dpc_action_t &action) {
  const bool reduces = action.op == DPC_OP_ALL_REDUCE || action.op == DPC_OP_REDUCE_SCATTER ||
                       action.op == DPC_OP_REDUCE;
  return reduces && action.reduction == DPC_SUM && action.dtype >= DPC_F64 &&
         action.dtype <= DPC_BF16;
}

} // namespace

uint64_t findNotFinite(uint32_t dtype, const void *elements, uint64_t count) {
  switch (dtype) {
  case DPC_F64:
    return findExponent<uint64_t>(elements, count, 0x7ff0000000000000ull);
  case DPC_F32:
    return findExponent<uint32_t>(elements, count, 0x7f800000u);
  case DPC_F16:
    return findExponent<uint16_t>(elements, count, 0x7c00u);
  case DPC_BF16:
    return findExponent<uint16_t>(elements, count, 0x7f80u);
  }
  return count;
}

GradientCheck::GradientCheck(const dpc_program_t &program, uint32_t rank, Queue &queue)
    : program(program), rank(rank), queue(queue), staging(kStagingBytes) {}

void GradientCheck::begin() {
  sums = 0;
  foundAt = UINT64_MAX;
  knowsParameter = false;
  text.clear();
}

dpc_status_t GradientCheck::look(const dpc_action_t &action, DeviceAddress in) {
  if (!isSum(action))
    return DPC_OK;
  const uint64_t place = sums++, size = dpc_dtype_size(action.dtype), most = kStagingBytes / size;
  const uint32_t members = program.families[action.group].group_size;
  const uint64_t elements = extentsOf(action.op, action.count, members, true).in;
  uint32_t nameless = 0;
  for (uint64_t at = 0; at < elements && !knowsParameter && nameless < kMostNameless;) {
    const uint64_t part = std::min(most, elements - at);
    const char *values = nullptr;
    if (dpc_status_t status = readThrough(queue, {in.space, in.offset + at * size}, part * size,
                                          staging.data(), &values))
      return status;
    const uint64_t found = findNotFinite(action.dtype, values, part);
    if (found < part) {
      take(action, place, at + found, values + found * size);
      ++nameless;
    }
    // The next tensor of a bucket begins at a multiple of DPC_ALIGNMENT.
    const uint64_t unit = DPC_ALIGNMENT / size;
    at += found < part ? (found / unit + 1) * unit : part;
  }
  return DPC_OK;
}

/// Keeps what is known about an element of a sum's `in` that is not finite. `value` is the element.
void GradientCheck::take(const dpc_action_t &action, uint64_t place, uint64_t element,
                         const void *value) {
  const std::string parameter = parameterOf(action, element);
  knowsParameter = !parameter.empty();
  const bool isFirst = !hasFound();
  foundAt = std::min(foundAt, place);
  if (!isFirst && !knowsParameter)
    return;
  double wide = 0;
  dpc_convert(DPC_F64, &wide, action.dtype, value, 1);
  text = (knowsParameter ? "the gradient of " + parameter : "a value") + " is " +
         (std::isnan(wide) ? "NaN" : "infinite") + " (" + opName(action.op) + " of buffer " +
         std::to_string(action.buffer_id);
  if (action.location != DPC_NONE)
    text += std::string(", ") + program.locations[action.location].node;
  text += ")";
}

/// The state of rank `member` that has the byte at `offset` of a space, or null.
const dpc_state_t *GradientCheck::stateAt(uint32_t member, uint32_t space, uint64_t offset) const {
  for (uint32_t s = 0; s < program.state_count; ++s) {
    const dpc_state_t &state = program.states[s];
    const dpc_placement_t &own = state.placements[member];
    if (own.run_count && own.space == space && offset >= own.offset &&
        offset - own.offset < own.elements * dpc_dtype_size(state.dtype))
      return state.parameter == DPC_NONE ? &state : &program.states[state.parameter];
  }
  return nullptr;
}

/// The parameter to whose gradient an element of the sum's `in` belongs. Empty if it is not known.
std::string GradientCheck::parameterOf(const dpc_action_t &action, uint64_t element) const {
  // The member that gets the element, and the element's place in the member's `out`.
  const dpc_group_family_t &family = program.families[action.group];
  const uint32_t *all = family.ranks,
                 *self =
                     std::find(all, all + uint64_t(family.group_count) * family.group_size, rank);
  const auto index = static_cast<uint64_t>(self - all);
  const uint64_t group = index / family.group_size;
  uint64_t owner = index % family.group_size;
  if (action.op == DPC_OP_REDUCE_SCATTER)
    owner = element / action.count, element %= action.count;
  if (action.op == DPC_OP_REDUCE)
    owner = action.peer;
  const uint32_t member = family.ranks[group * family.group_size + owner];
  const uint64_t size = dpc_dtype_size(action.dtype),
                 place = action.out.offset + owner * action.out.index_stride + element * size;
  const auto placeOf = [&](const dpc_access_t &access) {
    return access.offset + (access.family == action.group ? owner * access.index_stride : 0);
  };
  for (uint32_t f = 0; f < program.function_count; ++f) {
    const dpc_function_t &function = program.functions[f];
    if (function.entry != DPC_ENTRY_STEP || function.stage != program.ranks[rank].stage)
      continue;
    for (uint64_t r = 0; r < function.access_count; ++r) {
      const dpc_access_t &read = function.accesses[r];
      const uint64_t begin = placeOf(read), count = read.bytes / size;
      if (read.kind != DPC_ACCESS_READ || read.frame || read.buffer != action.out.buffer ||
          place < begin || place - begin >= count * size)
        continue;
      for (uint64_t w = 0; w < function.access_count; ++w) {
        const dpc_access_t &write = function.accesses[w];
        if (write.kind != DPC_ACCESS_WRITE || write.launch != read.launch || write.frame ||
            write.bytes % count != 0)
          continue;
        const uint64_t at = placeOf(write) + (place - begin) / size * (write.bytes / count);
        if (const dpc_state_t *state = stateAt(member, write.space, at))
          return state->name;
      }
    }
  }
  return "";
}

} // namespace dpc
