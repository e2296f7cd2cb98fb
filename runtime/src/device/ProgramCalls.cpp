// Finds the library calls among a program's launches. The ranks agree whether
// libraries compute these calls, and with which algorithms.

#include "runtime/src/device/ProgramCalls.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/comm/ControlMessages.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace dpc {

/// The largest power of two, at most 256, that divides the address of a parameter for
/// all microbatches and ranks. The limit is 256 because the address of a space is known
/// only to be a multiple of 256.
static uint64_t alignmentOf(const dpc_param_t &param) {
  // A frame begins at a multiple of DPC_ALIGNMENT.
  const uint64_t all = param.offset | param.micro_stride | param.index_stride | 256 |
                       (param.frame ? DPC_ALIGNMENT : 0);
  return all & -all;
}

/// The library call of `launch`, with the alignments and sizes of its buffers.
static WantedCall wantedBy(const dpc_device_program_t &device, const dpc_launch_t &launch) {
  WantedCall wanted;
  wanted.description = device.calls[launch.call].description;
  for (uint64_t i = 0; i < launch.call_param_count; ++i) {
    const dpc_param_t &param = device.params[launch.first_call_param + i];
    wanted.buffers.push_back({alignmentOf(param), param.bytes});
  }
  return wanted;
}

/// Opens the library of `kind` on all ranks. Sets `isUsed` if all ranks have it, in the
/// same version. Otherwise rank 0 tells the user the reason.
static dpc_status_t agreeOnLibrary(const CallKind &kind, LibraryCalls &calls, dpc_comm_t &control,
                                   char *window, bool *isUsed) {
  const bool isHere = calls.open() == DPC_OK;
  const std::string reason = isHere ? "" : dpc_last_error();
  // Only the version of the library that made the description of an algorithm can
  // read it, and rank 0 sends these descriptions to the other ranks.
  std::vector<uint64_t> versions(control.world_size);
  const uint64_t mine = isHere ? calls.getVersion() : 0;
  if (dpc_status_t status = gatherControl(control, window, &mine, sizeof mine, versions.data()))
    return status;
  const auto other = std::find_if(versions.begin(), versions.end(), [&](uint64_t version) {
    return version == 0 || version != versions[0];
  });
  *isUsed = other == versions.end();
  if (*isUsed || control.rank != 0)
    return DPC_OK;
  const std::string rank = "rank " + std::to_string(other - versions.begin()),
                    library = kind.library;
  std::fprintf(stderr, "note: %s are made by kernels: %s\n", kind.title,
               !isHere  ? reason.c_str()
               : *other ? (rank + " has " + library + " " + std::to_string(*other) +
                           ", rank 0 has " + std::to_string(mine))
                              .c_str()
                        : (rank + " has no " + library).c_str());
  return DPC_OK;
}

/// The first rank of the stage of `rank`.
static uint32_t leaderOf(const dpc_program_t &program, uint32_t rank) {
  uint32_t leader = 0;
  while (program.ranks[leader].stage != program.ranks[rank].stage)
    ++leader;
  return leader;
}

/// The chosen algorithms as one message: for each call, the number of bytes of its algorithm, and
/// then the bytes.
static std::string packChoices(const LibraryCalls &calls) {
  std::vector<CallChoice> choices = calls.getChoices();
  choices.resize(calls.size());
  std::string message;
  for (const CallChoice &choice : choices) {
    const uint64_t bytes = choice.algorithm.size();
    message.append(reinterpret_cast<const char *>(&bytes), sizeof bytes);
    message += choice.algorithm;
  }
  return message;
}

/// Sets `choices` to the algorithms of a message. Returns false if the message is not about
/// `choices.size()` calls.
static bool unpackChoices(const std::string &message, std::vector<CallChoice> &choices) {
  size_t at = 0;
  for (CallChoice &choice : choices) {
    uint64_t bytes = 0;
    if (message.size() - at < sizeof bytes)
      return false;
    std::memcpy(&bytes, message.data() + at, sizeof bytes);
    at += sizeof bytes;
    if (message.size() - at < bytes)
      return false;
    choice.algorithm = message.substr(at, bytes);
    at += bytes;
  }
  return at == message.size();
}

/// The first rank of each stage chooses the algorithms of the stage's calls of one kind. The
/// other ranks of the stage adopt them.
static dpc_status_t agreeOnChoices(const ProgramCalls::OfKind &own, const dpc_program_t &program,
                                   dpc_comm_t &control, char *window, uint64_t windowBytes,
                                   const ProgramCalls::Refine &refine) {
  const uint32_t leader = leaderOf(program, control.rank);
  if (control.rank == leader) {
    if (dpc_status_t status = own.calls->choose())
      return status;
    if (refine)
      if (dpc_status_t status = refine(own))
        return status;
  }
  if (control.world_size == 1)
    return DPC_OK;
  // Stages have different calls, but all ranks send equally many bytes.
  std::string message = packChoices(*own.calls);
  std::vector<uint64_t> sizes(control.world_size);
  const uint64_t mine = message.size();
  if (dpc_status_t status = gatherControl(control, window, &mine, sizeof mine, sizes.data()))
    return status;
  message.resize(*std::max_element(sizes.begin(), sizes.end()));
  // The window holds the message of this rank and those of all ranks.
  const uint64_t atOnce =
      std::max<uint64_t>(1, (windowBytes - DPC_ALIGNMENT) / (control.world_size + 1));
  std::string all(atOnce * control.world_size, '\0');
  for (uint64_t first = 0; first < message.size(); first += atOnce) {
    const uint64_t count = std::min<uint64_t>(atOnce, message.size() - first);
    if (dpc_status_t status =
            gatherControl(control, window, message.data() + first, count, all.data()))
      return status;
    std::copy_n(all.begin() + static_cast<ptrdiff_t>(leader * count), count,
                message.begin() + static_cast<ptrdiff_t>(first));
  }
  if (control.rank == leader)
    return DPC_OK;
  message.resize(sizes[leader]);
  std::vector<CallChoice> choices(own.calls->size());
  if (!unpackChoices(message, choices))
    return fail(DPC_INVALID, "rank %u does not make the %s of rank %u", control.rank,
                own.kind->plural, leader);
  return own.calls->adopt(choices);
}

dpc_status_t ProgramCalls::open(const dpc_program_t &program, dpc_comm_t &control, char *window,
                                uint64_t windowBytes, const Refine &refine) {
  const dpc_device_program_t &device = *program.device;
  const dpc_library_call_t *const calls = device.calls, *const end = calls + device.call_count;
  for (const CallKind *kind : callKinds())
    if (std::any_of(calls, end,
                    [&](const dpc_library_call_t &call) { return call.kind == kind->number; }))
      if (dpc_status_t status = open(*kind, program, control, window, windowBytes, refine))
        return status;
  return DPC_OK;
}

dpc_status_t ProgramCalls::open(const CallKind &kind, const dpc_program_t &program,
                                dpc_comm_t &control, char *window, uint64_t windowBytes,
                                const Refine &refine) {
  const dpc_device_program_t &device = *program.device;
  OfKind own{&kind, kind.make(), {}};
  bool isUsed = false;
  if (dpc_status_t status = agreeOnLibrary(kind, *own.calls, control, window, &isUsed))
    return status;
  if (!isUsed)
    return DPC_OK;
  places.resize(device.launch_count);
  for (uint32_t f = 0; f < program.function_count; ++f) {
    if (program.functions[f].stage != program.ranks[control.rank].stage)
      continue;
    const dpc_launches_t &launches = device.functions[f];
    for (uint64_t i = launches.first; i < launches.first + launches.count; ++i) {
      const dpc_launch_t &launch = device.launches[i];
      if (launch.kind != DPC_LAUNCH_CALL || device.calls[launch.call].kind != kind.number)
        continue;
      places[i] = {own.calls.get(), own.calls->add(wantedBy(device, launch))};
      if (places[i].number == own.examples.size())
        own.examples.push_back(i);
    }
  }
  kinds.push_back(std::move(own));
  return agreeOnChoices(kinds.back(), program, control, window, windowBytes, refine);
}

std::vector<uint64_t> ProgramCalls::getExamples() const {
  std::vector<uint64_t> launches;
  for (const OfKind &own : kinds)
    for (uint64_t launch : own.examples)
      if (makes(launch))
        launches.push_back(launch);
  return launches;
}

} // namespace dpc
