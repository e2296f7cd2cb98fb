// The sockets between all ranks, and the thread that serves them: it reads and
// writes, computes, beats this rank's heart, and finds out who is gone.
#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_MESH_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_MESH_H

#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/sockets/Connection.h"
#include "runtime/src/comm/sockets/Exchange.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace dpc::sockets {

/// What the run ends with. All ranks tell the same: rank 0 decides which
/// failure was the first, or, where it is gone, each rank for itself.
struct RunFailure {
  uint32_t guilty;
  bool selfReported; ///< the guilty rank published it
  std::string text;
};

class Mesh : private FrameReceiver {
public:
  /// `sockets`: to each rank, not valid for this one.
  Mesh(const dpc_comm_options_t &options, const std::vector<Group> &groups,
       std::vector<Fd> sockets);
  /// Tells the others that this rank starts nothing more, and waits, for two
  /// seconds at most, until they have heard it.
  ~Mesh() override;

  /// Starts an operation that has been checked, and names it.
  dpc_status_t start(const dpc_comm_op_t &op, dpc_request_t *outRequest);
  dpc_status_t wait(dpc_request_t request);
  /// DPC_PEER where the run has failed; waits for nothing.
  dpc_status_t check();
  /// Publishes that this rank failed; true if that is what the run ends with.
  bool abort(const char *reason);
  /// Whether another rank tells the user of the run's failure: the one that
  /// published it, or the lowest of those that only saw it.
  bool isToldElsewhere();

private:
  /// The operations of a group, or of this rank and another one.
  struct Channel {
    std::vector<uint32_t> members;
    uint32_t self;
    bool onPair;
    uint64_t started = 0;                ///< by this rank
    std::map<uint64_t, Exchange> open{}; ///< not waited for yet, by sequence
  };

  uint32_t toRank(uint32_t rank) const { return groupCount + rank; }
  uint32_t fromRank(uint32_t rank) const { return groupCount + worldSize + rank; }
  uint32_t memberOf(uint32_t channel, uint32_t peer) const;
  Exchange &exchangeAt(Channel &channel, uint64_t sequence);

  void advance(uint32_t channel, uint64_t sequence, Exchange &exchange);
  void sendPhase(uint32_t channel, uint64_t sequence, Exchange &exchange);
  Transfer *transferOf(uint32_t from, const Frame &frame);
  char *placeFor(uint32_t from, const Frame &frame) override;
  bool arrived(uint32_t from, const Frame &frame, const std::string &text) override;
  bool startArrived(uint32_t from, const Frame &frame);

  void publish(RunFailure failure);
  void settle(RunFailure failure);
  dpc_status_t failure() const;
  std::string lateness(const Exchange &exchange, uint32_t late, const std::string &what) const;

  void sendToAll(Frame frame, const std::string &text = {});
  void flush();
  void wakeThread();
  void run();
  void receiveFrom(Connection &connection);
  void tick(double passed);

  const uint32_t rank, worldSize, groupCount;
  const double timeoutSeconds, frozenSeconds;

  std::mutex mutex; ///< of all that follows
  std::condition_variable changed;
  std::vector<Channel> channels;       ///< groups, then to and from each rank
  std::vector<Connection> connections; ///< by rank
  std::optional<RunFailure> verdict;
  std::optional<RunFailure> reported; ///< to rank 0, which has not answered yet
  double runSeconds = 0;              ///< of this process: none pass while it is stopped
  double answerDue = 0;               ///< in run seconds, when something is reported
  double lastBeat = 0;                ///< in run seconds
  bool hasEnded = false;
  Fd wake; ///< eventfd
  std::thread thread;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_MESH_H
