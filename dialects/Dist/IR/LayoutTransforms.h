// Computes the layouts of the results of structural ops: reshape, transpose,
// concat, slice, broadcast.
//
// Each function returns the layout of the result for which no device needs data of
// another device: every device applies the op to its own shards, and gets its shard
// of the result. Returns none if there is no layout with this property. The result
// has the partial axes of the operand, and is normalised.

#ifndef DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H
#define DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H

#include "dialects/Dist/IR/DimStructure.h"

namespace dpc::dist {

/// The layout after a row-major reshape from layout.shape() to `toShape`. The bytes
/// of each shard stay the same, including padding. Returns none also if the numbers
/// of elements differ.
std::optional<Layout> reshapeLayout(const Layout &layout, llvm::ArrayRef<int64_t> toShape,
                                    const MeshShape &mesh);

/// The structures after a row-major reshape: the coarsest structures of the
/// result's dimensions such that every factor of `dims` is a product of their
/// factors. None if there are no structures with this property.
std::optional<llvm::SmallVector<DimStructure, 4>>
reshapeStructure(llvm::ArrayRef<DimStructure> dims, llvm::ArrayRef<int64_t> toShape);

/// The layout after a transpose: dimension i of the result is dimension
/// `permutation[i]` of the operand. None if `permutation` is not a permutation.
std::optional<Layout> transposeLayout(const Layout &layout, llvm::ArrayRef<int64_t> permutation);

/// The layout after a concatenation of operands with the layouts `layouts` along
/// `dim`. None if two operands have different partial axes, or if a device has
/// different indices of two operands in a dimension other than `dim`.
std::optional<Layout> concatLayouts(llvm::ArrayRef<Layout> layouts, unsigned dim,
                                    const MeshShape &mesh);

/// The indices [begin, begin + size) of `dim`. The slice may take complete
/// segments, and a part of a segment along its leading uncut factor. On every
/// device, the local indices of the slice are consecutive. They start at
/// localExtent(sliceDim(dim, 0, begin, mesh)), and there are localExtent(result) of
/// them.
std::optional<DimLayout> sliceDim(const DimLayout &dim, int64_t begin, int64_t size,
                                  const MeshShape &mesh);

/// The layout after the indices [begin, begin + size) of dimension `dim` are taken.
std::optional<Layout> sliceLayout(const Layout &layout, unsigned dim, int64_t begin, int64_t size,
                                  const MeshShape &mesh);

/// The layout after a broadcast to `toShape`. Dimension i of the operand becomes
/// dimension `dimMap[i]` of the result; `dimMap` ascends. The dimension keeps its
/// extent, or has extent 1 and is expanded. All other dimensions of the result are
/// new. New and expanded dimensions are replicated.
std::optional<Layout> broadcastLayout(const Layout &layout, llvm::ArrayRef<int64_t> toShape,
                                      llvm::ArrayRef<int64_t> dimMap);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_LAYOUTTRANSFORMS_H
