// Computes a maximum flow by shortest augmenting paths in layers (Dinic, 1970). At the end, the
// source side of the minimum cut consists of the nodes that the source reaches along edges with
// residual capacity.

#include "planning/MinimumCut.h"

#include <algorithm>
#include <limits>

using namespace dpc;

int64_t MinimumCut::addNode() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void MinimumCut::addEdge(int64_t from, int64_t to, int64_t capacity) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

/// Sets `level` to the distance of each node from the source along edges with residual
/// capacity; -1 if the source does not reach the node. Returns whether the source reaches the
/// sink.
bool MinimumCut::findLevels() {
  level.assign(edgesOf.size(), -1);
  level[source] = 0;
  std::vector<int64_t> reached = {source};
  for (size_t at = 0; at < reached.size(); ++at)
    for (int64_t edge : edgesOf[reached[at]])
      if (edges[edge].rest > 0 && level[edges[edge].to] < 0) {
        level[edges[edge].to] = level[reached[at]] + 1;
        reached.push_back(edges[edge].to);
      }
  return level[sink] >= 0;
}

/// Pushes as much flow as possible along one shortest path, and returns the amount; 0 if no
/// path of this length has residual capacity.
int64_t MinimumCut::push() {
  std::vector<int64_t> path;
  int64_t node = source;
  while (node != sink) {
    if (next[node] < edgesOf[node].size()) {
      const int64_t edge = edgesOf[node][next[node]];
      if (edges[edge].rest > 0 && level[edges[edge].to] == level[node] + 1) {
        path.push_back(edge);
        node = edges[edge].to;
      } else {
        ++next[node];
      }
    } else if (path.empty()) {
      return 0;
    } else {
      node = edges[path.back() ^ 1].to;
      path.pop_back();
      ++next[node];
    }
  }
  int64_t amount = std::numeric_limits<int64_t>::max();
  for (int64_t edge : path)
    amount = std::min(amount, edges[edge].rest);
  for (int64_t edge : path) {
    edges[edge].rest -= amount;
    edges[edge ^ 1].rest += amount;
  }
  return amount;
}

int64_t MinimumCut::run() {
  int64_t flow = 0;
  while (flow < kNever && findLevels()) {
    next.assign(edgesOf.size(), 0);
    while (int64_t amount = push())
      if ((flow += amount) >= kNever)
        return flow;
  }
  return flow;
}
