// Reads and writes topology files, such as topologies/h100-roce.json. docs/topology.md describes
// their keys.

#ifndef DPC_PLANNING_TOPOLOGYFILE_H
#define DPC_PLANNING_TOPOLOGYFILE_H

#include "planning/Topology.h"

#include "llvm/Support/JSON.h"

namespace dpc {

/// Reads a topology from `text`, the contents of a topology file, and checks it. An error is one
/// line that names the key and its value. If the text is not JSON, it names the line.
llvm::Expected<Topology> readTopology(llvm::StringRef text);

/// Reads the topology file `path`. An error is one line that starts with the path.
llvm::Expected<Topology> readTopologyFile(llvm::StringRef path);

/// Reads a topology from the object of a topology file, and checks it.
llvm::Expected<Topology> topologyFrom(const llvm::json::Value &object);

/// Returns the object of a topology file. Keys whose numbers are their defaults are left out.
/// topologyFrom() returns the same topology, except for rounding.
llvm::json::Value toJson(const Topology &topology);
/// Returns the object `device` of a topology file.
llvm::json::Value toJson(const Device &device);

} // namespace dpc

#endif // DPC_PLANNING_TOPOLOGYFILE_H
