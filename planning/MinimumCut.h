// Finds a minimum cut of a directed graph.
//
// The algorithm is from Dinic, "Algorithm for solution of a problem of maximum flow in networks
// with power estimation", 1970. It pushes flow along shortest paths, in phases; all paths of one
// phase have the same length.

#ifndef DPC_PLANNING_MINIMUMCUT_H
#define DPC_PLANNING_MINIMUMCUT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dpc {

/// Separates a source from a sink by the set of edges with the smallest sum of capacities. The
/// capacities of the edges that leave the source must add up to less than 2^63.
class MinimumCut {
public:
  /// The capacity of an edge that must not be cut.
  static constexpr int64_t kNever = int64_t(1) << 61;

  static constexpr int64_t source = 0, sink = 1;

  MinimumCut() : edgesOf(2) {}

  int64_t addNode();
  void addEdge(int64_t from, int64_t to, int64_t capacity);

  /// Finds the minimum cut and returns the sum of its capacities. If every cut contains an edge
  /// of capacity kNever, returns `kNever` or more. May be called only once.
  int64_t run();
  /// Whether `node` is on the source's side of the cut. If several cuts are minimal, run() finds
  /// the cut with the smallest source side.
  bool isOnSourceSide(int64_t node) const { return level[node] >= 0; }

private:
  struct Edge {
    int64_t to, rest;
  };

  bool findLevels();
  int64_t push();

  /// Every edge is stored next to its reverse edge: edge i ^ 1 is the reverse of edge i.
  std::vector<Edge> edges;
  std::vector<std::vector<int64_t>> edgesOf;
  std::vector<int64_t> level;
  std::vector<size_t> next;
};

} // namespace dpc

#endif // DPC_PLANNING_MINIMUMCUT_H
