// Messages between the launchers of a run on several hosts.
#ifndef DPC_RUNTIME_SRC_LAUNCH_NODELINK_H
#define DPC_RUNTIME_SRC_LAUNCH_NODELINK_H

#include "runtime/src/base/Fd.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace dpc {

enum class NodeMessageKind : uint32_t {
  alive = 1, ///< the sender's launcher works
  prepared,  ///< node 0 gets a NodeRecord: the sender is ready to start its ranks
  start,     ///< node 0 sends a RunRecord and the NodeRecords of all nodes
  cause,     ///< node 0 gets a NodeCause: why the run ends, in the view of the sender
  verdict,   ///< node 0 sends the NodeCause that all nodes report
  ended,     ///< node 0 gets nothing else: all ranks of the sender have ended
  finish,    ///< node 0 sends a FinishRecord: all ranks of all nodes have ended
};

struct NodeMessage {
  NodeMessageKind kind{};
  std::vector<char> payload;

  /// Reads a record from the payload. False if the payload has another size.
  template <typename Record> bool read(Record *out) const {
    static_assert(std::is_trivially_copyable_v<Record>);
    if (payload.size() != sizeof *out)
      return false;
    std::memcpy(out, payload.data(), sizeof *out);
    return true;
  }
};

/// A connection to the launcher of another node. Reads never wait. Sends wait at most
/// kSendSeconds. After an error or the end of the stream, the link is lost.
class NodeLink {
public:
  static constexpr double kSendSeconds = 2;

  NodeLink() = default;
  /// Messages leave at once: one that waits until an earlier one is acknowledged may come after
  /// the other node has given up.
  explicit NodeLink(Fd connection);

  bool isLost() const { return !fd.valid(); }
  /// Whether the link is lost because the other launcher has sent what is no message.
  bool isSenseless() const { return senseless; }
  int descriptor() const { return fd.get(); }
  /// Time of the latest complete message, on the clock monotonicSeconds().
  double heardAt() const { return latest; }
  /// Counts as a sign of life too: a node is not silent before the first message is due.
  void restartSilence();

  void send(NodeMessageKind kind, const void *payload, size_t bytes);
  template <typename Record> void send(NodeMessageKind kind, const Record &record) {
    static_assert(std::is_trivially_copyable_v<Record>);
    send(kind, &record, sizeof record);
  }
  /// Gets the next message that has arrived completely. False if there is none.
  bool receive(NodeMessage *out);
  void close() { fd = Fd(); }
  /// Sends nothing more. The other node reads the end of the stream after the last message.
  void finishSending();
  /// Reads and forgets what arrives until the other node closes the connection, or until
  /// `deadline` on the clock monotonicSeconds(). To close a connection while data is unread would
  /// reset it, and messages under way to the other node would be lost.
  void drain(double deadline);
  /// Closes a link whose messages make no sense.
  void refuse() {
    senseless = true;
    received.clear();
    close();
  }

private:
  bool take(NodeMessage *out);

  Fd fd;
  std::vector<char> received;
  double latest = 0;
  bool senseless = false;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_NODELINK_H
