#ifndef DPC_RUNTIME_SRC_COMM_WIRES_WIRE_H
#define DPC_RUNTIME_SRC_COMM_WIRES_WIRE_H

#include "dpc/status.h"
#include "runtime/src/base/Fd.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc::wires {

/// A listener learns which moves a wire has completed. The wire calls it from a thread of its own.
class WireListener {
public:
  virtual ~WireListener() = default;
  /// These sends and receives are complete.
  virtual void moved(const std::vector<uint64_t> &tickets) = 0;
  /// The wire cannot be used any more.
  virtual void broke(const std::string &reason) = 0;
};

/// Moves bytes between this rank and the others through an engine, for example MPI, and
/// does nothing else. The sockets between the ranks carry everything that describes the
/// bytes, and notice ranks that die. So a wire needs no messages of its own, no heartbeat
/// and no time limit.
///
/// The n-th send to a rank meets the n-th receive of that rank from this one, and both
/// have the same number of bytes. Only close() waits.
class Wire {
public:
  virtual ~Wire() = default;
  virtual const char *name() const = 0;
  /// Tells the wires of the other ranks what they need to connect to this one. `sockets` has a
  /// connection to each other rank, on which nothing else is under way. Every rank calls it once,
  /// before attach(), if there are other ranks.
  virtual dpc_status_t meet(const std::vector<Fd> &sockets) = 0;
  /// The wire reports completed moves to `listener` from now on.
  virtual void attach(WireListener &listener) = 0;
  /// The memory must stay as it is until the listener gets the ticket.
  virtual void send(uint32_t rank, uint64_t ticket, const char *from, uint64_t bytes) = 0;
  virtual void receive(uint32_t rank, uint64_t ticket, char *to, uint64_t bytes) = 0;
  /// Ends the wire. Afterwards the listener learns nothing, and no memory is used. If
  /// `isClean`, all ranks close it, and nothing is under way. Otherwise the run has failed.
  /// Returns false if a thread of the engine cannot be ended: then the wire must stay as it
  /// is until the process ends.
  virtual bool close(bool isClean) = 0;
};

} // namespace dpc::wires

#endif // DPC_RUNTIME_SRC_COMM_WIRES_WIRE_H
