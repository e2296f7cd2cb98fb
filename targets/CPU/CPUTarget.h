#ifndef DPC_TARGETS_CPU_CPUTARGET_H
#define DPC_TARGETS_CPU_CPUTARGET_H

namespace dpc {

/// Registers the target `cpu`: x86-64 processors with AVX2 or AVX-512. Its
/// processors are `native`, `x86-64-v3`, `x86-64-v4` and `x86-64-v4-bf16`.
void registerCPUTarget();

} // namespace dpc

#endif // DPC_TARGETS_CPU_CPUTARGET_H
