// Reductions of row ranges, such as the bags of an EmbeddingBag.

#ifndef DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H
#define DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// Segment i has the rows begin[i], .., end[i] - 1 of `rows`, except those for
/// which `kept` is false.
///
/// Bounds that are known at import are in [0, number of rows]. Other bounds come from
/// one tensor of non-decreasing offsets: segment i begins at element i of the offsets
/// and ends at element i + 1.
struct Segments {
  mlir::Value rows;
  /// int64, one element per segment.
  mlir::Value begin, end;
  /// i1, one element per row; null if all rows take part.
  mlir::Value kept;

  int64_t count() const { return shapeOf(begin)[0]; }
};

/// The elements of a known integer or boolean value.
std::optional<std::vector<int64_t>> knownInts(mlir::Value value);

/// Whether two integer values of one size are known to have equal elements.
bool haveEqualElements(mlir::Value left, mlir::Value right);

/// `left` where `mask` is true, else `right`, for integers with one element per
/// segment. Returns `right` without a select if `left` and `right` are known to be equal
/// wherever `mask` is true.
mlir::Value selectBound(Conversion &c, mlir::Value mask, mlir::Value left, mlir::Value right);

/// The `count` elements of `offsets`, a tensor of rank 1, from element `first` on: one
/// bound of `count` segments. The op is a gather, not a slice. The begins and the ends of
/// segments are ranges of the same offsets, shifted by one. If the ranges were slices, a
/// layout that shards the begins and the ends would have to shard the offsets at two
/// different places.
mlir::Value takeOffsets(Conversion &c, mlir::Value offsets, int64_t first, int64_t count);

/// Whether `left` and `right` are known to have the same bounds and leave out the same
/// rows.
bool haveEqualBounds(const Segments &left, const Segments &right);

/// The number of rows of each segment, int64. Null if `segments.kept` is given and
/// reduceSegments cannot sum it.
mlir::Value countRows(Conversion &c, const Segments &segments);

/// The sum or the maximum (`kind`) of each segment, 0 for a segment without rows. Null
/// if the bounds are not known at import and some segment is not known to end where the
/// next one begins. If several rows of a segment have the maximum of a column, the
/// gradient goes to the first of these rows.
mlir::Value reduceSegments(Conversion &c, const Segments &segments, nn::ReduceKind kind);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H
