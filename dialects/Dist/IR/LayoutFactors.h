// Splits and merges factors.
//
// Private to the layout algebra: the exact steps from which reshapes and equality
// are built. "Exact" means that every device keeps the same indices in the same
// order, including padding.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H
#define DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H

#include "dialects/Dist/IR/Layout.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc::dist {

using Factors = llvm::SmallVector<Factor, 4>;

/// Calls `fn` with all coordinates along `axes` (names that the mesh lacks are
/// skipped) and 0 along the other axes, until it returns false. Returns whether
/// `fn` never returned false.
bool forAllCoordinates(llvm::ArrayRef<std::string> axes, const MeshShape &mesh,
                       llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> fn);

/// Whether no axis of more than one device cuts `factor`.
bool isUncut(const Factor &factor, const MeshShape &mesh);

/// Moves axes from `factor` to the end of `guards` if they cut a single index: the
/// device at coordinate 0 has the index, and the others have padding. A factor (1:
/// guards) may then be anywhere in the product. Axes of one device are dropped.
void extractGuards(Factor &factor, AxisNames &guards, const MeshShape &mesh);

/// `factor` as (size / minorSize: a)(minorSize: b), with a and b its axes in order,
/// if that is exact. Needs: minorSize divides the size; guards are extracted.
std::optional<std::pair<Factor, Factor>> splitFactor(const Factor &factor, int64_t minorSize,
                                                     const MeshShape &mesh);

/// The single factor that is exactly (major)(minor), if there is one. Needs: guards
/// are extracted.
std::optional<Factor> mergeFactors(const Factor &major, const Factor &minor, const MeshShape &mesh);

/// All of `factors` as a single factor, if that is exact; their guards are appended
/// to `guards`.
std::optional<Factor> mergeAllFactors(llvm::ArrayRef<Factor> factors, AxisNames &guards,
                                      const MeshShape &mesh);

/// Splits the product `factors` exactly into two products, the second of extent
/// `minorExtent`. Splits a factor only if the boundary is inside it. With
/// `mayMerge`, factors next to the boundary may be merged first.
std::optional<std::pair<Factors, Factors>> cutFactors(llvm::ArrayRef<Factor> factors,
                                                      int64_t minorExtent, bool mayMerge,
                                                      const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H
