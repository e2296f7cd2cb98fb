#ifndef DPC_RUNTIME_SRC_CUDA_PACKAGEFOLDERS_H
#define DPC_RUNTIME_SRC_CUDA_PACKAGEFOLDERS_H

#include <string>
#include <vector>

namespace dpc::cuda {

/// The folders of installed Python packages in which NVIDIA's library `soname` lies, the first to
/// try first. `package` is the folder of the library's package, e.g. "nccl". PyTorch's wheels
/// depend on these packages, which have the libraries in nvidia/PACKAGE/lib, or from CUDA 13 on in
/// nvidia/cu13/lib.
///
/// No Python runs for this. The packages are those of $VIRTUAL_ENV, of $CONDA_PREFIX, of the first
/// python3 in $PATH, and of $HOME/.local, in this order.
std::vector<std::string> findPackageFolders(const std::string &package, const std::string &soname);

} // namespace dpc::cuda

#endif // DPC_RUNTIME_SRC_CUDA_PACKAGEFOLDERS_H
