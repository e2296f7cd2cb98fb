#ifndef DPC_RUNTIME_SRC_SESSION_LAUNCHERS_H
#define DPC_RUNTIME_SRC_SESSION_LAUNCHERS_H

#include "dpc/status.h"

#include <cstdint>
#include <initializer_list>
#include <string>

namespace dpc {

/// What the environment says about ranks that another launcher than dpc-run has started.
/// The variables are documented by torchrun, Open MPI, MPICH and Slurm.

/// The value of the first of these variables that is set, and its name. Null if none is set.
const char *firstSet(std::initializer_list<const char *> names, const char **outName = nullptr);

/// Whether the ranks are on several hosts. False if no variable says so.
bool hasSeveralHosts(uint32_t worldSize);

/// Where ranks with a token meet, an endpoint (Endpoint.h): at MASTER_ADDR and MASTER_PORT, or
/// under Slurm on the first host of the step, at a port that derives from the numbers of job and
/// step. torchrun's own store listens at MASTER_PORT, so under torchrun the ranks meet at one of
/// the next 16 ports. Slurm's jobs may share a host, so they have 16 ports too. "" if no variable
/// names a place. Returns DPC_INVALID if a value is malformed.
dpc_status_t meetingPlace(std::string *out);

/// Whether torchrun or Slurm has started this rank before, after a failure. torchrun says so only
/// on the host of the rank that has failed.
bool isStartedAgain();

/// Whether no launcher has started this rank, by the variables of those that are known. What such a
/// rank prints is read in a terminal or log of its own.
bool isStartedByHand();

/// 32 hex digits that are equal for all starts that one torchrun makes of the ranks of a host, and
/// different for other runs. They derive from the name of torchrun's folder of logs. "" if the
/// launcher does not tell one run from another.
std::string launcherRunId();

/// The first host of Slurm's list of hosts: "node03" of "node[03-05,09],login1". "" for a
/// malformed list.
std::string firstHost(const std::string &list);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_LAUNCHERS_H
