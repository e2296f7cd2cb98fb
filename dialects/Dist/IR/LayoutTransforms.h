// Layouts through ops that move data.
//
// For each structural op: the result layout under which every device makes its
// shard of the result from its own shard of the operand by the same op on local
// shapes. None means there is no such layout: data would have to move between
// devices. Partial axes pass through. Results are normalised.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H
#define DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H

#include "dialects/Dist/IR/DimStructure.h"

namespace dpc::dist {

/// Row-major reshape of a tensor of layout.shape() to `toShape`: the shard's
/// buffer stays as it is, padding included. Also none if the element counts
/// differ.
std::optional<Layout> reshapeLayout(const Layout &layout, llvm::ArrayRef<int64_t> toShape,
                                    const MeshShape &mesh);

/// The same for structures: the coarsest factors of the result dimensions from
/// which every factor of `dims` can be told. None where factors would have to
/// be forgotten.
std::optional<llvm::SmallVector<DimStructure, 4>>
reshapeStructure(llvm::ArrayRef<DimStructure> dims, llvm::ArrayRef<int64_t> toShape);

/// Result dimension i is operand dimension `permutation[i]`. None if that is no
/// permutation.
std::optional<Layout> transposeLayout(const Layout &layout, llvm::ArrayRef<int64_t> permutation);

/// Concatenation of `layouts` along `dim`: the local shards are concatenated.
/// None unless the other dimensions hold the same indices on every device and
/// the partial axes agree.
std::optional<Layout> concatLayouts(llvm::ArrayRef<Layout> layouts, unsigned dim,
                                    const MeshShape &mesh);

/// Indices [begin, begin + size) of `dim`: whole segments, and parts of
/// segments along a leading uncut factor. On every device they are
/// localExtent(result) local indices, which start at the localExtent of [0,
/// begin), a slice that exists whenever this one does.
std::optional<DimLayout> sliceDim(const DimLayout &dim, int64_t begin, int64_t size,
                                  const MeshShape &mesh);

/// `layout` with dimension `dim` sliced.
std::optional<Layout> sliceLayout(const Layout &layout, unsigned dim, int64_t begin, int64_t size,
                                  const MeshShape &mesh);

/// Broadcast to `toShape`: operand dimension i becomes result dimension
/// `dimMap[i]` (ascending), of equal extent or from extent 1; every other
/// result dimension is new. What is added is replicated.
std::optional<Layout> broadcastLayout(const Layout &layout, llvm::ArrayRef<int64_t> toShape,
                                      llvm::ArrayRef<int64_t> dimMap);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H
