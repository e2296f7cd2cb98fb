// The protocol of the socket between two ranks. They send frames: a frame is a
// header with an optional payload. Short frames overtake frames with data, so that
// a peer learns of a failure even while a large buffer is being sent.
#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_CONNECTION_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_CONNECTION_H

#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/Operation.h"

#include <deque>

namespace dpc::sockets {

enum class FrameKind : uint32_t {
  start,    ///< the sender starts an operation
  data,     ///< a piece of the data of an operation
  offer,    ///< the sender sends a piece of data over the wire, which is the next one there
  lend,     ///< the receiver can copy the data of a transfer from memory that both ranks share
  taken,    ///< the sender has copied the data that the receiver of this frame lent
  beat,     ///< heartbeat: the sender's process is running
  report,   ///< to rank 0: a failure that the sender noticed
  verdict,  ///< the failure with which the run ends
  leave,    ///< the sender starts no further operations
  farewell, ///< answer to `leave`: the sender has read all frames before the `leave`
};

/// The header of a frame, in this host's byte order.
struct Frame {
  FrameKind kind;
  uint32_t channel;  ///< of start, data, offer, lend and taken: the channel's index on the
                     ///< receiver (see Mesh.h)
  uint64_t sequence; ///< of the same: sequence number of the operation in its channel
  uint64_t offset;   ///< data, offer: offset of the piece in the transfer, in bytes; lend: place
                     ///< of the data (see MeshHost.h)
  uint32_t phase;    ///< data, offer, lend, taken: phase of the operation
  uint32_t bytes;    ///< length of the payload, which follows the header
  uint32_t guilty;   ///< report, verdict: the rank at fault; the payload is the message
  uint32_t selfReported; ///< report, verdict: 1 if the rank at fault published the failure
  uint32_t waitsFor;     ///< beat: the rank that the sender waits for, else DPC_NONE (see Mesh.h)
  uint32_t length;       ///< offer: bytes of the piece
  Announcement said;     ///< start: the description of the operation
};
static_assert(sizeof(Frame) == 72);

inline Frame frameOf(FrameKind kind) {
  Frame frame = {};
  frame.kind = kind;
  return frame;
}

/// Handles the frames that arrive on connections.
class FrameReceiver {
public:
  virtual ~FrameReceiver() = default;
  /// Returns the memory for the payload of a data frame, or null if the frame is
  /// invalid, for example because its operation is unknown.
  virtual char *placeFor(uint32_t from, const Frame &frame) = 0;
  /// Called when a frame has arrived completely. `text` is the payload of a report
  /// or a verdict. Returns false if the frame is invalid.
  virtual bool arrived(uint32_t from, const Frame &frame, const std::string &text) = 0;
};

/// One end of the socket to another rank. None of its functions waits.
class Connection {
public:
  /// The text of a report or a verdict has at most this many bytes.
  static constexpr uint64_t kLongestText = 1024;
  /// Longest payload of a data frame. It limits how long other frames must wait.
  static constexpr uint64_t kLongestPiece = 256u << 10;

  enum class State { open, ended, senseless };

  Connection(uint32_t rank, Fd socket);

  uint32_t rank() const { return peer; }
  int descriptor() const { return socket.get(); }
  bool isOpen() const { return socket.valid(); }

  void send(Frame frame, std::string text = {});
  /// Queues the `bytes` bytes from `from` on. `*sent` then counts the bytes that have
  /// been sent. The bytes must not change until `*sent` equals `bytes`.
  void sendData(Frame frame, const char *from, uint64_t bytes, uint64_t *sent);
  /// Drops queued data frames whose sending has not begun. The one whose sending has begun no
  /// longer counts.
  void dropData() {
    data.clear();
    outgoingData = false;
  }
  bool hasOutput() const { return outgoing || !control.empty() || !data.empty(); }
  /// Whether frames without data wait, because the peer takes none.
  bool hasWaitingFrames() const { return !control.empty(); }
  /// Writes queued frames until the socket accepts no more bytes.
  void flush();

  /// Reads the frames that have arrived. Returns `ended` if the peer has closed its
  /// end of the socket, and `senseless` if the peer sent an invalid frame.
  State receive(FrameReceiver &receiver);
  /// Closes the socket. What waits to be sent is dropped, and so are later frames.
  void close();

  bool left = false;            ///< the peer has sent `leave`: it starts no further operations
  bool farewelled = false;      ///< the peer has sent `farewell`, its answer to this rank's `leave`
  double heardAt = 0;           ///< time of the latest arrival of any data
  uint32_t waitsFor = DPC_NONE; ///< the rank that the peer waits for, by its latest heartbeat

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

  bool outgoing = false; ///< a frame has been chosen but not sent completely
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
