// Two layouts of one dimension, written with the same factors.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H
#define DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H

#include "dialects/Dist/IR/Layout.h"

namespace dpc::dist {

/// Whether both have segments of the same factor sizes, cut or not.
bool haveSameFactors(const DimLayout &a, const DimLayout &b);

/// Writes both, of the same extent, with the same factor sizes, and factors
/// that several axes cut as one factor an axis, as far as that is exact: every
/// device holds the same indices of each in the same order as before, padding
/// included. What nothing cuts takes the factors of the other. Returns whether
/// the factor sizes agree; if not, both are still what they were on every
/// device.
bool alignFactors(DimLayout &a, DimLayout &b, const MeshShape &mesh);

/// `dim` with nothing cut, in the same factors.
DimLayout withoutAxes(DimLayout dim);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTALIGNMENT_H
