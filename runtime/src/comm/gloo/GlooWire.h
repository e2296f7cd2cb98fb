#ifndef DPC_RUNTIME_SRC_COMM_GLOO_GLOOWIRE_H
#define DPC_RUNTIME_SRC_COMM_GLOO_GLOOWIRE_H

#include "dpc/comm.h"
#include "runtime/src/comm/gloo/Table.h"
#include "runtime/src/comm/wires/Wire.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dpc::gloo {

/// Moves bytes through Gloo. Gloo tells nobody that a message is complete; a thread must wait for
/// it. So each direction of each pair of ranks that communicates has a thread, and moves of
/// different pairs complete independently. A further thread connects the ranks, and finds
/// connections that have broken.
class GlooWire : public wires::Wire {
public:
  GlooWire() = default;
  GlooWire(const GlooWire &) = delete;
  GlooWire &operator=(const GlooWire &) = delete;
  ~GlooWire() override;
  /// Opens the library. Returns DPC_INVALID if it is missing.
  dpc_status_t open(const dpc_comm_options_t &options);

  const char *name() const override { return "gloo"; }
  dpc_status_t meet(const std::vector<Fd> &sockets) override;
  void attach(wires::WireListener &listener) override;
  void send(uint32_t peer, uint64_t ticket, const char *from, uint64_t bytes) override;
  void receive(uint32_t peer, uint64_t ticket, char *to, uint64_t bytes) override;
  bool close(bool isClean) override;

private:
  struct Move {
    uint64_t ticket;
    char *at;
    uint64_t bytes;
    EngineMove *handle; ///< null until it is posted
  };

  /// The moves from this rank to another one, or from that rank to this one. Gloo completes them in
  /// their order.
  struct Lane {
    uint32_t peer;
    bool isSend;
    std::deque<Move> moves;
    size_t posted = 0;      ///< of `moves`, from the front
    bool isWaiting = false; ///< for the first of `moves`
    uint64_t suspect = 0;   ///< the ticket that waited when the connection was found broken
    std::condition_variable changed;
    std::thread thread;
  };

  dpc_status_t listen(const std::vector<Fd> &sockets, std::vector<Place> *outPlaces);
  std::unique_ptr<Lane> &laneOf(uint32_t peer, bool isSend) {
    return lanes[isSend ? peer : worldSize + peer];
  }
  void enqueue(uint32_t peer, bool isSend, const Move &move);
  void serve(Lane &lane);
  void watch();
  void connectAll();
  void findBroken(std::unique_lock<std::mutex> &lock);
  void breakDown(uint32_t peer, const std::string &reason);

  const Table *table = nullptr;
  Engine *engine = nullptr; ///< null before meet()
  uint32_t rank = 0, worldSize = 1;
  std::string listenAt;      ///< a number or name that the user gave, or ""
  std::vector<Place> places; ///< by rank: where it listens for this one
  wires::WireListener *listener = nullptr;

  std::mutex mutex; ///< protects the members below
  std::condition_variable changed;
  std::vector<std::unique_ptr<Lane>> lanes; ///< by rank: sends, then receives; null: none yet
  uint32_t tried = 0; ///< the ranks below it are connected with this one, or cannot be
  std::vector<std::string> failures; ///< by rank: why it cannot be connected, or ""
  std::string broken;                ///< why the wire cannot be used any more, or ""
  bool isEnding = false;
  std::thread watcher;
};

} // namespace dpc::gloo

#endif // DPC_RUNTIME_SRC_COMM_GLOO_GLOOWIRE_H
