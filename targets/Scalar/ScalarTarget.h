#ifndef DPC_TARGETS_SCALAR_SCALARTARGET_H
#define DPC_TARGETS_SCALAR_SCALARTARGET_H

namespace dpc {

/// Registers the target `scalar`: any x86-64 processor, without vectors and
/// without a rule of its own for any op, whose memory only queue calls can
/// reach, as a device's. Slow and plain, it is what fast code is compared with,
/// and what a new target begins as.
void registerScalarTarget();

} // namespace dpc

#endif // DPC_TARGETS_SCALAR_SCALARTARGET_H
