// Sends and receives the messages between launchers: a header, and a payload.

#include "runtime/src/launch/NodeLink.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Sockets.h"

#include <cerrno>
#include <sys/socket.h>

namespace dpc {

namespace {
constexpr uint32_t kMagic = 0x6e637064;
/// A longer message is not one of ours. It holds the records of 1,024 nodes.
constexpr uint32_t kMostBytes = 1 << 20;

struct Header {
  uint32_t magic;
  NodeMessageKind kind;
  uint32_t bytes;
};
} // namespace

NodeLink::NodeLink(Fd connection) : fd(std::move(connection)) {
  sendAtOnce(fd.get());
  restartSilence();
}

void NodeLink::restartSilence() { latest = monotonicSeconds(); }

void NodeLink::send(NodeMessageKind kind, const void *payload, size_t bytes) {
  if (isLost())
    return;
  const Header header = {kMagic, kind, static_cast<uint32_t>(bytes)};
  std::vector<char> message(sizeof header + bytes);
  std::memcpy(message.data(), &header, sizeof header);
  if (bytes)
    std::memcpy(message.data() + sizeof header, payload, bytes);
  if (!sendAll(fd.get(), message.data(), message.size(), monotonicSeconds() + kSendSeconds))
    close();
}

void NodeLink::finishSending() {
  if (!isLost())
    ::shutdown(fd.get(), SHUT_WR);
}

void NodeLink::drain(double deadline) {
  char byte;
  while (!isLost() && receiveAll(fd.get(), &byte, 1, deadline))
    ;
}

bool NodeLink::take(NodeMessage *out) {
  Header header;
  if (received.size() < sizeof header)
    return false;
  std::memcpy(&header, received.data(), sizeof header);
  if (header.magic != kMagic || header.bytes > kMostBytes) {
    refuse();
    return false;
  }
  const size_t whole = sizeof header + header.bytes;
  if (received.size() < whole)
    return false;
  out->kind = header.kind;
  out->payload.assign(received.begin() + sizeof header,
                      received.begin() + static_cast<ptrdiff_t>(whole));
  restartSilence();
  received.erase(received.begin(), received.begin() + static_cast<ptrdiff_t>(whole));
  return true;
}

bool NodeLink::receive(NodeMessage *out) {
  while (!take(out)) {
    if (isLost())
      return false;
    char buffer[4096];
    const ssize_t n = ::recv(fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      return false;
    if (n <= 0) {
      close();
      return false;
    }
    received.insert(received.end(), buffer, buffer + n);
  }
  return true;
}

} // namespace dpc
