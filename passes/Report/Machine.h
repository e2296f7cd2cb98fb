#ifndef DPC_PASSES_REPORT_MACHINE_H
#define DPC_PASSES_REPORT_MACHINE_H

#include "dialects/Dist/IR/MeshShape.h"
#include "passes/Play/ExecPlay.h"

namespace dpc {

/// Writes the axes of the mesh, the levels of `topology`, and a drawing of the ranks in them.
/// `tableOf` has the table of each rank, which colours the ranks of stages; it may be empty.
void writeMachine(llvm::raw_ostream &os, const dist::MeshShape &mesh, const Topology &topology,
                  llvm::ArrayRef<size_t> tableOf);

/// What ranks send in a step, by level of the topology.
struct LevelTraffic {
  /// Of all ranks, by PlayCause.
  std::array<double, kPlayCauses> bytes = {};
  /// Of the rank that sends most through the level.
  double mostOfRank = 0;
};
std::vector<LevelTraffic> trafficOf(const ExecPlay &play);

/// Writes the bytes that ranks send in a step through each level.
void writeTraffic(llvm::raw_ostream &os, const ExecPlay &play);

/// Writes the operations between ranks by the ONNX node from which they come. Repeated layers are
/// one row.
void writeCalls(llvm::raw_ostream &os, const PlayedStep &step);

} // namespace dpc

#endif // DPC_PASSES_REPORT_MACHINE_H
