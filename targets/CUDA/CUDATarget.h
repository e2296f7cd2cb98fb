#ifndef DPC_TARGETS_CUDA_CUDATARGET_H
#define DPC_TARGETS_CUDA_CUDATARGET_H

namespace dpc {

/// Registers the target `cuda`: NVIDIA devices from sm_80 on. Its kernels are grids
/// of threads in PTX, which the CUDA driver compiles for the device of the machine.
void registerCUDATarget();

} // namespace dpc

#endif // DPC_TARGETS_CUDA_CUDATARGET_H
