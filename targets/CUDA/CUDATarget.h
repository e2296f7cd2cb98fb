#ifndef DPC_TARGETS_CUDA_CUDATARGET_H
#define DPC_TARGETS_CUDA_CUDATARGET_H

namespace dpc {

/// Registers the target `cuda`: NVIDIA devices from sm_80 on. Its kernels are grids
/// of threads in PTX. The CUDA driver compiles the PTX for the device of the machine,
/// unless the program has machine code for it (CodeOptions::assembler).
void registerCUDATarget();

} // namespace dpc

#endif // DPC_TARGETS_CUDA_CUDATARGET_H
