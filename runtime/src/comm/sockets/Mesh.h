// The sockets between this rank and all other ranks, and the thread that serves
// them. The thread reads and writes sockets, computes reductions, sends this rank's
// heartbeat, and notices ranks that died or are frozen.
#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_MESH_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_MESH_H

#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/sockets/Connection.h"
#include "runtime/src/comm/sockets/Exchange.h"
#include "runtime/src/comm/sockets/MeshHost.h"
#include "runtime/src/comm/wires/Wire.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace dpc::sockets {

/// The failure with which the run ends. All ranks end with the same failure,
/// because rank 0 decides which one was first. If rank 0 is gone or does not
/// answer, each rank decides for itself.
struct RunFailure {
  uint32_t guilty;
  bool selfReported; ///< the guilty rank itself published the failure
  std::string text;
};

class Mesh : private FrameReceiver, private wires::WireListener {
public:
  /// `sockets` has one socket per rank; the socket of this rank is invalid. `wire` moves the
  /// data of operations; if it is null, the data moves over the sockets. `host` is null if this
  /// rank shares no memory; it must live longer than the mesh.
  Mesh(const dpc_comm_options_t &options, const std::vector<Group> &groups, std::vector<Fd> sockets,
       std::unique_ptr<wires::Wire> wire, MeshHost *host);
  /// Leaves the run, if leave() was not called.
  ~Mesh() override;
  /// Tells the other ranks that this rank starts no further operations. Waits at
  /// most two seconds for their confirmations. Returns DPC_PEER if another rank
  /// has failed and this rank reports it to the user.
  dpc_status_t leave();

  /// Starts an operation and returns its request. The caller must have checked the
  /// operation.
  dpc_status_t start(const dpc_comm_op_t &op, dpc_request_t *outRequest);
  dpc_status_t wait(dpc_request_t request);
  /// Whether wait() would return at once. Does not wait.
  bool isComplete(dpc_request_t request);
  /// Returns DPC_PEER if the run has failed, else DPC_OK. Does not wait.
  dpc_status_t check();
  /// Publishes that this rank failed. Returns true if the run ends with this
  /// failure, and false if it ends with an earlier one.
  bool abort(const char *reason);
  /// Whether another rank reports the run's failure to the user. If the guilty rank
  /// published its own failure, it reports the failure. Otherwise the lowest rank
  /// reports it, not counting the guilty rank, ranks whose connection ended
  /// without a `leave`, and ranks of which nothing is heard.
  bool isToldElsewhere();

  // For operations between ranks that share memory; see local/Peers.h.
  dpc_status_t stop(uint32_t guilty, const std::string &text);
  void tellWait(uint32_t late);
  uint32_t waitOf(uint32_t rank);
  bool hasLeft(uint32_t rank);

private:
  /// The operations of a group, or the messages from one rank to another.
  struct Channel {
    std::vector<uint32_t> members;
    uint32_t self;
    bool onPair;
    uint64_t started = 0;              ///< number of operations that this rank has started
    std::vector<uint64_t> announced{}; ///< the same of each other member, by its announcements
    /// The operations that some member has started and for which wait() has not
    /// returned on this rank, by sequence number.
    std::map<uint64_t, Exchange> open{};
  };

  /// A piece of a transfer that the wire moves.
  struct Piece {
    uint32_t channel;
    uint64_t sequence;
    Transfer *transfer;
    uint64_t bytes;
  };

  uint32_t toRank(uint32_t rank) const { return groupCount + rank; }
  uint32_t fromRank(uint32_t rank) const { return groupCount + worldSize + rank; }
  uint32_t memberOf(uint32_t channel, uint32_t peer) const;
  Exchange &exchangeAt(Channel &channel, uint64_t sequence);

  void advance(uint32_t channel, uint64_t sequence, Exchange &exchange);
  void sendPhase(uint32_t channel, uint64_t sequence, Exchange &exchange);
  void offer(Frame frame, uint32_t channel, Transfer &transfer);
  bool offerArrived(uint32_t from, const Frame &frame);
  bool lendArrived(uint32_t from, const Frame &frame);
  bool takenArrived(uint32_t from, const Frame &frame);
  void moved(const std::vector<uint64_t> &tickets) override;
  void broke(const std::string &reason) override;
  bool leaveTogether();
  bool moves(FrameKind kind, uint32_t peer) const;
  Transfer *transferOf(uint32_t from, const Frame &frame);
  char *placeFor(uint32_t from, const Frame &frame) override;
  bool arrived(uint32_t from, const Frame &frame, const std::string &text) override;
  bool startArrived(uint32_t from, const Frame &frame);
  bool failureArrived(uint32_t from, const Frame &frame, const std::string &text);

  dpc_status_t waitUntilComplete(std::unique_lock<std::mutex> &lock, const Channel &channel,
                                 const Exchange &exchange);
  bool isStill(uint32_t peer) const;
  std::string silenceOf(uint32_t peer) const;
  uint32_t knownWaitOf(uint32_t r) const;
  void tellChange();

  void publish(RunFailure failure);
  bool publishAndWait(std::unique_lock<std::mutex> &lock, RunFailure failure);
  void settle(RunFailure failure);
  dpc_status_t failure() const;

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
  StagingPool staging;                 ///< used by the operations of `channels`
  std::vector<Channel> channels;       ///< one per group, then one for messages to each rank, then
                                       ///< one for messages from each rank
  std::vector<Connection> connections; ///< indexed by rank
  std::vector<std::string> places;     ///< by rank: the address of its host; "" for this host
  std::optional<RunFailure> verdict;
  std::optional<RunFailure> reported; ///< the failure that this rank has reported to rank 0
  double runSeconds = 0;              ///< running time of this process, excluding stops
  double answerDue = 0;               ///< in run seconds; valid while `reported` is set
  double lastBeat = 0;                ///< in run seconds
  uint32_t waitsFor = DPC_NONE;       ///< the rank that this rank has waited for since half the
                                      ///< timeout
  std::map<uint64_t, Piece> pieces;   ///< by ticket
  uint64_t nextTicket = 0;
  bool isLeaving = false; ///< this rank has sent `leave`
  bool hasEnded = false;
  Fd wake;                           ///< eventfd
  std::unique_ptr<wires::Wire> wire; ///< null: data moves over the sockets
  MeshHost *const host;              ///< null: this rank shares no memory
  std::thread thread;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_MESH_H
