// Reductions of rows between bounds, such as the bags of an EmbeddingBag.

#ifndef DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H
#define DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// Segment i is the rows begin[i], .., end[i] - 1 of `rows`, without those that
/// `kept` leaves out.
///
/// Bounds that are known are in [0, number of rows]. Others are the elements of
/// one tensor of offsets, which do not decrease, and those after them.
struct Segments {
  mlir::Value rows;
  /// int64, one element a segment.
  mlir::Value begin, end;
  /// i1, one element a row; null where all rows take part.
  mlir::Value kept;

  int64_t count() const { return shapeOf(begin)[0]; }
};

/// The elements of an integer value that is known, booleans among them.
std::optional<std::vector<int64_t>> knownInts(mlir::Value value);

/// Whether two integer values of one size have equal elements, as far as that is known.
bool haveEqualElements(mlir::Value left, mlir::Value right);

/// `left` where `mask` holds, else `right`: one of them where that is known to be the
/// same. Integers, one a segment.
mlir::Value selectBound(Conversion &c, mlir::Value mask, mlir::Value left, mlir::Value right);

/// Elements `first`, .. of `offsets`, of rank 1, one for each of `count` segments. That
/// is no slice: a layout that cut one bound would cut the offsets at one place, the
/// other bound at the next, and so on.
mlir::Value takeOffsets(Conversion &c, mlir::Value offsets, int64_t first, int64_t count);

/// Whether segments have the same bounds and leave out the same rows.
bool haveEqualBounds(const Segments &left, const Segments &right);

/// How many rows each segment has, int64; null where the bounds are data of
/// another form.
mlir::Value countRows(Conversion &c, const Segments &segments);

/// The sum or the maximum (`kind`) of each segment, 0 for one without rows; null
/// where the bounds are data of another form. The first of equal maxima has the
/// gradient.
mlir::Value reduceSegments(Conversion &c, const Segments &segments, nn::ReduceKind kind);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SEGMENTS_H
