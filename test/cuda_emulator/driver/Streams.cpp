// Queues of streams, and when what is in them runs.
#include "test/cuda_emulator/driver/Streams.h"

#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Calls.h"
#include "test/cuda_emulator/driver/Capture.h"

#include <algorithm>
#include <random>

using namespace dpc::emulator;

static int64_t nowMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static bool isLazy() {
  const StreamOrder order = Options::get().streamOrder;
  return order == StreamOrder::lazy || order == StreamOrder::lazyNewest;
}

Streams &Streams::get() {
  static Streams *streams = new Streams; // its threads end with the process
  return *streams;
}

Streams::Streams() {
  noteCall();
  if (isLazy())
    std::thread([this] { goOnWithoutHost(); }).detach();
}

void Streams::noteCall() { lastCall = nowMillis(); }

/// A lazy device must go on while its host waits for something else, as ranks
/// wait for each other.
void Streams::goOnWithoutHost() {
  const unsigned grace = Options::get().graceMillis;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(grace / 4 + 1));
    if (nowMillis() - lastCall < grace || !lazy.try_lock())
      continue;
    for (StreamState *stream : all())
      if (stream->completed < stream->issued) {
        drain(stream, stream->completed + 1);
        break;
      }
    lazy.unlock();
  }
}

std::vector<StreamState *> Streams::all() {
  std::lock_guard<std::mutex> lock(mutex);
  return streams;
}

StreamState *Streams::create(int priority) {
  auto *stream = new StreamState;
  stream->priority = priority;
  std::lock_guard<std::mutex> lock(mutex);
  streams.push_back(stream);
  if (Options::get().streamOrder == StreamOrder::async)
    stream->worker = std::thread([this, stream] { work(stream); });
  return stream;
}

void Streams::destroy(StreamState *stream) {
  wait(stream, stream->issued);
  {
    std::lock_guard<std::mutex> lock(mutex);
    stream->quit = true;
    streams.erase(std::find(streams.begin(), streams.end(), stream));
  }
  changed.notify_all();
  if (stream->worker.joinable())
    stream->worker.join();
  // The state stays: events may still name it.
}

bool Streams::isKnown(StreamState *stream) {
  std::lock_guard<std::mutex> lock(mutex);
  return std::find(streams.begin(), streams.end(), stream) != streams.end();
}

/// Runs an operation, unless a kernel has failed: the device then runs nothing more, and the host
/// may free the memory that enqueued operations use.
static void run(const Operation &operation) {
  if (operation.run && !isContextLost())
    operation.run();
}

void Streams::work(StreamState *stream) {
  std::mt19937 random(Options::get().seed);
  const unsigned jitter = Options::get().jitterMicros;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stream->quit || !stream->queue.empty(); });
    if (stream->queue.empty())
      return;
    Operation operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (operation.waitStream)
      changed.wait(lock, [&] { return operation.waitStream->completed >= operation.waitPosition; });
    lock.unlock();
    if (jitter)
      std::this_thread::sleep_for(std::chrono::microseconds(random() % jitter));
    run(operation);
    lock.lock();
    ++stream->completed;
    changed.notify_all();
  }
}

/// Runs what `position` of a stream needs, and nothing more.
void Streams::drain(StreamState *stream, uint64_t position) {
  std::lock_guard<std::recursive_mutex> one(lazy);
  while (stream->completed < position) {
    Operation operation;
    {
      std::lock_guard<std::mutex> lock(mutex);
      operation = std::move(stream->queue.front());
      stream->queue.pop_front();
    }
    if (operation.waitStream)
      drain(operation.waitStream, operation.waitPosition);
    run(operation);
    ++stream->completed;
  }
}

uint64_t Streams::enqueue(StreamState *stream, Operation operation) {
  if (stream->capture) {
    stream->tail = {stream->capture->add(std::move(operation), stream->tail, stream->priority)};
    return 0;
  }
  uint64_t position = 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    stream->queue.push_back(std::move(operation));
    position = ++stream->issued;
  }
  if (Options::get().streamOrder == StreamOrder::eager)
    drain(stream, position);
  changed.notify_all();
  return position;
}

void Streams::wait(StreamState *stream, uint64_t position) {
  if (Options::get().streamOrder != StreamOrder::async) {
    if (isLazy() && stream->completed < position) // what the host does meanwhile comes first
      std::this_thread::sleep_for(std::chrono::microseconds(Options::get().jitterMicros));
    return drain(stream, position);
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return stream->completed >= position; });
}

void Streams::poll(StreamState *stream) {
  if (isLazy() && stream->completed < stream->issued)
    drain(stream, stream->completed + 1);
}

void Streams::waitAll() {
  std::vector<StreamState *> order = all();
  if (Options::get().streamOrder == StreamOrder::lazyNewest)
    std::reverse(order.begin(), order.end());
  for (StreamState *stream : order)
    wait(stream, stream->issued);
}
