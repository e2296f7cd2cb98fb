// The sockets between all ranks, and the thread that serves them. The thread
// reads, writes, computes, sends this rank's heartbeat, and notices ranks that
// are gone.
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

/// The failure with which the run ends. All ranks report the same one: rank 0
/// decides which failure was first. If rank 0 is gone, each rank decides for
/// itself.
struct RunFailure {
  uint32_t guilty;
  bool selfReported; ///< the guilty rank published it
  std::string text;
};

class Mesh : private FrameReceiver {
public:
  /// `sockets`: one per rank; the one for this rank is invalid.
  Mesh(const dpc_comm_options_t &options, const std::vector<Group> &groups,
       std::vector<Fd> sockets);
  /// Tells the other ranks that this one starts no further operations, and
  /// waits for their confirmation for at most two seconds.
  ~Mesh() override;

  /// Starts an operation, which has been checked, and returns its request.
  dpc_status_t start(const dpc_comm_op_t &op, dpc_request_t *outRequest);
  dpc_status_t wait(dpc_request_t request);
  /// DPC_PEER if the run has failed. Returns at once.
  dpc_status_t check();
  /// Publishes that this rank failed; true if the run ends with this failure.
  bool abort(const char *reason);
  /// Whether another rank reports the run's failure to the user: the rank that
  /// published it, or else the lowest rank among those that only noticed it.
  bool isToldElsewhere();

private:
  /// The operations of a group, or of this rank with another one.
  struct Channel {
    std::vector<uint32_t> members;
    uint32_t self;
    bool onPair;
    uint64_t started = 0;                ///< number of operations that this rank has started
    std::map<uint64_t, Exchange> open{}; ///< operations not waited for yet, by sequence number
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

  std::mutex mutex; ///< protects all members below
  std::condition_variable changed;
  std::vector<Channel> channels;       ///< per group, then to each rank, then from each rank
  std::vector<Connection> connections; ///< indexed by rank
  std::optional<RunFailure> verdict;
  std::optional<RunFailure> reported; ///< sent to rank 0, whose verdict has not arrived
  double runSeconds = 0;              ///< running time of this process, excluding stops
  double answerDue = 0;               ///< in run seconds; valid while `reported` is set
  double lastBeat = 0;                ///< in run seconds
  bool hasEnded = false;
  Fd wake; ///< eventfd
  std::thread thread;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_MESH_H
