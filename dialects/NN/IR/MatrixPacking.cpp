#include "dialects/NN/IR/MatrixPacking.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

MatrixPacker::MatrixPacker(LoopEmitter &emitter, Type elementType)
    : e(emitter), elementType(elementType),
      bytes(elementType.getIntOrFloatBitWidth() / 8),
      lanes(emitter.vectorBytes / bytes) {}

Value MatrixPacker::address(Value base, Index number) {
  return e.make<LLVM::GEPOp>(
      LLVM::LLVMPointerType::get(e.builder.getContext()), elementType, base,
      ValueRange(e.materialize(number)), /*inbounds=*/true);
}

void MatrixPacker::prefetch(Value base, Index number, int locality) {
  Value place =
      e.make<LLVM::GEPOp>(LLVM::LLVMPointerType::get(e.builder.getContext()),
                          elementType, base, ValueRange(e.materialize(number)));
  e.make<LLVM::Prefetch>(place, /*write=*/0, locality, /*data=*/1);
}

Value MatrixPacker::load(Value base, Index number, int64_t count) {
  auto op = e.make<LLVM::LoadOp>(VectorType::get({count}, elementType),
                                 address(base, number), bytes);
  op.setAccessGroupsAttr(e.accessGroups);
  return op;
}

void MatrixPacker::store(Value base, Index number, Value vector) {
  auto op = e.make<LLVM::StoreOp>(vector, address(base, number), bytes);
  op.setAccessGroupsAttr(e.accessGroups);
}

void MatrixPacker::clear(Value packed, Index tile, int64_t first,
                         int64_t stride, int64_t depth) {
  Value zero = e.make<arith::ConstantOp>(
      DenseElementsAttr::get(VectorType::get({lanes}, elementType),
                             e.builder.getFloatAttr(elementType, 0.0)));
  e.sequence(depth, [&](Index k) {
    store(packed, (tile * depth + k) * stride + first, zero);
  });
}

void MatrixPacker::pack(Value packed, const TileRun &run, int64_t depth,
                        const StridedMatrix &from, ReadElement read) {
  if (run.count <= 0)
    return;
  if (from && from.rowStride == 1)
    return copy(packed, run, depth, from);
  if (from && from.columnStride == 1 && depth >= lanes)
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
        prefetch(from.address, from.at(run.lane + tile * run.width, k + 12), 3);
        for (int64_t lane = 0; lane < run.width; lane += lanes) {
          Value vector =
              load(from.address, from.at(run.lane + tile * run.width + lane, k),
                   std::min(lanes, run.width - lane));
          store(packed, ((run.tile + tile) * depth + k) * run.stride + lane,
                vector);
        }
      }
    });
  });
}

void MatrixPacker::transpose(Value packed, const TileRun &run, int64_t depth,
                             const StridedMatrix &from, ReadElement read) {
  // In a tile of one square, stores overlap: the next one puts right what was
  // written past the width.
  bool overlap = run.width <= lanes;
  Value zero = e.make<arith::ConstantOp>(
      DenseElementsAttr::get(VectorType::get({lanes}, elementType),
                             e.builder.getFloatAttr(elementType, 0.0)));
  int64_t whole = depth / lanes * lanes;
  e.sequence(run.count, [&](Index tile) {
    Index lane = run.lane + tile * run.width, to = (run.tile + tile) * depth;
    e.sequence(depth / lanes, [&](Index square) {
      for (int64_t first = 0; first < run.width; first += lanes) {
        int64_t count = std::min(lanes, run.width - first);
        Values rows(lanes, zero);
        for (int64_t r = 0; r < count; ++r)
          rows[r] = load(from.address,
                         from.at(lane + first + r, square * lanes), lanes);
        for (auto [k, column] : llvm::enumerate(transposed(rows))) {
          Value part = column;
          if (count < lanes && !overlap) {
            auto mask = llvm::to_vector(llvm::seq<int32_t>(0, count));
            part = e.make<LLVM::ShuffleVectorOp>(column, column, mask);
          }
          store(packed, (to + square * lanes + int64_t(k)) * run.stride + first,
                part);
        }
      }
    });
    if (depth > whole)
      e.forEach({depth - whole, run.width}, [&](ArrayRef<Index> i) {
        e.storeAt(packed, read(lane + i[1], i[0] + whole),
                  (to + whole + i[0]) * run.stride + i[1]);
      });
  });
}

Value MatrixPacker::shuffle(Value a, Value b, ArrayRef<int32_t> mask) {
  return e.make<LLVM::ShuffleVectorOp>(a, b, mask);
}

// First squares of one 128-bit lane, by unpacking, then the lanes themselves:
// each step is one instruction.
Values MatrixPacker::transposed(Values rows) {
  int32_t n = lanes, width = 16 / bytes, groups = n / width;
  // Two of every `width`: the low or high `size` elements of a and b in turn.
  auto unpack = [&](Value a, Value b, int32_t size, bool high) {
    SmallVector<int32_t> mask;
    for (int32_t lane = 0; lane < n; lane += width)
      for (int32_t i = 0; i < width / 2; i += size) {
        int32_t from = lane + (high ? width / 2 : 0) + i;
        for (int32_t j = 0; j < size; ++j)
          mask.push_back(from + j);
        for (int32_t j = 0; j < size; ++j)
          mask.push_back(n + from + j);
      }
    return shuffle(a, b, mask);
  };
  Values now(n);
  for (int32_t i = 0; i < n; i += 2) {
    now[i] = unpack(rows[i], rows[i + 1], 1, false);
    now[i + 1] = unpack(rows[i], rows[i + 1], 1, true);
  }
  if (width == 4) {
    Values next(n);
    for (int32_t g = 0; g < n; g += 4)
      for (int32_t i = 0; i < 2; ++i) {
        next[g + 2 * i] = unpack(now[g + i], now[g + i + 2], 2, false);
        next[g + 2 * i + 1] = unpack(now[g + i], now[g + i + 2], 2, true);
      }
    now = next;
  }
  // now[width * g + j], lane q: rows of group g, column width * q + j.
  auto pick = [&](Value a, Value b, ArrayRef<int32_t> parts) {
    SmallVector<int32_t> mask;
    for (int32_t part : parts)
      for (int32_t i = 0; i < width; ++i)
        mask.push_back(part * width + i);
    return shuffle(a, b, mask);
  };
  Values result(n);
  for (int32_t j = 0; j < width; ++j) {
    auto row = [&](int32_t g) { return now[width * g + j]; };
    if (groups == 2) {
      result[j] = pick(row(0), row(1), {0, 2});
      result[width + j] = pick(row(0), row(1), {1, 3});
      continue;
    }
    Value low01 = pick(row(0), row(1), {0, 1, 4, 5}),
          high01 = pick(row(0), row(1), {2, 3, 6, 7}),
          low23 = pick(row(2), row(3), {0, 1, 4, 5}),
          high23 = pick(row(2), row(3), {2, 3, 6, 7});
    result[j] = pick(low01, low23, {0, 2, 4, 6});
    result[width + j] = pick(low01, low23, {1, 3, 5, 7});
    result[2 * width + j] = pick(high01, high23, {0, 2, 4, 6});
    result[3 * width + j] = pick(high01, high23, {1, 3, 5, 7});
  }
  return result;
}
