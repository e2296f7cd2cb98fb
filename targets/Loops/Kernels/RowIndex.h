#ifndef DPC_TARGETS_LOOPS_KERNELS_ROWINDEX_H
#define DPC_TARGETS_LOOPS_KERNELS_ROWINDEX_H

#include "targets/Loops/IndexSpace.h"
#include "targets/Loops/Kernels/LoopRows.h"

namespace dpc {

/// Converts between the numbers of elements in a value with `elements` elements and in its rows.
class RowIndex {
public:
  using Index = IndexSpace::Index;

  RowIndex(const IndexSpace &space, const LoopRows &rows, int64_t elements)
      : space(space), count(rows.count), run(rows.runOf(elements)),
        isSplit(rows.piecesOf(elements) > 1) {}

  /// The row-major number of element `inRow` of row `row`.
  Index numberOf(Index row, Index inRow) const {
    if (!isSplit)
      return row * run + inRow;
    // As a sum of one term per variable, which IndexSpace can divide.
    return space.floorDiv(inRow, run) * (run * count) + row * run + space.mod(inRow, run);
  }
  /// The row of element `number`.
  Index rowOf(Index number) const {
    Index piece = space.floorDiv(number, run);
    return isSplit ? space.mod(piece, count) : piece;
  }
  /// The number of element `number` in its row, which is row `row`.
  Index inRow(Index row, Index number) const {
    if (!isSplit)
      return number - row * run;
    return space.floorDiv(number, run * count) * run + space.mod(number, run);
  }

private:
  const IndexSpace &space;
  int64_t count, run;
  bool isSplit;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_ROWINDEX_H
