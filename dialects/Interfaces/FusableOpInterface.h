#ifndef DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H
#define DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H

#include "dialects/Interfaces/Interfaces.h"

namespace dpc {

/// The role of an op in kernel formation.
enum class FusionKind {
  /// Computes element i from element i of each operand.
  elementwise,
  /// Free to compute again in every reader: constants, iotas, broadcasts.
  repeated,
  /// Combines elements of its first operand into a smaller result.
  reduction,
  /// The result is a view of the bytes of the operand, or of some of them, in
  /// another shape.
  view,
  /// A separate kernel, or the first op of one.
  alone,
  /// Never part of a kernel.
  outside
};

} // namespace dpc

#include "dialects/Interfaces/FusableOpInterface.h.inc"

namespace dpc {

/// Whether the results of `op` are views of its operand's bytes.
bool isView(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_H
