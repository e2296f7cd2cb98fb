#ifndef DPC_RUNTIME_SRC_BASE_HOSTFILE_H
#define DPC_RUNTIME_SRC_BASE_HOSTFILE_H

#include <string>

namespace dpc {

/// The topology file of this host: `dpc-run --describe` writes it, and dpc-compile plans for it. It
/// is $XDG_CACHE_HOME/dpc/host.json or $HOME/.cache/dpc/host.json, beside the folder of compiled
/// kernels. A variable without an absolute path counts as not set. Empty if neither variable is
/// set.
std::string hostFile();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_HOSTFILE_H
