// Graphs: captured from streams, and run again.
#include "test/cuda_emulator/driver/Capture.h"

#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Calls.h"

#include <algorithm>

using namespace dpc::emulator;

unsigned Capture::add(Operation operation, const std::vector<unsigned> &after, int priority) {
  nodes.push_back({operation.type, std::move(operation.run), after, priority});
  return static_cast<unsigned>(nodes.size() - 1);
}

bool Capture::isJoined(const std::vector<unsigned> &tail) const {
  std::vector<bool> reached(nodes.size());
  for (unsigned node : tail)
    reached[node] = true;
  for (size_t i = nodes.size(); i-- > 0;)
    if (reached[i])
      for (unsigned before : nodes[i].after)
        reached[before] = true;
  return std::all_of(reached.begin(), reached.end(), [](bool one) { return one; });
}

/// Which of the nodes that may run next does.
static size_t choose(const std::vector<unsigned> &ready, std::mt19937 &random) {
  switch (Options::get().streamOrder) {
  case StreamOrder::eager:
    return static_cast<size_t>(std::min_element(ready.begin(), ready.end()) - ready.begin());
  case StreamOrder::lazy:
    return static_cast<size_t>(std::max_element(ready.begin(), ready.end()) - ready.begin());
  case StreamOrder::lazyNewest:
    return ready.size() - 1; // the one that became ready last
  default:
    return random() % ready.size();
  }
}

void GraphState::run(std::mt19937 &random) const {
  std::vector<unsigned> missing(nodes.size()), ready;
  std::vector<std::vector<unsigned>> followers(nodes.size());
  for (unsigned i = 0; i < nodes.size(); ++i) {
    missing[i] = static_cast<unsigned>(nodes[i].after.size());
    for (unsigned before : nodes[i].after)
      followers[before].push_back(i);
    if (!missing[i])
      ready.push_back(i);
  }
  while (!ready.empty()) {
    const size_t at = choose(ready, random);
    const unsigned node = ready[at];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
    if (nodes[node].run && !isContextLost()) // see Streams.cpp
      nodes[node].run();
    for (unsigned next : followers[node])
      if (!--missing[next])
        ready.push_back(next);
  }
}

namespace {
struct Captures {
  std::mutex mutex;
  std::vector<std::shared_ptr<Capture>> open;
};
} // namespace

static Captures &captures() {
  static Captures all;
  return all;
}

std::shared_ptr<Capture> dpc::emulator::forbiddingCapture() {
  std::lock_guard<std::mutex> lock(captures().mutex);
  for (const std::shared_ptr<Capture> &capture : captures().open)
    if (capture->mode == cuda::CaptureMode::global ||
        (capture->mode == cuda::CaptureMode::threadLocal &&
         capture->thread == std::this_thread::get_id()))
      return capture;
  return nullptr;
}

void dpc::emulator::beginCapture(const std::shared_ptr<Capture> &capture) {
  std::lock_guard<std::mutex> lock(captures().mutex);
  captures().open.push_back(capture);
}

void dpc::emulator::endCapture(const std::shared_ptr<Capture> &capture) {
  std::lock_guard<std::mutex> lock(captures().mutex);
  auto &open = captures().open;
  open.erase(std::remove(open.begin(), open.end(), capture), open.end());
}
