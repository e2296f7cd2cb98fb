// Rewrites two layouts of one dimension with the same factors.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H
#define DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H

#include "dialects/Dist/IR/Layout.h"

namespace dpc::dist {

/// Whether both have segments with the same factor sizes, whether cut or not.
bool haveSameFactors(const DimLayout &a, const DimLayout &b);

/// Rewrites both layouts, which have the same extent, with the same factor sizes as
/// far as that is exact: every device keeps the same indices of each in the same
/// order, including padding. A factor that several axes cut becomes one factor per
/// axis. A segment that no axis cuts takes the factors of the other layout. Returns
/// whether the factor sizes agree. If not, both layouts still mean the same as
/// before on every device.
bool alignFactors(DimLayout &a, DimLayout &b, const MeshShape &mesh);

/// `dim` with the same factors, of which no axis cuts any.
DimLayout withoutAxes(DimLayout dim);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H
