// What goes over the socket between two ranks: frames, each a header and
// perhaps a payload. Short ones overtake data, so that a failure is heard of
// while a large buffer is on its way.
#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_CONNECTION_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_CONNECTION_H

#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/Operation.h"

#include <deque>

namespace dpc::sockets {

enum class FrameKind : uint32_t {
  start,    ///< the sender starts an operation
  data,     ///< a piece of an operation's transfer
  beat,     ///< the sender's process runs
  report,   ///< to rank 0: a failure that the sender has met
  verdict,  ///< the failure that the run ends with
  leave,    ///< the sender starts nothing more
  farewell, ///< answer to `leave`: all that came before it has been read
};

/// The header, in this host's byte order.
struct Frame {
  FrameKind kind;
  uint32_t channel;      ///< start, data: in the numbering of who receives it
  uint64_t sequence;     ///< start, data: of the operation in its channel
  uint64_t offset;       ///< data: where in the transfer the payload belongs
  uint32_t phase;        ///< data: of the operation
  uint32_t bytes;        ///< of the payload after the header
  uint32_t guilty;       ///< report, verdict: a rank; the payload is the text
  uint32_t selfReported; ///< report, verdict: that rank published it
  Announcement said;     ///< start
};
static_assert(sizeof(Frame) == 64);

inline Frame frameOf(FrameKind kind) {
  Frame frame = {};
  frame.kind = kind;
  return frame;
}

/// Who gets what arrives.
class FrameReceiver {
public:
  virtual ~FrameReceiver() = default;
  /// Where the payload of a data frame goes; null: it is no part of the run.
  virtual char *placeFor(uint32_t from, const Frame &frame) = 0;
  /// A whole frame is here; `text` is the payload of a report or a verdict.
  /// False: it is no part of the run.
  virtual bool arrived(uint32_t from, const Frame &frame, const std::string &text) = 0;
};

/// One end of the socket to another rank. Nothing here waits.
class Connection {
public:
  /// Bytes of the text of a report or a verdict.
  static constexpr uint64_t kLongestText = 1024;

  enum class State { open, ended, senseless };

  Connection(uint32_t rank, Fd socket);

  uint32_t rank() const { return peer; }
  int descriptor() const { return socket.get(); }
  bool isOpen() const { return socket.valid(); }

  void send(Frame frame, std::string text = {});
  /// Sends `bytes` from `from` on, which stay as they are until `*sent`, which
  /// counts those that have gone, says so.
  void sendData(Frame frame, const char *from, uint64_t bytes, uint64_t *sent);
  /// Takes back data that has not begun to go.
  void dropData() { data.clear(); }
  bool hasOutput() const { return outgoing || !control.empty() || !data.empty(); }
  /// Writes as much as the socket takes.
  void flush();

  /// Reads what has arrived. `ended`: the peer's end is closed; `senseless`: it
  /// sends what is no part of the run.
  State receive(FrameReceiver &receiver);
  void close() { socket = Fd(); }

  bool left = false;       ///< the peer starts nothing more
  bool farewelled = false; ///< the peer knows that this rank has left
  double heardAt = 0;      ///< when anything last arrived

private:
  struct Data {
    Frame frame;
    const char *from;
    uint64_t bytes;
    uint64_t *sent;
  };
  struct Control {
    Frame frame;
    std::string text;
  };

  void chooseNext();
  void finishFrame();
  bool beginPayload(FrameReceiver &receiver);

  uint32_t peer;
  Fd socket;
  std::deque<Control> control;
  std::deque<Data> data;

  bool outgoing = false; ///< a frame is on its way
  bool outgoingData = false;
  Frame outHeader;
  std::string outText;
  const char *outPayload = nullptr;
  uint64_t outDone = 0;

  Frame inHeader;
  uint64_t inDone = 0;
  std::string inText;
  char *inPayload = nullptr;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_CONNECTION_H
