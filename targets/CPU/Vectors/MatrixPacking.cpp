// Copies the factors of matrix products into tiles.

#include "targets/CPU/Vectors/MatrixPacking.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

void MatrixPacker::clear(Value packed, Index tile, int64_t first, int64_t stride, int64_t depth) {
  Value zero = code.zero();
  e.sequence(depth, [&](Index k) {
    code.store(zero, code.at(packed, (tile * depth + k) * stride + first));
  });
}

void MatrixPacker::pack(Value packed, const TileRun &run, int64_t depth, const StridedMatrix &from,
                        ReadElement read) {
  if (run.count <= 0)
    return;
  if (from && from.rowStride == 1)
    return copy(packed, run, depth, from);
  if (from && from.columnStride == 1 && depth >= code.lanes)
    return transpose(packed, run, depth, from, read);
  e.forEach({run.count, depth, run.width}, [&](ArrayRef<Index> i) {
    Index number = ((run.tile + i[0]) * depth + i[1]) * run.stride + i[2];
    e.storeAt(packed, read(run.lane + i[0] * run.width + i[2], i[1]), number);
  });
}

// A few rows side by side, so that each line of memory is read once.
void MatrixPacker::copy(Value packed, const TileRun &run, int64_t depth,
                        const StridedMatrix &from) {
  int64_t together = depth % 4 == 0 ? 4 : 1;
  e.sequence(depth / together, [&](Index group) {
    e.sequence(run.count, [&](Index tile) {
      for (int64_t u = 0; u < together; ++u) {
        Index k = group * together + u;
        // Rows may be pages apart.
        code.prefetch(from.address, from.at(run.lane + tile * run.width, k + 12), 3);
        for (int64_t lane = 0; lane < run.width; lane += code.lanes) {
          Value vector =
              code.loadShort(code.at(from.address, from.at(run.lane + tile * run.width + lane, k)),
                             std::min(code.lanes, run.width - lane));
          code.store(vector, code.at(packed, ((run.tile + tile) * depth + k) * run.stride + lane));
        }
      }
    });
  });
}

void MatrixPacker::transpose(Value packed, const TileRun &run, int64_t depth,
                             const StridedMatrix &from, ReadElement read) {
  int64_t lanes = code.lanes;
  // In a tile of one square, stores overlap: the next one puts right what was
  // written past the width.
  bool overlap = run.width <= lanes;
  Value zero = code.zero();
  int64_t whole = depth / lanes * lanes;
  e.sequence(run.count, [&](Index tile) {
    Index lane = run.lane + tile * run.width, to = (run.tile + tile) * depth;
    e.sequence(depth / lanes, [&](Index square) {
      for (int64_t first = 0; first < run.width; first += lanes) {
        int64_t count = std::min(lanes, run.width - first);
        Values rows(lanes, zero);
        for (int64_t r = 0; r < count; ++r)
          rows[r] = code.load(code.at(from.address, from.at(lane + first + r, square * lanes)));
        for (auto [k, column] : llvm::enumerate(code.transposed(rows)))
          code.store(count < lanes && !overlap ? code.firstLanes(column, count) : column,
                     code.at(packed, (to + square * lanes + int64_t(k)) * run.stride + first));
      }
    });
    if (depth > whole)
      e.forEach({depth - whole, run.width}, [&](ArrayRef<Index> i) {
        e.storeAt(packed, read(lane + i[1], i[0] + whole), (to + whole + i[0]) * run.stride + i[1]);
      });
  });
}
