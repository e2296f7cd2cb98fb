#ifndef DPC_TEST_CUDA_EMULATOR_DRIVER_CAPTURE_H
#define DPC_TEST_CUDA_EMULATOR_DRIVER_CAPTURE_H

#include "test/cuda_emulator/driver/Streams.h"

#include <random>

namespace dpc::emulator {

/// One operation of a graph, and the earlier ones that it follows.
struct Node {
  cuda::NodeType type;
  std::function<void()> run;
  std::vector<unsigned> after;
  int priority; // of the stream that it was captured from
};

/// A graph: what was captured.
struct GraphState {
  std::vector<Node> nodes;

  /// Runs all nodes, each when those before it are done; which of several goes
  /// first depends on DPC_EMU_STREAM.
  void run(std::mt19937 &random) const;
};

/// A capture under way, in the streams that it has reached.
class Capture {
public:
  Capture(StreamState *origin, cuda::CaptureMode mode)
      : origin(origin), mode(mode), thread(std::this_thread::get_id()) {}

  /// Adds a node after those; its number.
  unsigned add(Operation operation, const std::vector<unsigned> &after, int priority);
  /// Whether every node comes before one of `tail`: else a stream was left
  /// without joining the one that began.
  bool isJoined(const std::vector<unsigned> &tail) const;
  GraphState take() { return {std::move(nodes)}; }

  StreamState *const origin;
  const cuda::CaptureMode mode;
  const std::thread::id thread;
  bool invalidated = false;
  std::vector<StreamState *> streams; // those that joined

private:
  std::vector<Node> nodes;
};

/// The capture that a call of this thread would disturb: one that it began in a
/// mode that forbids calls which may synchronize or allocate.
std::shared_ptr<Capture> forbiddingCapture();
void beginCapture(const std::shared_ptr<Capture> &capture);
void endCapture(const std::shared_ptr<Capture> &capture);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_DRIVER_CAPTURE_H
