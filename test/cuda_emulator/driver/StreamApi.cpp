// The driver's functions for streams, events and host functions.
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Calls.h"
#include "test/cuda_emulator/driver/Capture.h"

#include <algorithm>
#include <atomic>

using namespace dpc::cuda;
using namespace dpc::emulator;

/// Returns work for a stream: a function of the host or of a library, called with `data`.
/// `release` is called for `data` when no stream and no graph holds the work any more.
static std::function<void()> hostWork(HostFunction run, HostFunction release, void *data) {
  auto owner = std::shared_ptr<void>(data, [release](void *held) {
    if (release)
      release(held);
  });
  return [run, owner] { run(owner.get()); };
}

namespace dpc::cuda {
extern "C" {

Result cuStreamCreateWithPriority(Stream *stream, unsigned flags, int priority) {
  const Result result = enterOutsideCapture();
  if (result != Result::success)
    return result;
  if (flags != kStreamNonBlocking)
    fail("streams that wait for the default stream are not known: CU_STREAM_NON_BLOCKING");
  *stream = reinterpret_cast<Stream>(
      Streams::get().create(std::clamp(priority, kGreatestPriority, kLeastPriority)));
  return Result::success;
}

Result cuStreamDestroy_v2(Stream stream) {
  const Result result = enterWaiting(stream);
  if (result == Result::success)
    Streams::get().destroy(stateOf(stream));
  return result;
}

Result cuStreamSynchronize(Stream stream) {
  const Result result = enterWaiting(stream);
  if (result != Result::success)
    return result;
  Streams::get().wait(stateOf(stream), stateOf(stream)->issued);
  return enter(); // the work may have lost the context
}

Result cuStreamQuery(Stream stream) {
  const Result result = enterWaiting(stream);
  if (result != Result::success)
    return result;
  StreamState *state = stateOf(stream);
  // A lazy device works only while a caller waits. A caller that polls counts as waiting, so
  // each query does one piece of work. Otherwise polling would never end.
  Streams::get().poll(state);
  return state->completed >= state->issued ? enter() : Result::notReady;
}

Result cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  const Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  if (!event || flags)
    return Result::invalidValue;
  StreamState *state = stateOf(stream);
  EventState *what = stateOf(event);
  if (what->isDropped)
    return Result::success;
  if (what->capture) { // the stream joins the capture
    if (state->capture && state->capture != what->capture)
      return Result::streamCaptureUnsupported;
    if (!state->capture) {
      state->capture = what->capture;
      state->tail.clear();
      what->capture->streams.push_back(state);
    }
    for (unsigned node : what->nodes)
      if (std::find(state->tail.begin(), state->tail.end(), node) == state->tail.end())
        state->tail.push_back(node);
    return Result::success;
  }
  if (state->capture) {
    state->capture->invalidated = true;
    return Result::streamCaptureUnsupported; // it would wait for work that is not captured
  }
  if (!what->stream)
    return Result::success;
  Operation operation;
  operation.waitStream = what->stream;
  operation.waitPosition = what->position;
  Streams::get().enqueue(state, std::move(operation));
  return Result::success;
}

Result cuLaunchHostFunc(Stream stream, HostFunction function, void *data) {
  const Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  if (!function)
    return Result::invalidValue;
  dpcEmulatorCount("cuLaunchHostFunc");
  Operation operation;
  operation.type = NodeType::host;
  operation.run = hostWork(function, nullptr, data);
  Streams::get().enqueue(stateOf(stream), std::move(operation));
  return Result::success;
}

void dpcEmulatorEnqueue(Stream stream, HostFunction run, HostFunction release, void *data) {
  if (checkStream(stream) != Result::success)
    fail("a library was given a stream that takes no work");
  Operation operation;
  operation.type = NodeType::kernel;
  operation.run = hostWork(run, release, data);
  Streams::get().enqueue(stateOf(stream), std::move(operation));
}

Result cuEventCreate(Event *event, unsigned flags) {
  const Result result = enter();
  if (result != Result::success)
    return result;
  if (flags & ~kEventDisableTiming)
    fail("event flags 0x%x are not known", flags);
  static std::atomic<unsigned> number{0};
  auto *state = new EventState;
  state->isDropped = ++number == Options::get().droppedEvent;
  dpcEmulatorCount("cuEventCreate");
  state->timed = !(flags & kEventDisableTiming);
  *event = reinterpret_cast<Event>(state);
  return Result::success;
}

Result cuEventDestroy_v2(Event event) {
  delete stateOf(event);
  return enter();
}

Result cuEventRecord(Event event, Stream stream) {
  const Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  if (!event)
    return Result::invalidHandle;
  EventState *state = stateOf(event);
  StreamState *where = stateOf(stream);
  state->capture = where->capture;
  if (where->capture) { // an edge of the graph, no node
    state->nodes = where->tail;
    state->stream = nullptr;
    return Result::success;
  }
  auto when = std::make_shared<std::chrono::steady_clock::time_point>();
  Operation operation;
  operation.run = [when] { *when = std::chrono::steady_clock::now(); };
  state->position = Streams::get().enqueue(where, std::move(operation));
  state->stream = where;
  state->when = when;
  return Result::success;
}

Result cuEventQuery(Event event) {
  const Result result = enter();
  if (result != Result::success)
    return result;
  const EventState *state = stateOf(event);
  if (state->capture) {
    state->capture->invalidated = true;
    return Result::streamCaptureUnsupported;
  }
  if (state->isDropped || !state->stream)
    return Result::success;
  if (state->stream->completed < state->position)
    Streams::get().poll(state->stream); // like cuStreamQuery
  return state->stream->completed >= state->position ? enter() : Result::notReady;
}

Result cuEventSynchronize(Event event) {
  const Result result = cuEventQuery(event);
  if (result != Result::notReady)
    return result;
  Streams::get().wait(stateOf(event)->stream, stateOf(event)->position);
  return enter(); // the work may have lost the context
}

Result cuEventElapsedTime(float *milliseconds, Event from, Event to) {
  const Result result = enter();
  if (result != Result::success)
    return result;
  const EventState *first = stateOf(from), *last = stateOf(to);
  if (!first->timed || !last->timed || !first->stream || !last->stream)
    return Result::invalidHandle;
  if (cuEventQuery(from) != Result::success || cuEventQuery(to) != Result::success)
    return Result::notReady;
  *milliseconds = std::chrono::duration<float, std::milli>(*last->when - *first->when).count();
  return Result::success;
}
}
} // namespace dpc::cuda
