// The protocol of the socket between two ranks: frames, each a header with an
// optional payload. Short frames overtake data, so that a failure is known
// while a large buffer is being sent.
#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_CONNECTION_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_CONNECTION_H

#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/Operation.h"

#include <deque>

namespace dpc::sockets {

enum class FrameKind : uint32_t {
  start,    ///< the sender starts an operation
  data,     ///< a piece of an operation's transfer
  beat,     ///< heartbeat: the sender's process is running
  report,   ///< to rank 0: a failure that the sender noticed
  verdict,  ///< the failure with which the run ends
  leave,    ///< the sender starts no further operations
  farewell, ///< answer to `leave`: all frames before it have been read
};

/// The header, in this host's byte order.
struct Frame {
  FrameKind kind;
  uint32_t channel;      ///< start, data: index in the receiver's numbering of channels
  uint64_t sequence;     ///< start, data: number of the operation in its channel
  uint64_t offset;       ///< data: position of the payload in the transfer
  uint32_t phase;        ///< data: phase of the operation
  uint32_t bytes;        ///< length of the payload, which follows the header
  uint32_t guilty;       ///< report, verdict: the rank at fault; the payload is the message
  uint32_t selfReported; ///< report, verdict: that rank published it
  Announcement said;     ///< start
};
static_assert(sizeof(Frame) == 64);

inline Frame frameOf(FrameKind kind) {
  Frame frame = {};
  frame.kind = kind;
  return frame;
}

/// The receiver of the frames that arrive on connections.
class FrameReceiver {
public:
  virtual ~FrameReceiver() = default;
  /// The memory for the payload of a data frame; null if the frame does not
  /// belong to the run.
  virtual char *placeFor(uint32_t from, const Frame &frame) = 0;
  /// Called when a frame has arrived completely; `text` is the payload of a
  /// report or a verdict. False if the frame does not belong to the run.
  virtual bool arrived(uint32_t from, const Frame &frame, const std::string &text) = 0;
};

/// One end of the socket to another rank. No function here waits.
class Connection {
public:
  /// Most bytes of the text of a report or a verdict.
  static constexpr uint64_t kLongestText = 1024;

  enum class State { open, ended, senseless };

  Connection(uint32_t rank, Fd socket);

  uint32_t rank() const { return peer; }
  int descriptor() const { return socket.get(); }
  bool isOpen() const { return socket.valid(); }

  void send(Frame frame, std::string text = {});
  /// Sends `bytes` bytes that begin at `from`. They must not change until
  /// `*sent`, which counts the sent bytes, equals `bytes`.
  void sendData(Frame frame, const char *from, uint64_t bytes, uint64_t *sent);
  /// Drops queued data that has not been sent.
  void dropData() { data.clear(); }
  bool hasOutput() const { return outgoing || !control.empty() || !data.empty(); }
  /// Writes as much as the socket accepts.
  void flush();

  /// Reads all frames that have arrived. `ended`: the peer has closed its end.
  /// `senseless`: the peer sent data that does not belong to the run.
  State receive(FrameReceiver &receiver);
  void close() { socket = Fd(); }

  bool left = false;       ///< the peer starts no further operations
  bool farewelled = false; ///< the peer has confirmed that this rank leaves
  double heardAt = 0;      ///< time of the latest arrival of any data

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

  bool outgoing = false; ///< a frame has been sent in part
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
