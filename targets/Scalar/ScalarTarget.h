#ifndef DPC_TARGETS_SCALAR_SCALARTARGET_H
#define DPC_TARGETS_SCALAR_SCALARTARGET_H

namespace dpc {

/// Registers the target `scalar`: any x86-64 processor, without vectors and without
/// fill rules of its own. Only queue calls can access its memory, as for a device.
/// The target is slow and simple. Tests compare fast code with it, and authors of a
/// new target can start from a copy of it.
void registerScalarTarget();

} // namespace dpc

#endif // DPC_TARGETS_SCALAR_SCALARTARGET_H
