// Reads topology files, such as topologies/h100-roce.json. A file is a JSON object:
//
//   name       a text
//   device     memory_GiB; memory_GB_per_s; launch_us, the time to start a kernel (default 0);
//              TFLOP_per_s: by element type, e.g. {"f32": 67, "bf16": 989}
//   start_us   by kind of collective, what it needs to start (default 0): all_reduce, all_gather,
//              reduce_scatter, all_to_all
//   levels     a list from the inside out. Each has a name; its size in units of the level inside;
//              GB_per_s of one device; unit_GB_per_s of all devices of a unit together, if this is
//              less; step_us per further member of a collective; start_us to cross it (default 0)
//
// Every object may have a source, a text that says where its numbers come from.

#ifndef DPC_PLANNING_TOPOLOGYFILE_H
#define DPC_PLANNING_TOPOLOGYFILE_H

#include "planning/Topology.h"

namespace dpc {

/// Reads a topology from `text`, the contents of a topology file, and checks it. An error is one
/// line that names the key and its value. If the text is not JSON, it names the line.
llvm::Expected<Topology> readTopology(llvm::StringRef text);

} // namespace dpc

#endif // DPC_PLANNING_TOPOLOGYFILE_H
