// The prices of ops, before and after fusion, and of collectives.

#ifndef DPC_PASSES_PRICES_OPPRICES_H
#define DPC_PASSES_PRICES_OPPRICES_H

#include "dialects/Dist/IR/Collectives.h"
#include "planning/Prices.h"

namespace dpc {

/// The price of one op on a device, for the shapes of its operands and results.
struct OpPrice {
  /// Floating-point operations, and bytes of memory that the op reads and writes.
  double flops = 0, bytes = 0;

  double secondsOn(const Device &device) const { return computeSeconds(device, flops, bytes); }
};

/// The price of an op before kernels are formed. A value that will stay in the registers of a
/// kernel adds no bytes (getFusedBytes). If an op reads only a part of an operand, as a gather
/// does, only the bytes of that part count. An op without CostOpInterface costs nothing.
OpPrice priceBeforeFusion(mlir::Operation *op);

/// The price of adding `value` to a sum in memory, as a loop over microbatches does with each value
/// that it yields for a sum.
OpPrice priceAccumulation(mlir::Value value);

/// The price of a kernel or an update: the floating-point operations of all ops in it, and the
/// bytes of its operands and results, each read or written once.
OpPrice priceKernel(mlir::Operation *kernel);

/// The kind of `collective` in the formulas of planning/Prices.
CollectiveKind priceKindOf(dist::Collective collective);

/// The price of a collective of the dialect `dist`, over the mesh axes that the op names.
Price priceCollective(dist::CollectiveOpInterface collective, const Machine &machine);

} // namespace dpc

#endif // DPC_PASSES_PRICES_OPPRICES_H
