// Reads the rank's number, the run's token and the address where ranks meet from
// the environment, which dpc-run, torchrun, Open MPI, PMI, Slurm or Kubernetes has set.

#include "runtime/src/session/Environment.h"

#include "runtime/src/base/Hex.h"
#include "runtime/src/base/RunPage.h"
#include "runtime/src/base/Sha256.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/base/TokenFile.h"
#include "runtime/src/session/Launchers.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace dpc {

namespace {

dpc_status_t parseCount(const char *name, const char *value, uint32_t lowest, uint32_t highest,
                        uint32_t *out) {
  uint64_t number = 0;
  if (!parseWhole(value, lowest, highest, &number))
    return fail(DPC_INVALID, "environment variable %s is \"%s\", not a number from %u to %u", name,
                value, lowest, highest);
  *out = static_cast<uint32_t>(number);
  return DPC_OK;
}

dpc_status_t findToken(std::string *out) {
  uint32_t fd = 0;
  if (const char *value = std::getenv("DPC_TOKEN_FD")) {
    if (dpc_status_t status = parseCount("DPC_TOKEN_FD", value, 0, 1 << 20, &fd))
      return status;
    ::unsetenv("DPC_TOKEN_FD");
    return readTokenFrom(static_cast<int>(fd), "DPC_TOKEN_FD", out);
  }
  if (const char *path = std::getenv("DPC_TOKEN_FILE")) {
    if (dpc_status_t status = readTokenFile(path, out))
      return failWithin(status, "DPC_TOKEN_FILE");
    return DPC_OK;
  }
  if (const char *value = std::getenv("DPC_TOKEN"))
    *out = value;
  return DPC_OK;
}

/// Text that differs between runs of the same user: the variables by which a launcher
/// identifies the run, or under MPICH's mpirun, the process that started all ranks of this host.
/// Empty if the environment has none of these variables.
std::string runKey() {
  std::string key;
  for (const char *name :
       {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
        "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"})
    if (const char *value = std::getenv(name))
      key += std::string(name) + "=" + value + ";";
  if (key.empty() && std::getenv("PMI_RANK"))
    key = "parent=" + std::to_string(::getppid());
  return key;
}

} // namespace

dpc_status_t optionsFromEnvironment(EnvironmentOptions *outOptions,
                                    const EnvironmentOptions *known) {
  dpc_session_options_t *out = &outOptions->options;
  std::string &rendezvous = outOptions->rendezvous, &token = outOptions->token;
  if (known)
    token = known->token;
  out->struct_size = sizeof *out;
  out->world_size = 1;
  out->listen_fd = -1;
  attachRunPage();
  if (const char *value = std::getenv("DPC_LISTEN")) {
    outOptions->listen = value;
    out->listen = outOptions->listen.c_str();
  }
  const char *rankName = nullptr, *worldName = nullptr;
  // The index of a pod of Kubernetes comes last, because any other launcher may run in the pod.
  const char *rank = firstSet({"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                               "SLURM_PROCID", "JOB_COMPLETION_INDEX"},
                              &rankName);
  const char *world =
      firstSet({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}, &worldName);
  if (!rank || !world)
    return DPC_OK;
  uint32_t rankNumber = 0, worldNumber = 1, fd = 0;
  if (dpc_status_t status = parseCount(worldName, world, 1, 1 << 20, &worldNumber))
    return status;
  if (dpc_status_t status = parseCount(rankName, rank, 0, worldNumber - 1, &rankNumber))
    return status;
  outOptions->isRank = true;
  out->rank = rankNumber;
  out->world_size = worldNumber;
  if (worldNumber == 1)
    return DPC_OK;
  std::string place;
  if (dpc_status_t status = meetingPlace(&place))
    return status;
  if (dpc_status_t status = findToken(&token))
    return status;
  if (const char *value = std::getenv("DPC_LISTEN_FD")) {
    if (dpc_status_t status = parseCount("DPC_LISTEN_FD", value, 0, 1 << 20, &fd))
      return status;
    ::unsetenv("DPC_LISTEN_FD");
    ::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);
    out->listen_fd = static_cast<int32_t>(fd);
  }
  if (const char *value = std::getenv("DPC_RENDEZVOUS")) {
    rendezvous = value;
  } else if (!token.empty() && !place.empty()) {
    rendezvous = place;
  } else if (hasSeveralHosts(worldNumber)) {
    rendezvous.clear(); // MPI can tell them a place; other transports report it
  } else {
    const std::string key = runKey();
    if (key.empty())
      return fail(DPC_INVALID,
                  "%s=%s but no MASTER_ADDR, MASTER_PORT or job id in the "
                  "environment: start the ranks with dpc-run, "
                  "mpirun, srun or torchrun",
                  worldName, world);
    Sha256 hash;
    hash.update(key.data(), key.size());
    const Digest digest = hash.finish();
    rendezvous = "file:///tmp/dpc-" + std::to_string(::geteuid()) + "-" + toHex(digest.data(), 8);
  }
  out->rendezvous = rendezvous.c_str();
  out->token = token.empty() ? nullptr : token.c_str();
  return DPC_OK;
}

} // namespace dpc
