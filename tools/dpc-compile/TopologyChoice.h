#ifndef DPC_TOOLS_DPC_COMPILE_TOPOLOGYCHOICE_H
#define DPC_TOOLS_DPC_COMPILE_TOPOLOGYCHOICE_H

#include "tools/dpc-compile/Options.h"

#include "llvm/Option/ArgList.h"

namespace dpc {

/// Reads the topology file to plan for into `options.topology`: that of --topology; else that of
/// the variable DPC_TOPOLOGY; else, for the processor of this host, the file that
/// `dpc-run --describe` wrote. If a file is not on the command line, `options.topologyNote` names
/// it, and `options.command` gets it. If the value of the option or the variable is `target`, or if
/// there is no file, the target's numbers count. Needs: the target, the step and the plan. Exits
/// with 1, after one line, if the file is bad, if its machine has fewer devices than the mesh, or
/// no rate for the type of products. The file of this host does not count if it has fewer devices
/// or lacks a rate.
void chooseTopology(const llvm::opt::InputArgList &args, CompileOptions &options);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_TOPOLOGYCHOICE_H
