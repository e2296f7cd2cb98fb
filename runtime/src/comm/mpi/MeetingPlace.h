#ifndef DPC_RUNTIME_SRC_COMM_MPI_MEETINGPLACE_H
#define DPC_RUNTIME_SRC_COMM_MPI_MEETINGPLACE_H

#include "dpc/comm.h"
#include "runtime/src/comm/mpi/MpiWire.h"

#include <string>

namespace dpc::mpi {

/// The strings to which options of a meeting point.
struct MeetingPlace {
  std::string rendezvous, token;
};

/// If `options` name no place, rank 0 makes one, and tells it the others through MPI: it
/// listens on an address of its host, and makes a token. `place` must live as long as
/// `options`. Collective.
dpc_status_t findMeetingPlace(MpiWire &wire, dpc_comm_options_t *options, MeetingPlace *place);

/// An address of this host that other hosts can reach, as a number: the first one that is not a
/// loopback address, those of IPv4 first. "" if there is none.
std::string outerAddress();

} // namespace dpc::mpi

#endif // DPC_RUNTIME_SRC_COMM_MPI_MEETINGPLACE_H
