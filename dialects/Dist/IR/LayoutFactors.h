// Splits and merges factors.
//
// Only the layout algebra uses this header: refinements, reshapes, alignment and
// equality are built from these steps. A step is *exact* if every device keeps
// the same indices in the same order, including padding. A step that would not be
// exact is not made.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H
#define DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H

#include "dialects/Dist/IR/Layout.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc::dist {

using Factors = llvm::SmallVector<Factor, 4>;

/// Calls `fn` for all coordinates along `axes`, with coordinate 0 on all other
/// axes, until `fn` returns false. Skips axes that the mesh does not have. Returns
/// true if no call returned false.
bool forAllCoordinates(llvm::ArrayRef<std::string> axes, const MeshShape &mesh,
                       llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> fn);

/// Whether no axis of more than one device cuts `factor`.
bool isUncut(const Factor &factor, const MeshShape &mesh);

/// A *guard* is an axis that cuts a single index: only the device at coordinate 0
/// has the index, and the others have padding. This function moves the guards of
/// `factor` to the end of `guards`. A factor (1: guards) may then be at any
/// position of the product. Axes with one device are dropped.
void extractGuards(Factor &factor, AxisNames &guards, const MeshShape &mesh);

/// Splits `factor` into (size / minorSize: a)(minorSize: b), if that is exact. The
/// axes a and then b are the axes of `factor` in order. Needs: minorSize divides
/// the size; guards are extracted.
std::optional<std::pair<Factor, Factor>> splitFactor(const Factor &factor, int64_t minorSize,
                                                     const MeshShape &mesh);

/// Merges (major)(minor) into a single factor, if that is exact. Needs: guards are
/// extracted.
std::optional<Factor> mergeFactors(const Factor &major, const Factor &minor, const MeshShape &mesh);

/// Merges all `factors` into a single factor, if that is exact. Appends their
/// guards to `guards`.
std::optional<Factor> mergeAllFactors(llvm::ArrayRef<Factor> factors, AxisNames &guards,
                                      const MeshShape &mesh);

/// Splits the product `factors` into two products, if that is exact. The second
/// product has the extent `minorExtent`. Splits a factor only if the boundary is
/// inside this factor. If `mayMerge` is set, it may first merge factors next to the
/// boundary.
std::optional<std::pair<Factors, Factors>> cutFactors(llvm::ArrayRef<Factor> factors,
                                                      int64_t minorExtent, bool mayMerge,
                                                      const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTFACTORS_H
