// What ops cost, before and after they are fused, and what collectives cost.

#ifndef DPC_PASSES_PRICES_OPPRICES_H
#define DPC_PASSES_PRICES_OPPRICES_H

#include "planning/Prices.h"

#include "mlir/IR/Operation.h"

namespace dpc {

/// What one op costs a device, on the shapes that it has.
struct OpPrice {
  /// Floating-point operations, and bytes of memory that it reads and writes.
  double flops = 0, bytes = 0;

  double secondsOn(const Device &device) const { return computeSeconds(device, flops, bytes); }
};

/// An op that is not in a kernel yet. Values that stay in registers of the kernel that the op
/// will be in have no bytes (getFusedBytes), and an op that reads a part of an operand, as a
/// gather does, has the bytes of that part. An op without CostOpInterface costs nothing.
OpPrice priceBeforeFusion(mlir::Operation *op);

/// A kernel or an update: the operations of all ops in it, and the bytes of its operands and
/// results, each read or written once.
OpPrice priceKernel(mlir::Operation *kernel);

/// A collective of the dialect `dist`, over the axes that it names.
Price priceCollective(mlir::Operation *collective, const Machine &machine);

} // namespace dpc

#endif // DPC_PASSES_PRICES_OPPRICES_H
