// Compares the launches of each function with the accesses of the function. This is
// necessary because the proof of the plan uses the accesses, but the device performs
// the launches.
#include "runtime/src/plan/LaunchCheck.h"

#include "runtime/src/base/Status.h"

#include <map>
#include <tuple>
#include <vector>

namespace dpc::plan {

namespace {

using Number = unsigned long long;

/// The accesses of a function, indexed by their space, family, strides and frame.
class AccessIndex {
public:
  explicit AccessIndex(const dpc_function_t &function) {
    for (uint64_t i = 0; i < function.access_count; ++i) {
      const dpc_access_t &access = function.accesses[i];
      byMoves[movesOf(access)].push_back(&access);
    }
  }

  /// Whether an access of the kind `kind` (0: of any kind) contains all bytes of
  /// `param`, for every microbatch and every index in the group.
  bool covers(const dpc_param_t &param, uint32_t kind) const {
    auto found = byMoves.find(movesOf(param));
    if (found == byMoves.end())
      return false;
    for (const dpc_access_t *access : found->second) {
      const uint64_t behind = param.offset - access->offset;
      if ((kind == 0 || access->kind == kind) && param.offset >= access->offset &&
          behind <= access->bytes && param.bytes <= access->bytes - behind)
        return true;
    }
    return false;
  }

private:
  using Moves = std::tuple<uint32_t, uint32_t, uint64_t, uint64_t, uint32_t>;
  template <typename Place> static Moves movesOf(const Place &place) {
    return {place.space, place.family, place.micro_stride, place.index_stride, place.frame};
  }

  std::map<Moves, std::vector<const dpc_access_t *>> byMoves;
};

/// The kind of access (DPC_ACCESS_*) that a launch makes to its parameter `index`. 0
/// for the parameters of kernels, whose kinds of access the launch does not state.
uint32_t kindOf(const dpc_launch_t &launch, uint64_t index) {
  if (launch.kind == DPC_LAUNCH_COPY)
    return index == 0 ? DPC_ACCESS_READ : DPC_ACCESS_WRITE;
  return launch.kind == DPC_LAUNCH_FILL ? DPC_ACCESS_WRITE : 0;
}

dpc_status_t checkLaunch(const dpc_device_program_t &device, const dpc_launch_t &launch,
                         const AccessIndex &accesses) {
  auto check = [&](uint64_t first, uint64_t index, uint32_t kind) -> dpc_status_t {
    const dpc_param_t &param = device.params[first + index];
    if (param.bytes == 0 || accesses.covers(param, kind))
      return DPC_OK;
    return fail(DPC_INVALID,
                "parameter %llu (space %u, offset %llu, %llu bytes) is none of the function's "
                "accesses",
                Number(index), param.space, Number(param.offset), Number(param.bytes));
  };
  for (uint64_t i = 0; i < launch.param_count; ++i)
    if (dpc_status_t status = check(launch.first_param, i, kindOf(launch, i)))
      return status;
  if (launch.kind != DPC_LAUNCH_CALL)
    return DPC_OK;
  for (uint64_t i = 0; i < launch.call_param_count; ++i)
    if (dpc_status_t status = check(launch.first_call_param, i, 0))
      return failWithin(status, "its library call");
  return DPC_OK;
}

} // namespace

dpc_status_t checkLaunches(const dpc_program_t &program) {
  if (!program.device)
    return DPC_OK;
  const dpc_device_program_t &device = *program.device;
  for (uint32_t f = 0; f < program.function_count; ++f) {
    const AccessIndex accesses(program.functions[f]);
    const dpc_launches_t &launches = device.functions[f];
    for (uint64_t i = 0; i < launches.count; ++i)
      if (dpc_status_t status = checkLaunch(device, device.launches[launches.first + i], accesses))
        return failWithin(status, "%s, launch %llu of the device", program.functions[f].name,
                          Number(i));
  }
  return DPC_OK;
}

} // namespace dpc::plan
