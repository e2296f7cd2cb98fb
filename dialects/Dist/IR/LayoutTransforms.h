// Layouts through ops that move data.
//
// For each structural op: the layout of the result with which every device makes
// its shard of the result from its own shard of the operand, by the same op on
// local shapes. None if there is no such layout, because data would have to move
// between devices. Partial axes are kept. Results are normalised.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H
#define DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H

#include "dialects/Dist/IR/DimStructure.h"

namespace dpc::dist {

/// Row-major reshape of a tensor of layout.shape() to `toShape`. The buffer of a
/// shard stays as it is, including padding. Also none if the numbers of elements
/// differ.
std::optional<Layout> reshapeLayout(const Layout &layout, llvm::ArrayRef<int64_t> toShape,
                                    const MeshShape &mesh);

/// The same for structures: the coarsest factors of the result dimensions from
/// which every factor of `dims` can be derived. None if a factor would have to be
/// dropped.
std::optional<llvm::SmallVector<DimStructure, 4>>
reshapeStructure(llvm::ArrayRef<DimStructure> dims, llvm::ArrayRef<int64_t> toShape);

/// Result dimension i is operand dimension `permutation[i]`. None if `permutation`
/// is no permutation.
std::optional<Layout> transposeLayout(const Layout &layout, llvm::ArrayRef<int64_t> permutation);

/// Concatenation of `layouts` along `dim`: each device concatenates its shards.
/// None unless the other dimensions have the same indices on every device and the
/// partial axes agree.
std::optional<Layout> concatLayouts(llvm::ArrayRef<Layout> layouts, unsigned dim,
                                    const MeshShape &mesh);

/// Indices [begin, begin + size) of `dim`: complete segments, and parts of segments
/// along a leading uncut factor. On every device they are localExtent(result) local
/// indices, which start at the localExtent of the slice [0, begin). That slice
/// exists whenever this one does.
std::optional<DimLayout> sliceDim(const DimLayout &dim, int64_t begin, int64_t size,
                                  const MeshShape &mesh);

/// `layout` with dimension `dim` sliced.
std::optional<Layout> sliceLayout(const Layout &layout, unsigned dim, int64_t begin, int64_t size,
                                  const MeshShape &mesh);

/// Broadcast to `toShape`: operand dimension i becomes result dimension `dimMap[i]`
/// (ascending). Its extent is kept, or is 1 and expanded. Every other result
/// dimension is new. New and expanded dimensions are replicated.
std::optional<Layout> broadcastLayout(const Layout &layout, llvm::ArrayRef<int64_t> toShape,
                                      llvm::ArrayRef<int64_t> dimMap);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H
