#ifndef DPC_RUNTIME_SRC_COMM_MPI_MPIWIRE_H
#define DPC_RUNTIME_SRC_COMM_MPI_MPIWIRE_H

#include "dpc/status.h"
#include "runtime/src/comm/mpi/Library.h"
#include "runtime/src/comm/wires/Wire.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dpc::mpi {

/// Moves bytes by MPI, between two ranks at a time. One thread makes all calls of MPI, so that
/// MPI needs no support for threads. The thread sleeps while nothing is under way, and yields
/// while it waits, because it may share a core with other ranks.
class MpiWire : public wires::Wire {
public:
  ~MpiWire() override;
  /// Initializes MPI, unless the program has done it. Returns DPC_USAGE if no mpirun has started
  /// this process, DPC_INVALID if MPI is missing, or if it counts the ranks in another way, and
  /// DPC_PEER if MPI does not connect the ranks in time.
  dpc_status_t open(uint32_t rank, uint32_t worldSize);
  /// Gives all ranks the bytes of rank 0. Every rank must call it, before attach().
  dpc_status_t broadcast(void *data, size_t bytes);

  const char *name() const override { return "mpi"; }
  /// MPI has connected the ranks before they met.
  dpc_status_t meet(const std::vector<Fd> &) override { return DPC_OK; }
  void attach(wires::WireListener &listener) override;
  void send(uint32_t rank, uint64_t ticket, const char *from, uint64_t bytes) override;
  void receive(uint32_t rank, uint64_t ticket, char *to, uint64_t bytes) override;
  bool close(bool isClean) override;

private:
  struct Move {
    uint32_t rank;
    uint64_t ticket;
    char *at;
    uint64_t bytes;
    bool isSend;
    Handle request;
  };

  dpc_status_t initialize(uint32_t rank, uint32_t worldSize);
  int begin(Move &move);
  void run();
  dpc_status_t perform(const char *what, std::function<dpc_status_t()> task);
  bool advance();

  Library library;
  Handle communicator = 0;
  bool isOwner = false; ///< this wire has initialized MPI, and finalizes it

  std::mutex mutex; ///< protects the members below
  std::condition_variable changed;
  std::deque<Move> posted;
  // A call of MPI that does not end stays in the thread, so all that it uses belongs to the wire.
  std::function<dpc_status_t()> task;
  dpc_status_t taskStatus = DPC_OK;
  std::string taskReason;
  std::vector<char> shared; ///< the bytes of broadcast()
  wires::WireListener *listener = nullptr;
  bool isEnding = false, isClean = false, hasEnded = false;

  std::vector<Move> active; ///< of the thread alone
  std::thread thread;
};

} // namespace dpc::mpi

#endif // DPC_RUNTIME_SRC_COMM_MPI_MPIWIRE_H
