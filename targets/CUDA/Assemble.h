#ifndef DPC_TARGETS_CUDA_ASSEMBLE_H
#define DPC_TARGETS_CUDA_ASSEMBLE_H

#include "targets/Target.h"

namespace dpc {

/// Adds to each of `objects`, which are PTX, its machine code for `processors`
/// (sm_80, ..), made by NVIDIA's assembler at `assembler` (ptxas). Uses as many
/// threads as the context of `kernels` has. Takes machine code from `cache`, if
/// given. If the assembler fails, its message is an error on the kernel.
mlir::LogicalResult assemble(mlir::ModuleOp kernels, std::vector<KernelObject> &objects,
                             llvm::StringRef assembler, llvm::ArrayRef<std::string> processors,
                             const ObjectCache *cache);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_ASSEMBLE_H
