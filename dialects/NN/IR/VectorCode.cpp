#include "dialects/NN/IR/VectorCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

VectorCode::VectorCode(LoopEmitter &emitter, Type elementType, int64_t lanes)
    : e(emitter), elementType(elementType),
      bytes(elementType.getIntOrFloatBitWidth() / 8),
      lanes(lanes ? lanes : emitter.vectorBytes / bytes),
      type(VectorType::get({this->lanes}, elementType)) {}

Value VectorCode::at(Value base, Index number) {
  if (auto constant = dyn_cast<AffineConstantExpr>(number))
    if (constant.getValue() == 0)
      return base;
  return e.make<LLVM::GEPOp>(
      LLVM::LLVMPointerType::get(e.builder.getContext()), elementType, base,
      ValueRange(e.materialize(number)), /*inbounds=*/true);
}

Value VectorCode::scratch(int64_t elements) {
  return e.getScratch(elements * bytes);
}

Value VectorCode::zero() {
  return e.make<arith::ConstantOp>(
      DenseElementsAttr::get(type, e.builder.getFloatAttr(elementType, 0.0)));
}

Value VectorCode::maskOf(int64_t count) {
  SmallVector<bool> mask(lanes, false);
  std::fill_n(mask.begin(), count, true);
  auto maskType = VectorType::get({lanes}, e.builder.getI1Type());
  return e.make<LLVM::ConstantOp>(maskType,
                                  DenseElementsAttr::get(maskType, mask));
}

Value VectorCode::load(Value address, int64_t count) {
  if (count < lanes)
    return e.make<LLVM::MaskedLoadOp>(type, address, maskOf(count),
                                      ValueRange(zero()), int32_t(bytes));
  auto op = e.make<LLVM::LoadOp>(type, address, bytes);
  op.setAccessGroupsAttr(e.accessGroups);
  return op;
}

void VectorCode::store(Value vector, Value address, int64_t count) {
  if (count < lanes) {
    e.make<LLVM::MaskedStoreOp>(vector, address, maskOf(count), int32_t(bytes));
    return;
  }
  auto op = e.make<LLVM::StoreOp>(vector, address, bytes);
  op.setAccessGroupsAttr(e.accessGroups);
}

Value VectorCode::loadScalar(Value address) {
  auto op = e.make<LLVM::LoadOp>(elementType, address, bytes);
  op.setAccessGroupsAttr(e.accessGroups);
  return op;
}

Value VectorCode::splat(Value scalar) {
  Value none = e.make<LLVM::PoisonOp>(type);
  Value first = e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(0));
  Value one = e.make<LLVM::InsertElementOp>(none, scalar, first);
  return e.make<LLVM::ShuffleVectorOp>(one, none,
                                       SmallVector<int32_t>(lanes, 0));
}

Value VectorCode::multiplyAdd(Value x, Value y, Value sum) {
  return e.make<LLVM::FMAOp>(x, y, sum);
}

Value VectorCode::add(Value x, Value y) { return e.make<arith::AddFOp>(x, y); }

Value VectorCode::sumOfLanes(Value vector) {
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    SmallVector<int32_t> upper(lanes, 0);
    for (int64_t i = 0; i < half; ++i)
      upper[i] = half + i;
    vector = add(vector, e.make<LLVM::ShuffleVectorOp>(vector, vector, upper));
  }
  Value first = e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(0));
  return e.make<LLVM::ExtractElementOp>(vector, first);
}

void VectorCode::fillZero(Value address, int64_t elements) {
  Value nothing = zero();
  int64_t whole = elements / lanes;
  e.forEach({whole}, [&](ArrayRef<Index> i) {
    store(nothing, at(address, i[0] * lanes));
  });
  if (elements % lanes)
    store(nothing, at(address, e.constant(whole * lanes)), elements % lanes);
}

void VectorCode::copyPadded(Value from, int64_t count, Value to,
                            int64_t width) {
  for (int64_t i = 0; i < width; i += lanes) {
    int64_t some = std::clamp<int64_t>(count - i, 0, lanes);
    store(some ? load(at(from, e.constant(i)), some) : zero(),
          at(to, e.constant(i)));
  }
}

// Exchanges ever larger off-diagonal blocks (Eklundh, "A fast computer method
// for matrix transposing", IEEE Transactions on Computers 1972).
void VectorCode::transposeRegisters(Values &vectors) {
  for (int64_t half = 1; half < lanes; half *= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & half)
        continue;
      SmallVector<int32_t> low, high;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        bool second = lane & half;
        low.push_back(second ? lanes + lane - half : lane);
        high.push_back(second ? lanes + lane : lane + half);
      }
      Value a = vectors[i], b = vectors[i + half];
      vectors[i] = e.make<LLVM::ShuffleVectorOp>(a, b, low);
      vectors[i + half] = e.make<LLVM::ShuffleVectorOp>(a, b, high);
    }
}

void VectorCode::transpose(Matrix from, int64_t rows, int64_t columns,
                           Matrix to, bool padded) {
  auto block = [&](Index row, int64_t height, Index column, int64_t width) {
    Values vectors;
    for (int64_t i = 0; i < lanes; ++i)
      vectors.push_back(
          i < height
              ? load(at(from.address, (row + i) * from.stride + column), width)
              : zero());
    transposeRegisters(vectors);
    for (int64_t j = 0; j < width; ++j)
      store(vectors[j], at(to.address, (column + j) * to.stride + row),
            padded ? lanes : height);
  };
  auto across = [&](Index row, int64_t height) {
    e.sequence(columns / lanes,
               [&](Index j) { block(row, height, j * lanes, lanes); });
    if (columns % lanes)
      block(row, height, e.constant(columns / lanes * lanes), columns % lanes);
  };
  e.sequence(rows / lanes, [&](Index i) { across(i * lanes, lanes); });
  if (rows % lanes)
    across(e.constant(rows / lanes * lanes), rows % lanes);
}
