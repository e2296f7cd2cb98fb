// Finds the products among a program's launches. Agrees with the other ranks on
// whether the library computes them, and with which algorithms.

#include "runtime/src/device/ProgramProducts.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/comm/ControlMessages.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace dpc {

/// The largest power of two, at most 256, that divides the address of a parameter
/// for all microbatches and ranks. The limit is 256 because it is the alignment of
/// the spaces.
static uint64_t alignmentOf(const dpc_param_t &param) {
  const uint64_t all = param.offset | param.micro_stride | param.index_stride | 256;
  return all & -all;
}

static LibraryProducts::Wanted wantedBy(const dpc_device_program_t &device,
                                        const dpc_launch_t &launch) {
  LibraryProducts::Wanted wanted;
  wanted.product = device.products[launch.product];
  const dpc_param_t *params = device.params + launch.first_product_param;
  for (uint32_t i = 0; i < dpc_product_buffer_count(&wanted.product); ++i)
    wanted.alignments[i] = i == LibraryProducts::kWorkspace ? 0 : alignmentOf(params[i]);
  wanted.workspaceBytes = params[LibraryProducts::kWorkspace].bytes;
  return wanted;
}

dpc_status_t ProgramProducts::open(const dpc_program_t &program, dpc_comm_t &control, char *window,
                                   uint64_t windowBytes,
                                   const std::function<dpc_status_t()> &refine) {
  const dpc_device_program_t &device = *program.device;
  if (device.product_count == 0)
    return DPC_OK;
  bool isUsed = false;
  if (dpc_status_t status = agreeOnLibrary(control, window, &isUsed))
    return status;
  if (!isUsed)
    return DPC_OK;
  numbers.assign(device.launch_count, DPC_NONE);
  for (uint64_t i = 0; i < device.launch_count; ++i)
    if (device.launches[i].kind == DPC_LAUNCH_PRODUCT)
      numbers[i] = products.add(wantedBy(device, device.launches[i]));
  return agreeOnChoices(control, window, windowBytes, refine);
}

/// Sets `isUsed` if all ranks have the library in the same version.
dpc_status_t ProgramProducts::agreeOnLibrary(dpc_comm_t &control, char *window, bool *isUsed) {
  const bool isHere = products.open() == DPC_OK;
  const std::string reason = isHere ? "" : dpc_last_error();
  // The versions must be equal, because other ranks use rank 0's algorithms, and an
  // algorithm has a meaning only in the version that it comes from.
  std::vector<uint64_t> versions(control.world_size);
  const uint64_t mine = isHere ? products.getVersion() : 0;
  if (dpc_status_t status = gatherControl(control, window, &mine, sizeof mine, versions.data()))
    return status;
  const auto other = std::find_if(versions.begin(), versions.end(), [&](uint64_t version) {
    return version == 0 || version != versions[0];
  });
  *isUsed = other == versions.end();
  if (*isUsed || control.rank != 0)
    return DPC_OK;
  const std::string rank = "rank " + std::to_string(other - versions.begin());
  std::fprintf(stderr, "note: products of matrices are made by kernels: %s\n",
               !isHere  ? reason.c_str()
               : *other ? (rank + " has cuBLASLt " + std::to_string(*other) + ", rank 0 has " +
                           std::to_string(mine))
                              .c_str()
                        : (rank + " has no cuBLASLt").c_str());
  return DPC_OK;
}

dpc_status_t ProgramProducts::agreeOnChoices(dpc_comm_t &control, char *window,
                                             uint64_t windowBytes,
                                             const std::function<dpc_status_t()> &refine) {
  if (control.rank == 0) {
    if (dpc_status_t status = products.choose())
      return status;
    if (refine)
      if (dpc_status_t status = refine())
        return status;
  }
  if (control.world_size == 1)
    return DPC_OK;
  std::vector<LibraryProducts::Choice> choices = products.getChoices();
  const uint64_t atOnce = windowBytes / sizeof choices[0];
  for (uint64_t first = 0; first < choices.size(); first += atOnce) {
    const uint64_t count = std::min<uint64_t>(atOnce, choices.size() - first);
    if (dpc_status_t status =
            broadcastControl(control, window, choices.data() + first, count * sizeof choices[0]))
      return status;
  }
  return control.rank == 0 ? dpc_status_t(DPC_OK) : products.adopt(choices.data());
}

std::vector<uint64_t> ProgramProducts::getExamples() const {
  std::vector<uint64_t> launches;
  std::vector<bool> isKnown(products.size());
  for (uint64_t launch = 0; launch < numbers.size(); ++launch) {
    if (!makes(launch) || isKnown[numbers[launch]])
      continue;
    isKnown[numbers[launch]] = true;
    launches.push_back(launch);
  }
  return launches;
}

} // namespace dpc
