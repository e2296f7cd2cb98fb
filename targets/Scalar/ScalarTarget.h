#ifndef DPC_TARGETS_SCALAR_SCALARTARGET_H
#define DPC_TARGETS_SCALAR_SCALARTARGET_H

namespace dpc {

/// Registers the target `scalar`: any x86-64 processor, without vectors and without
/// fill rules. Only queue calls can reach its memory, as for a device. It is slow
/// and simple. Fast code is compared with it, and a new target can start from it.
void registerScalarTarget();

} // namespace dpc

#endif // DPC_TARGETS_SCALAR_SCALARTARGET_H
