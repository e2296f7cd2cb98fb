// A minimum cut of a directed graph.
//
// Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
// estimation", 1970: flow along shortest paths, all of one length at once.

#ifndef DPC_PLANNING_MINIMUMCUT_H
#define DPC_PLANNING_MINIMUMCUT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dpc {

/// Separates a source from a sink where that costs the least. Capacities must be such that
/// what leaves the source has less than 63 bits together.
class MinimumCut {
public:
  /// What may never be cut.
  static constexpr int64_t kNever = int64_t(1) << 61;

  static constexpr int64_t source = 0, sink = 1;

  MinimumCut() : edgesOf(2) {}

  int64_t addNode();
  void addEdge(int64_t from, int64_t to, int64_t capacity);

  /// Finds the cut and returns what it costs; `kNever` or more where there is none. To be
  /// called once.
  int64_t run();
  /// Whether `node` is on the source's side, which is the smallest one of all such cuts.
  bool isOnSourceSide(int64_t node) const { return level[node] >= 0; }

private:
  struct Edge {
    int64_t to, rest;
  };

  bool findLevels();
  int64_t push();

  /// Edge i ^ 1 leads back.
  std::vector<Edge> edges;
  std::vector<std::vector<int64_t>> edgesOf;
  std::vector<int64_t> level;
  std::vector<size_t> next;
};

} // namespace dpc

#endif // DPC_PLANNING_MINIMUMCUT_H
