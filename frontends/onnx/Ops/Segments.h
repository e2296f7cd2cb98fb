// Reductions of row ranges, such as the bags of an EmbeddingBag.

#ifndef DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H
#define DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// Segment i has the rows begin[i], .., end[i] - 1 of `rows`, except those for
/// which `kept` is false.
///
/// Bounds that are known at import are in [0, number of rows]. Other bounds are
/// consecutive elements of one tensor of non-decreasing offsets: element i and
/// element i + 1.
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
/// segment. Folds to one of them if the result is known to be the same.
mlir::Value selectBound(Conversion &c, mlir::Value mask, mlir::Value left, mlir::Value right);

/// Elements `first`, .. of `offsets`, a tensor of rank 1, for `count` segments. This is
/// a gather and not a slice: begin and end are two slices of the offsets, shifted by
/// one. A layout that cuts both would have to cut the offsets at two different places.
mlir::Value takeOffsets(Conversion &c, mlir::Value offsets, int64_t first, int64_t count);

/// Whether two objects have the same bounds and leave out the same rows.
bool haveEqualBounds(const Segments &left, const Segments &right);

/// The number of rows of each segment, int64; null if the bounds are data in
/// another form.
mlir::Value countRows(Conversion &c, const Segments &segments);

/// The sum or the maximum (`kind`) of each segment, 0 for a segment without rows;
/// null if the bounds are data in another form. The gradient of a maximum goes to
/// the first of equal rows.
mlir::Value reduceSegments(Conversion &c, const Segments &segments, nn::ReduceKind kind);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H
