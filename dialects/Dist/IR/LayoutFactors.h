// Splitting and merging of factors.
//
// Private to the layout algebra: the exact steps from which reshapes and
// equality are built. "Exact" means that on every device the same indices stay
// in the same order, padding included.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H
#define DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H

#include "dialects/Dist/IR/Layout.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc::dist {

using Factors = llvm::SmallVector<Factor, 4>;

/// Calls `fn` with coordinates that run over all of `axes` (names the mesh
/// lacks are skipped) and are 0 elsewhere, until it returns false. Returns
/// whether it never did.
bool forAllCoordinates(llvm::ArrayRef<std::string> axes, const MeshShape &mesh,
                       llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> fn);

/// Does no axis of more than one device cut `factor`?
bool isUncut(const Factor &factor, const MeshShape &mesh);

/// Moves the axes that cut a single index (the device at coordinate 0 has it,
/// the others padding) from `factor` to the end of `guards`. A factor (1:
/// guards) may then stand anywhere in the product. Axes of one device are
/// dropped.
void extractGuards(Factor &factor, AxisNames &guards, const MeshShape &mesh);

/// `factor` as (size / minorSize: a)(minorSize: b) with a and b its axes in
/// order, if that is exact. Needs: minorSize divides the size; guards
/// extracted.
std::optional<std::pair<Factor, Factor>> splitFactor(const Factor &factor, int64_t minorSize,
                                                     const MeshShape &mesh);

/// The one factor that is exactly (major)(minor), if there is one. Needs:
/// guards extracted.
std::optional<Factor> mergeFactors(const Factor &major, const Factor &minor, const MeshShape &mesh);

/// All of `factors` as one, if that is exact; their guards are appended to
/// `guards`.
std::optional<Factor> mergeAllFactors(llvm::ArrayRef<Factor> factors, AxisNames &guards,
                                      const MeshShape &mesh);

/// Cuts the product `factors` into two, the second of extent `minorExtent`,
/// exactly. Splits a factor only where the cut falls inside it. With
/// `mayMerge`, factors beside the cut may be merged first.
std::optional<std::pair<Factors, Factors>> cutFactors(llvm::ArrayRef<Factor> factors,
                                                      int64_t minorExtent, bool mayMerge,
                                                      const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H
