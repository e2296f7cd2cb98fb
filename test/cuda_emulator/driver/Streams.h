#ifndef DPC_TEST_CUDA_EMULATOR_DRIVER_STREAMS_H
#define DPC_TEST_CUDA_EMULATOR_DRIVER_STREAMS_H

#include "runtime/src/cuda/Driver.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dpc::emulator {

class Capture;
struct StreamState;

/// What a stream does, in order.
struct Operation {
  cuda::NodeType type = cuda::NodeType::empty;
  std::function<void()> run;         // none: it only waits
  StreamState *waitStream = nullptr; // for this position of another stream
  uint64_t waitPosition = 0;
};

struct StreamState {
  int priority = 0;
  std::deque<Operation> queue;
  uint64_t issued = 0;                // operations given
  uint64_t graphPosition = 0;         // of the last graph among them
  std::atomic<uint64_t> completed{0}; // operations done
  bool quit = false;
  std::thread worker; // of DPC_EMU_STREAM=async
  // While it is captured: into what, and the nodes that its next one follows.
  std::shared_ptr<Capture> capture;
  std::vector<unsigned> tail;
};

struct EventState {
  bool isDropped = false; // nothing waits for it: DPC_EMU_DROP_EVENT
  bool timed = true;
  StreamState *stream = nullptr; // where it was recorded last
  uint64_t position = 0;
  std::shared_ptr<std::chrono::steady_clock::time_point> when;
  std::shared_ptr<Capture> capture; // it was recorded while this was captured
  std::vector<unsigned> nodes;
};

/// Runs what streams are given, in the order that DPC_EMU_STREAM asks for: at
/// once, at the call, or as late as anything waits for it and only what events
/// then require.
class Streams {
public:
  static Streams &get();

  StreamState *create(int priority);
  void destroy(StreamState *stream);
  /// Appends an operation; the position to wait for. A captured stream gives it
  /// to its graph instead, and runs nothing.
  uint64_t enqueue(StreamState *stream, Operation operation);
  void wait(StreamState *stream, uint64_t position);
  void waitAll();
  /// The host asks whether a stream is done.
  void poll(StreamState *stream);
  /// Every call of the host notes that it is alive: see DPC_EMU_GRACE_MS.
  void noteCall();
  bool isKnown(StreamState *stream);

private:
  Streams();
  void work(StreamState *stream);
  void drain(StreamState *stream, uint64_t position);
  void goOnWithoutHost();
  std::vector<StreamState *> all();

  std::mutex mutex; // queues and counters
  std::condition_variable changed;
  std::recursive_mutex lazy; // one thread drains
  std::vector<StreamState *> streams;
  std::atomic<int64_t> lastCall{0};
};

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_DRIVER_STREAMS_H
