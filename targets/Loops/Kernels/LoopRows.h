#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPROWS_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPROWS_H

#include <cstdint>

namespace dpc {

/// How the values of a loop group are divided into rows. All rows of a value have the same
/// number of elements. A row consists of `pieces` runs of consecutive elements. The first runs of
/// all rows come first, in the order of the rows, then the second runs of all rows, and so on. If
/// a value has only one element per row, this element is the row.
///
/// For example, the channels of a [samples, channels, points] tensor are `channels` rows of
/// `samples` pieces, and a run has `points` elements. With one piece, rows are consecutive parts.
struct LoopRows {
  int64_t count = 1, pieces = 1;

  bool operator==(const LoopRows &other) const {
    return count == other.count && pieces == other.pieces;
  }
  bool isSplit() const { return pieces > 1; }
  /// Whether a value with this number of elements can be divided into these rows.
  bool fit(int64_t elements) const { return elements == count || elements % (count * pieces) == 0; }
  /// The number of pieces of a row, and the number of elements of a piece, of a value with
  /// `elements` elements.
  int64_t piecesOf(int64_t elements) const { return elements == count ? 1 : pieces; }
  int64_t runOf(int64_t elements) const { return elements / count / piecesOf(elements); }
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPROWS_H
