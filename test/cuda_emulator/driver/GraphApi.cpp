// Graphs: captured from streams, instantiated, launched.
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Calls.h"
#include "test/cuda_emulator/driver/Capture.h"

#include <atomic>

using namespace dpc::cuda;
using namespace dpc::emulator;

namespace {
/// A graph that can be launched: its nodes are those of the graph it was made
/// of, which may be gone.
struct ExecutableGraph {
  std::shared_ptr<const GraphState> graph;
  std::mt19937 random;
  bool usesPriorities; // of its nodes; else all have that of the stream that launches it
};
struct SharedGraph {
  std::shared_ptr<const GraphState> graph;
};
} // namespace

static SharedGraph *stateOf(Graph graph) { return reinterpret_cast<SharedGraph *>(graph); }
static ExecutableGraph *stateOf(GraphExec exec) {
  return reinterpret_cast<ExecutableGraph *>(exec);
}

static std::atomic<int> executableGraphs{0};

namespace dpc::cuda {
extern "C" {

int dpcEmulatorExecutableGraphs() { return executableGraphs; }

Result cuStreamBeginCapture_v2(Stream stream, CaptureMode mode) {
  const Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  StreamState *state = dpc::emulator::stateOf(stream);
  if (state->capture)
    return Result::streamCaptureUnsupported;
  state->capture = std::make_shared<Capture>(state, mode);
  state->capture->streams.push_back(state);
  state->tail.clear();
  beginCapture(state->capture);
  return Result::success;
}

Result cuStreamEndCapture(Stream stream, Graph *graph) {
  const Result entered = enter();
  if (entered != Result::success)
    return entered;
  *graph = nullptr;
  StreamState *state = dpc::emulator::stateOf(stream);
  const std::shared_ptr<Capture> capture = state->capture;
  if (!capture || capture->origin != state)
    return Result::streamCaptureUnmatched;
  if (capture->mode == CaptureMode::threadLocal && capture->thread != std::this_thread::get_id())
    return Result::streamCaptureWrongThread;
  const bool isJoined = capture->isJoined(state->tail);
  endCapture(capture);
  for (StreamState *joined : capture->streams) {
    joined->capture = nullptr;
    joined->tail.clear();
  }
  if (capture->invalidated)
    return Result::streamCaptureInvalidated;
  if (!isJoined)
    return Result::streamCaptureUnjoined;
  auto *shared = new SharedGraph;
  shared->graph = std::make_shared<const GraphState>(capture->take());
  *graph = reinterpret_cast<Graph>(shared);
  return Result::success;
}

Result cuStreamIsCapturing(Stream stream, CaptureStatus *status) {
  const auto &capture = dpc::emulator::stateOf(stream)->capture;
  *status = !capture               ? CaptureStatus::none
            : capture->invalidated ? CaptureStatus::invalidated
                                   : CaptureStatus::active;
  return enter();
}

Result cuGraphGetNodes(Graph graph, GraphNode *nodes, size_t *number) {
  const std::vector<Node> &all = stateOf(graph)->graph->nodes;
  for (size_t i = 0; nodes && i < *number; ++i)
    nodes[i] = i < all.size() ? reinterpret_cast<GraphNode>(const_cast<Node *>(&all[i])) : nullptr;
  *number = nodes ? std::min(*number, all.size()) : all.size();
  return enter();
}

Result cuGraphNodeGetType(GraphNode node, NodeType *type) {
  *type = reinterpret_cast<const Node *>(node)->type;
  return enter();
}

Result cuGraphDestroy(Graph graph) {
  delete stateOf(graph);
  return enter();
}

Result cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph, unsigned long long flags) {
  const Result result = enter();
  if (result != Result::success)
    return result;
  if (!graph || (flags & ~kGraphUseNodePriority))
    return Result::invalidValue;
  dpcEmulatorCount("cuGraphInstantiate");
  ++executableGraphs;
  *exec = reinterpret_cast<GraphExec>(
      new ExecutableGraph{stateOf(graph)->graph, std::mt19937(Options::get().seed), flags != 0});
  return Result::success;
}

Result cuGraphLaunch(GraphExec exec, Stream stream) {
  const Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  if (!exec)
    return Result::invalidValue;
  if (dpc::emulator::stateOf(stream)->capture)
    fail("graphs in graphs are not known");
  dpcEmulatorCount("cuGraphLaunch");
  for (const Node &node : stateOf(exec)->graph->nodes)
    dpcEmulatorCount(
        ("nodes-of-priority:" + std::to_string(stateOf(exec)->usesPriorities
                                                   ? node.priority
                                                   : dpc::emulator::stateOf(stream)->priority))
            .c_str());
  Operation operation;
  operation.type = NodeType::child;
  const unsigned seed = static_cast<unsigned>(stateOf(exec)->random());
  operation.run = [graph = stateOf(exec)->graph, seed] {
    std::mt19937 random(seed);
    graph->run(random);
  };
  StreamState *state = dpc::emulator::stateOf(stream);
  if (state->completed < state->graphPosition)
    dpcEmulatorCount("graphs-ahead");
  state->graphPosition = Streams::get().enqueue(state, std::move(operation));
  return Result::success;
}

Result cuGraphExecDestroy(GraphExec exec) {
  --executableGraphs;
  delete stateOf(exec);
  return enter();
}
}
} // namespace dpc::cuda
