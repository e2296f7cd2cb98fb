#ifndef DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H
#define DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H

#include "dialects/Interfaces/Interfaces.h"

namespace dpc {

/// What an op means to kernel formation.
enum class FusionKind {
  /// Computes element i from element i of each operand.
  elementwise,
  /// Costs nothing to compute again: constants, iotas, broadcasts.
  repeated,
  /// Combines elements of its first operand into a smaller result.
  reduction,
  /// The bytes of its operand, or some of them, under other shapes.
  view,
  /// A kernel of its own, or the first op of one.
  alone,
  /// No kernel.
  outside
};

} // namespace dpc

#include "dialects/Interfaces/FusableOpInterface.h.inc"

namespace dpc {

/// Whether the results of `op` are its operand's bytes, or some of them.
bool isView(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H
