// Checks the elements of a sample against the bounds that the program record has for
// them, so that every index in the program is valid.

#include "runtime/src/data/InputBounds.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"

#include "dpc/data.h"

#include <algorithm>
#include <limits>

namespace dpc {

std::vector<int64_t> sampleShape(const dpc_input_t &input) {
  std::vector<int64_t> shape(input.shape, input.shape + input.dim_count);
  if (input.batch_dim >= 0)
    shape.erase(shape.begin() + input.batch_dim);
  return shape;
}

static bool allowsAll(const dpc_bounds_t &bounds) {
  return bounds.lo == std::numeric_limits<int64_t>::min() &&
         bounds.hi == std::numeric_limits<int64_t>::max();
}

/// The position of `element` in a sample for a message, e.g. " at [2, 0]". Empty if
/// all elements have the same bounds, because the position then does not matter.
static std::string placeText(const dpc_input_t &input, uint64_t element) {
  if (input.bounds_count < 2)
    return "";
  std::vector<int64_t> place = sampleShape(input);
  for (size_t d = place.size(); d-- > 0;) {
    const auto extent = static_cast<uint64_t>(place[d]);
    place[d] = static_cast<int64_t>(element % extent);
    element /= extent;
  }
  return " at " + shapeText(place.data(), static_cast<uint32_t>(place.size()));
}

/// Part of a message: names the ignored value. A label with this value does not count
/// in the training loss. Empty if the bounds have no ignored value.
static std::string ignoreText(const dpc_bounds_t &bounds) {
  return bounds.has_ignore ? " (" + std::to_string(bounds.ignore) +
                                 ", the ignore-index that the program was compiled with, leaves a "
                                 "label out)"
                           : "";
}

dpc_status_t checkBounds(const dpc_input_t &input, const std::string &source, uint32_t dtype,
                         const char *data, uint64_t first, uint64_t count, SampleNumber sample) {
  const uint64_t size = dpc_dtype_size(dtype);
  uint64_t begin = 0; // index in the sample of the first element of the current bounds
  for (uint64_t r = 0; r < input.bounds_count && begin < first + count; ++r) {
    const dpc_bounds_t &bounds = input.bounds[r];
    const uint64_t from = std::max(first, begin),
                   to = std::min(first + count, begin + bounds.count);
    begin += bounds.count;
    if (from >= to || allowsAll(bounds))
      continue;
    const char *part = data + (from - first) * size;
    const uint64_t bad = dpc_first_out_of_bounds(dtype, part, to - from, bounds.lo, bounds.hi,
                                                 bounds.has_ignore ? &bounds.ignore : nullptr);
    if (bad == to - from)
      continue;
    double value = 0;
    dpc_convert(DPC_F64, &value, dtype, part + bad * size, 1);
    return fail(DPC_INVALID,
                "%s: value %.0f in sample %llu%s%s is outside [%lld, %lld], the "
                "range of input %s%s%s",
                source.c_str(), value, static_cast<unsigned long long>(sample.inAll),
                sample.inAll == sample.inFile
                    ? ""
                    : (" (" + std::to_string(sample.inFile) + " of this file)").c_str(),
                placeText(input, from + bad).c_str(), static_cast<long long>(bounds.lo),
                static_cast<long long>(bounds.hi), input.name,
                input.bounds_count > 1 ? " there" : "", ignoreText(bounds).c_str());
  }
  return DPC_OK;
}

} // namespace dpc
