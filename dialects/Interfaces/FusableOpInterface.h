#ifndef DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H
#define DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H

#include "dialects/Interfaces/Interfaces.h"

namespace dpc {

/// The role of an op in kernel formation (`dpc-form-kernels`).
enum class FusionKind {
  /// Computes element i of the result from element i of each operand.
  elementwise,
  /// Costs nothing, so every kernel that reads the result computes it again:
  /// constants, iotas, broadcasts.
  repeated,
  /// Combines elements of its first operand into a smaller result.
  reduction,
  /// Moves no data: the result has the bytes of the operand, or some of them, in
  /// another shape.
  view,
  /// Begins a kernel. Later ops may join the kernel.
  alone,
  /// Is never part of a kernel.
  outside
};

} // namespace dpc

#include "dialects/Interfaces/FusableOpInterface.h.inc"

namespace dpc {

/// Whether the results of `op` are views of its operand's bytes.
bool isView(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H
