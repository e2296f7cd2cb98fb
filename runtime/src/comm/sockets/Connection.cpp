// Sends and receives frames over a socket without ever waiting. Data is sent in
// short pieces, and other frames may be sent between two pieces.

#include "runtime/src/comm/sockets/Connection.h"

#include "runtime/src/base/Sockets.h"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace dpc::sockets {

namespace {

/// After this many bytes from one connection, the thread reads the others.
constexpr uint64_t kLongestRead = 4u << 20;

} // namespace

Connection::Connection(uint32_t rank, Fd given) : peer(rank), socket(std::move(given)) {
  sendAtOnce(socket.get());
}

void Connection::close() {
  socket = Fd();
  control.clear();
  data.clear();
  outgoing = false;
}

void Connection::send(Frame frame, std::string text) {
  if (!isOpen())
    return;
  frame.bytes = static_cast<uint32_t>(text.size());
  control.push_back({frame, std::move(text)});
}

void Connection::sendData(Frame frame, const char *from, uint64_t bytes, uint64_t *sent) {
  if (isOpen())
    data.push_back({frame, from, bytes, sent});
}

void Connection::chooseNext() {
  outgoing = true;
  outDone = 0;
  outgoingData = control.empty();
  if (!outgoingData) {
    outHeader = control.front().frame;
    outText = std::move(control.front().text);
    outPayload = outText.data();
    control.pop_front();
    return;
  }
  const Data &next = data.front();
  outHeader = next.frame;
  outHeader.offset = *next.sent;
  outHeader.bytes = static_cast<uint32_t>(std::min(next.bytes - *next.sent, kLongestPiece));
  outPayload = next.from + *next.sent;
}

void Connection::finishFrame() {
  outgoing = false;
  if (!outgoingData)
    return;
  const Data &first = data.front();
  *first.sent += outHeader.bytes;
  if (*first.sent == first.bytes)
    data.pop_front();
}

void Connection::flush() {
  while (isOpen() && hasOutput()) {
    if (!outgoing)
      chooseNext();
    const uint64_t header = std::min<uint64_t>(outDone, sizeof outHeader),
                   payload = outDone - header;
    iovec parts[2] = {{reinterpret_cast<char *>(&outHeader) + header, sizeof outHeader - header},
                      {const_cast<char *>(outPayload) + payload, outHeader.bytes - payload}};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0)
      return; // the socket is full, or it is broken, which receive() will notice
    outDone += static_cast<uint64_t>(sent);
    if (outDone == sizeof outHeader + outHeader.bytes)
      finishFrame();
  }
}

/// Called when the header of a frame has arrived: chooses the memory for the
/// payload. Returns false if the frame is invalid.
bool Connection::beginPayload(FrameReceiver &receiver) {
  inText.clear();
  inPayload = nullptr;
  switch (inHeader.kind) {
  case FrameKind::data:
    if (inHeader.bytes == 0 || inHeader.bytes > kLongestPiece)
      return false;
    inPayload = receiver.placeFor(peer, inHeader);
    return inPayload != nullptr;
  case FrameKind::report:
  case FrameKind::verdict:
    if (inHeader.bytes > kLongestText)
      return false;
    inText.resize(inHeader.bytes);
    inPayload = inText.data();
    return true;
  default:
    return inHeader.bytes == 0;
  }
}

Connection::State Connection::receive(FrameReceiver &receiver) {
  for (uint64_t read = 0; read < kLongestRead;) {
    const bool inHead = inDone < sizeof inHeader;
    const uint64_t wanted =
        inHead ? sizeof inHeader - inDone : sizeof inHeader + inHeader.bytes - inDone;
    char *to = inHead ? reinterpret_cast<char *>(&inHeader) + inDone
                      : inPayload + (inDone - sizeof inHeader);
    const ssize_t got = ::recv(socket.get(), to, wanted, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return State::open;
    if (got <= 0)
      return State::ended;
    inDone += static_cast<uint64_t>(got);
    read += static_cast<uint64_t>(got);
    if (inHead && inDone == sizeof inHeader && !beginPayload(receiver))
      return State::senseless;
    if (inDone == sizeof inHeader + inHeader.bytes) {
      inDone = 0;
      if (!receiver.arrived(peer, inHeader, inText))
        return State::senseless;
    }
  }
  return State::open;
}

} // namespace dpc::sockets
