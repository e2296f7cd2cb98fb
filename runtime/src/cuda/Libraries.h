#ifndef DPC_RUNTIME_SRC_CUDA_LIBRARIES_H
#define DPC_RUNTIME_SRC_CUDA_LIBRARIES_H

#include "dpc/status.h"
#include "runtime/src/cuda/CublasLt.h"
#include "runtime/src/cuda/Cudnn.h"
#include "runtime/src/cuda/Driver.h"
#include "runtime/src/cuda/Nccl.h"

#include <string>
#include <vector>

namespace dpc::cuda {

// NOLINTNEXTLINE(bugprone-macro-parentheses): `parameters` has parentheses already.
#define DPC_CUDA_POINTER(result, name, parameters) result(*name) parameters = nullptr;

/// The functions of libcuda.so.1, the driver.
struct Driver {
  DPC_CUDA_DRIVER_FUNCTIONS(DPC_CUDA_POINTER)
};
/// The functions of cuBLASLt.
struct CublasLt {
  DPC_CUBLASLT_FUNCTIONS(DPC_CUDA_POINTER)
};
/// The functions of cuDNN.
struct Cudnn {
  DPC_CUDNN_FUNCTIONS(DPC_CUDA_POINTER)
};
/// The functions of NCCL.
struct Nccl {
  DPC_NCCL_FUNCTIONS(DPC_CUDA_POINTER)
};

#undef DPC_CUDA_POINTER

// Each of these functions opens a library at run time, so that dpc builds on
// machines without the library. If the variable DPC_CUDA_LIBRARIES names a folder,
// only this folder is searched. Otherwise the system's loader searches, and then, except for the
// driver, the folders of installed Python packages (findPackageFolders). A library stays open
// until the process ends. Returns DPC_INVALID, with a message of one line, if a library or one of
// its functions is missing.
dpc_status_t openDriver(Driver &driver);
/// If `isOlder`, opens version 12 even if version 13 is installed.
dpc_status_t openCublasLt(CublasLt &library, bool isOlder = false);
dpc_status_t openCudnn(Cudnn &library);
dpc_status_t openNccl(Nccl &library);

/// The libraries that were found in folders of Python packages since the last call, for notes:
/// "NCCL is libnccl.so.2 of /venv/lib/python3.11/site-packages/nvidia/nccl/lib".
std::vector<std::string> takeLibraryNotes();

} // namespace dpc::cuda

#endif // DPC_RUNTIME_SRC_CUDA_LIBRARIES_H
