#ifndef DPC_TARGETS_CUDA_ASSEMBLE_H
#define DPC_TARGETS_CUDA_ASSEMBLE_H

#include "targets/Target.h"

namespace dpc {

/// Assembles the PTX of `objects` to machine code for `processors` (sm_80, ..)
/// with NVIDIA's assembler (ptxas), whose path is `assembler`. Adds the machine
/// code to the objects. Uses as many threads as the MLIRContext of `kernels` has.
/// If `cache` is not null, takes machine code from the cache and adds new code to
/// it. If the assembler fails, its message becomes an error on the kernel. A kernel that spills
/// registers is assembled again with more of them.
mlir::LogicalResult assemble(mlir::ModuleOp kernels, std::vector<KernelObject> &objects,
                             llvm::StringRef assembler, llvm::ArrayRef<std::string> processors,
                             const ObjectCache *cache);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_ASSEMBLE_H
