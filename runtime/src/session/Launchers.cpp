// Reads the variables of launchers: where the ranks of a run meet.

#include "runtime/src/session/Launchers.h"

#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/RunPage.h"
#include "runtime/src/base/Sha256.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstdlib>

namespace dpc {

namespace {

constexpr uint32_t kPorts = 16;

/// The number in the first of the variables that is set; `otherwise` if none is a number.
uint64_t numberOf(std::initializer_list<const char *> names, uint64_t otherwise) {
  const char *value = firstSet(names);
  uint64_t number = 0;
  return value && parseWhole(value, 0, UINT32_MAX, &number) ? number : otherwise;
}

/// The place of a step of Slurm, or "". The ports lie below those that systems give to
/// outgoing connections.
std::string slurmPlace() {
  constexpr uint32_t kFirstPort = 16384, kSpan = 8192;
  const char *hosts = firstSet({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  const std::string host = hosts ? firstHost(hosts) : "";
  if (!std::getenv("SLURM_PROCID") || host.empty())
    return "";
  const uint64_t job = numberOf({"SLURM_JOB_ID", "SLURM_JOBID"}, 0),
                 step = numberOf({"SLURM_STEP_ID", "SLURM_STEPID"}, 0);
  const uint32_t port = kFirstPort + static_cast<uint32_t>((job * 31 + step) * kPorts % kSpan);
  return endpointText(host, port, port + kPorts - 1);
}

} // namespace

const char *firstSet(std::initializer_list<const char *> names, const char **outName) {
  for (const char *name : names)
    if (const char *value = std::getenv(name)) {
      if (outName)
        *outName = name;
      return value;
    }
  return nullptr;
}

bool isStartedByHand() {
  return !runPage() && !firstSet({"TORCHELASTIC_RUN_ID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                  "PMI_RANK", "SLURM_PROCID"});
}

bool hasSeveralHosts(uint32_t worldSize) {
  const uint64_t here =
      numberOf({"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, worldSize);
  return here < worldSize || numberOf({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}, 1) > 1;
}

bool isStartedAgain() {
  return numberOf({"TORCHELASTIC_RESTART_COUNT"}, 0) > 0 ||
         numberOf({"SLURM_RESTART_COUNT"}, 0) > 0;
}

std::string launcherRunId() {
  const char *file = std::getenv("TORCHELASTIC_ERROR_FILE");
  const std::string path = file ? file : "";
  const size_t end = path.rfind("/attempt_");
  if (end == std::string::npos)
    return "";
  Sha256 hash;
  hash.update(path.data(), end);
  const Digest digest = hash.finish();
  return toHex(digest.data(), 16);
}

std::string firstHost(const std::string &list) {
  const size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket)
    return list.substr(0, comma);
  const size_t close = list.find(']', bracket);
  const size_t number = list.find_first_of("-,]", bracket + 1);
  if (close == std::string::npos || number == bracket + 1)
    return "";
  const std::string end = list.substr(close + 1, list.find(',', close) - close - 1);
  if (end.find('[') != std::string::npos)
    return ""; // a name with two ranges
  return list.substr(0, bracket) + list.substr(bracket + 1, number - bracket - 1) + end;
}

dpc_status_t meetingPlace(std::string *out) {
  constexpr uint64_t kHighestPort = 65535;
  const char *address = std::getenv("MASTER_ADDR"), *port = std::getenv("MASTER_PORT");
  uint64_t number = 0;
  if (port && !parseWhole(port, 1, kHighestPort, &number))
    return fail(DPC_INVALID,
                "environment variable MASTER_PORT is \"%s\", not a number from 1 to 65535", port);
  if (!address || !port)
    *out = slurmPlace();
  else if (std::getenv("TORCHELASTIC_RUN_ID"))
    *out = endpointText(address, static_cast<uint32_t>(number + 1),
                        static_cast<uint32_t>(std::min(number + kPorts, kHighestPort)));
  else
    *out = endpointText(address, static_cast<uint32_t>(number));
  return DPC_OK;
}

} // namespace dpc
