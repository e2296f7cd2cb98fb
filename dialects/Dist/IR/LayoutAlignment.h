// Rewrites two layouts of one dimension so that both have the same factors.
// Reshards compare layouts factor by factor.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H
#define DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H

#include "dialects/Dist/IR/Layout.h"

namespace dpc::dist {

/// Whether the segments of `a` and `b` have the same factor sizes. Axes are not
/// compared.
bool haveSameFactors(const DimLayout &a, const DimLayout &b);

/// Rewrites two layouts of one extent so that they have the same factor sizes, as
/// far as this is exact. Exact means that every device keeps the indices and the
/// padding that it had in each layout, in the same order. A factor that several
/// axes cut becomes one factor per axis. If no axis cuts one of the layouts, this
/// layout takes the segments and factors of the other one. Returns whether the
/// factor sizes agree. If they do not, both layouts still give every device the
/// same indices as before.
bool alignFactors(DimLayout &a, DimLayout &b, const MeshShape &mesh);

/// `dim` with the same factors but without axes.
DimLayout withoutAxes(DimLayout dim);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H
