// The work of ops, before and after fusion, and the prices of collectives.

#ifndef DPC_PASSES_PRICES_OPPRICES_H
#define DPC_PASSES_PRICES_OPPRICES_H

#include "dialects/Dist/IR/Collectives.h"
#include "planning/FactorForm.h"
#include "planning/Prices.h"

namespace dpc {

/// The work of an op before kernels are formed, for the shapes of its operands and results. A value
/// that will stay in the registers of a kernel adds no bytes (getFusedBytes). If an op reads only a
/// part of an operand, as a gather does, only the bytes of that part count. An op without
/// CostOpInterface does no work.
Work workBeforeFusion(mlir::Operation *op);

/// The work of adding `value` to a sum in memory, as a loop over microbatches does with each value
/// that it yields for a sum.
Work workOfSum(mlir::Value value);

/// The work of a kernel or an update: the floating-point operations of all ops in it, and the
/// bytes of its operands and results, each read or written once. Of an operand that only gathers
/// read, the bytes that they gather count. It has the class and type of the
/// op with the most floating-point operations.
Work workOfKernel(mlir::Operation *kernel);

/// The work of a kernel whose products of f32 multiply their factors in this form. A product of
/// split factors is three products of tf32.
Work withFactors(Work work, FactorForm factors);

/// The kind of `collective` in the formulas of planning/CollectiveTimes.
CollectiveKind priceKindOf(dist::Collective collective);

/// The price of a collective of the dialect `dist`, over the mesh axes that the op names.
Price priceCollective(dist::CollectiveOpInterface collective, const MeshPrices &prices);

} // namespace dpc

#endif // DPC_PASSES_PRICES_OPPRICES_H
