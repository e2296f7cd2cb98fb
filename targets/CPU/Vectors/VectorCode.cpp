// Loads, stores, masks and transpositions of vectors.

#include "targets/CPU/Vectors/VectorCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

VectorCode::VectorCode(VectorEmitter &emitter, Type elementType, int64_t lanes)
    : VectorFormat(emitter.vectorBytes, elementType, lanes), e(emitter),
      type(VectorType::get({this->lanes}, elementType)) {}

Value VectorCode::at(Value base, Index number, Type memoryType) {
  if (auto constant = dyn_cast<AffineConstantExpr>(number))
    if (constant.getValue() == 0)
      return base;
  return e.make<LLVM::GEPOp>(LLVM::LLVMPointerType::get(e.builder.getContext()), memoryType, base,
                             ValueRange(e.materialize(number)), /*inbounds=*/true);
}

Value VectorCode::zero() {
  return e.make<arith::ConstantOp>(
      DenseElementsAttr::get(type, e.builder.getFloatAttr(elementType, 0.0)));
}

Value VectorCode::maskOf(int64_t count, int64_t width) {
  SmallVector<bool> mask(width, false);
  std::fill_n(mask.begin(), count, true);
  auto maskType = VectorType::get({width}, e.builder.getI1Type());
  return e.make<LLVM::ConstantOp>(maskType, DenseElementsAttr::get(maskType, mask));
}

Value VectorCode::load(Value address, int64_t count) {
  if (count < lanes)
    return e.make<LLVM::MaskedLoadOp>(type, address, maskOf(count), ValueRange(zero()),
                                      int32_t(bytes));
  auto op = e.make<LLVM::LoadOp>(type, address, bytes);
  op.setAccessGroupsAttr(e.accessGroups);
  return op;
}

void VectorCode::store(Value vector, Value address, int64_t count) {
  if (vector.getType() == type && count < lanes) {
    e.make<LLVM::MaskedStoreOp>(vector, address, maskOf(count), int32_t(bytes));
    return;
  }
  auto op = e.make<LLVM::StoreOp>(vector, address, bytes);
  op.setAccessGroupsAttr(e.accessGroups);
}

Value VectorCode::loadShort(Value address, int64_t count, Type memoryType) {
  auto op = e.make<LLVM::LoadOp>(VectorType::get({count}, memoryType), address,
                                 memoryType.getIntOrFloatBitWidth() / 8);
  op.setAccessGroupsAttr(e.accessGroups);
  return op;
}

Value VectorCode::converted(Value vector, Type to) {
  auto from = cast<VectorType>(vector.getType());
  if (from.getElementType() == to)
    return vector;
  if (from.getElementTypeBitWidth() < to.getIntOrFloatBitWidth())
    return e.make<arith::ExtFOp>(from.clone(to), vector);
  return e.make<arith::TruncFOp>(from.clone(to), vector);
}

Value VectorCode::loadBits(Value address, int64_t count, int64_t width) {
  Type bits = e.builder.getI16Type();
  if (count == width)
    return loadShort(address, count, bits);
  auto zeros = [&](int64_t size) -> Value {
    auto vector = VectorType::get({size}, bits);
    return e.make<arith::ConstantOp>(
        DenseElementsAttr::get(vector, Attribute(e.builder.getI16IntegerAttr(0))));
  };
  if (e.vectorBytes == 64)
    return e.make<LLVM::MaskedLoadOp>(VectorType::get({width}, bits), address, maskOf(count, width),
                                      ValueRange(zeros(width)), /*alignment=*/2);
  // For all lanes from `count` on, the mask selects the first lane of the second
  // vector, which is zero.
  SmallVector<int32_t> mask(width, count);
  std::iota(mask.begin(), mask.begin() + count, 0);
  return e.make<LLVM::ShuffleVectorOp>(loadShort(address, count, bits), zeros(count), mask);
}

Value VectorCode::loadPairs(Value lower, Value upper, int64_t count) {
  auto words = type.clone(e.builder.getI32Type());
  auto halves = [&](Value address) -> Value {
    return e.make<arith::ExtUIOp>(words, loadBits(address, count, lanes));
  };
  Value pairs = halves(lower);
  if (upper) {
    Value places = e.make<arith::ConstantOp>(
        DenseElementsAttr::get(words, Attribute(e.builder.getI32IntegerAttr(16))));
    pairs = e.make<arith::OrIOp>(pairs, e.make<arith::ShLIOp>(halves(upper), places).getResult());
  }
  return e.make<arith::BitcastOp>(type, pairs);
}

Value VectorCode::pairOf(Value lower, Value upper) {
  Type word = e.builder.getI32Type();
  auto half = [&](Value element) -> Value {
    return e.make<arith::ExtUIOp>(word, e.make<arith::BitcastOp>(e.builder.getI16Type(), element));
  };
  if (!upper)
    return half(lower);
  Value places = e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(16));
  return e.make<arith::OrIOp>(half(lower), e.make<arith::ShLIOp>(half(upper), places).getResult());
}

Value VectorCode::widened(Value element) {
  return element.getType() == elementType ? element
                                          : e.make<arith::ExtFOp>(elementType, element).getResult();
}

Value VectorCode::loadAs(Type memoryType, Value address, int64_t count) {
  if (memoryType == elementType)
    return load(address, count);
  Value bits = loadBits(address, count, lanes);
  return converted(e.make<arith::BitcastOp>(type.clone(memoryType), bits), elementType);
}

void VectorCode::storeAs(Type memoryType, Value vector, Value address, int64_t count) {
  if (memoryType == elementType)
    return store(vector, address, count);
  vector = converted(vector, memoryType);
  auto have = cast<VectorType>(vector.getType());
  Value bits = e.make<arith::BitcastOp>(have.clone(e.builder.getI16Type()), vector);
  if (count < have.getNumElements()) {
    if (e.vectorBytes == 64) {
      e.make<LLVM::MaskedStoreOp>(bits, address, maskOf(count), /*alignment=*/2);
      return;
    }
    bits = firstLanes(bits, count);
  }
  auto op = e.make<LLVM::StoreOp>(bits, address, /*alignment=*/2);
  op.setAccessGroupsAttr(e.accessGroups);
}

Value VectorCode::firstLanes(Value vector, int64_t count) {
  auto mask = llvm::to_vector(llvm::seq<int32_t>(0, count));
  return e.make<LLVM::ShuffleVectorOp>(vector, vector, mask);
}

void VectorCode::prefetch(Value base, Index number, int locality, Type memoryType, bool toWrite) {
  Value place = e.make<LLVM::GEPOp>(LLVM::LLVMPointerType::get(e.builder.getContext()),
                                    memoryType ? memoryType : elementType, base,
                                    ValueRange(e.materialize(number)));
  e.make<LLVM::Prefetch>(place, /*write=*/toWrite, locality, /*data=*/1);
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
  return e.make<LLVM::ShuffleVectorOp>(one, none, SmallVector<int32_t>(lanes, 0));
}

Value VectorCode::multiplyAdd(Value x, Value y, Value sum) {
  return e.make<LLVM::FMAOp>(x, y, sum);
}

Value VectorCode::multiplyAddPairs(Value x, Value y, Value sum) {
  auto pairs = VectorType::get({2 * lanes}, e.builder.getBF16Type());
  Values operands{sum, e.make<LLVM::BitcastOp>(pairs, x), e.make<LLVM::BitcastOp>(pairs, y)};
  return e
      .make<LLVM::CallIntrinsicOp>(
          type, e.builder.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"), operands)
      .getResult(0);
}

Value VectorCode::add(Value x, Value y) { return e.make<arith::AddFOp>(x, y); }

Value VectorCode::sumOfLanes(Value vector) {
  return combineLanes(vector, [&](Value x, Value y) { return add(x, y); });
}

Value VectorCode::combineLanes(Value vector, function_ref<Value(Value, Value)> combine) {
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    SmallVector<int32_t> upper(lanes, 0);
    for (int64_t i = 0; i < half; ++i)
      upper[i] = half + i;
    vector = combine(vector, e.make<LLVM::ShuffleVectorOp>(vector, vector, upper));
  }
  Value first = e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(0));
  return e.make<LLVM::ExtractElementOp>(vector, first);
}

void VectorCode::fillZero(Value address, int64_t elements) {
  Value nothing = zero();
  int64_t whole = elements / lanes;
  e.forEach({whole}, [&](ArrayRef<Index> i) { store(nothing, at(address, i[0] * lanes)); });
  if (elements % lanes)
    store(nothing, at(address, e.constant(whole * lanes)), elements % lanes);
}

Value VectorCode::loadFrom(const Matrix &matrix, Index number, int64_t count) {
  if (matrix.isOfPairs) {
    Type half = e.builder.getBF16Type();
    return loadPairs(at(matrix.address, number, half),
                     matrix.upper ? at(matrix.upper, number, half) : Value(), count);
  }
  Type memoryType = matrix.elementType ? matrix.elementType : elementType;
  return loadAs(memoryType, at(matrix.address, number, memoryType), count);
}

void VectorCode::copyPadded(Matrix from, int64_t count, Value to, int64_t width) {
  for (int64_t i = 0; i < width; i += lanes) {
    int64_t some = std::clamp<int64_t>(count - i, 0, lanes);
    store(some ? loadFrom(from, e.constant(i), some) : zero(), at(to, e.constant(i)));
  }
}

// First transposes the squares inside 128-bit groups of lanes by unpacking, then
// moves the groups. Each step is one instruction.
Values VectorCode::transposed(Values rows) {
  auto shuffle = [&](Value a, Value b, ArrayRef<int32_t> mask) -> Value {
    return e.make<LLVM::ShuffleVectorOp>(a, b, mask);
  };
  int32_t n = lanes, width = 16 / bytes, groups = n / width;
  // Interleaves a and b in each group of `width` lanes: takes `size` elements of a,
  // then of b, and so on, from the lower or from the upper half of the group.
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
  if (groups == 1)
    return now;
  // In now[width * g + j], the lanes width * q to width * q + width - 1 have column
  // width * q + j of the rows width * g to width * g + width - 1.
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
    Value low01 = pick(row(0), row(1), {0, 1, 4, 5}), high01 = pick(row(0), row(1), {2, 3, 6, 7}),
          low23 = pick(row(2), row(3), {0, 1, 4, 5}), high23 = pick(row(2), row(3), {2, 3, 6, 7});
    result[j] = pick(low01, low23, {0, 2, 4, 6});
    result[width + j] = pick(low01, low23, {1, 3, 5, 7});
    result[2 * width + j] = pick(high01, high23, {0, 2, 4, 6});
    result[3 * width + j] = pick(high01, high23, {1, 3, 5, 7});
  }
  return result;
}

void VectorCode::transpose(Matrix from, int64_t rows, int64_t columns, Matrix to, bool padded) {
  Type toType = to.elementType ? to.elementType : elementType;
  auto block = [&](Index row, int64_t height, Index column, int64_t width) {
    Values vectors;
    for (int64_t i = 0; i < lanes; ++i)
      vectors.push_back(i < height ? loadFrom(from, (row + i) * from.stride + column, width)
                                   : zero());
    vectors = transposed(vectors);
    for (int64_t j = 0; j < width; ++j)
      storeAs(toType, vectors[j], at(to.address, (column + j) * to.stride + row, toType),
              padded ? lanes : height);
  };
  auto across = [&](Index row, int64_t height) {
    e.sequence(columns / lanes, [&](Index j) { block(row, height, j * lanes, lanes); });
    if (columns % lanes)
      block(row, height, e.constant(columns / lanes * lanes), columns % lanes);
  };
  e.sequence(rows / lanes, [&](Index i) { across(i * lanes, lanes); });
  if (rows % lanes)
    across(e.constant(rows / lanes * lanes), rows % lanes);
}
