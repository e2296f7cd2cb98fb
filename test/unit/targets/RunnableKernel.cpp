// Buffers whose guards show writes outside of them, and runs of kernels in them.

#include "test/unit/targets/RunnableKernel.h"

#include "dialects/NN/IR/NNDialect.h"

#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

static const size_t guardBytes = 64;
static const char guardByte = 0x5A;

TensorBuffer::TensorBuffer(RankedTensorType type) : type(type), size(tensorBytes(type)) {
  bytes.assign(size + 3 * guardBytes, guardByte);
  uintptr_t start = reinterpret_cast<uintptr_t>(bytes.data());
  offset = llvm::alignTo(start + guardBytes, 64) - start;
}

bool TensorBuffer::isGuardIntact() const {
  for (size_t i = 0; i < bytes.size(); ++i)
    if ((i < offset || i >= offset + size) && bytes[i] != guardByte)
      return false;
  return true;
}

void TensorBuffer::write(const HostTensor &tensor) {
  char *to = data();
  Type element = type.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  size_t step = width == 1 ? 1 : width / 8;
  for (int64_t i = 0; i < tensor.size(); ++i, to += step) {
    uint64_t bits = 0;
    if (auto floatType = dyn_cast<FloatType>(element)) {
      llvm::APFloat value(tensor.floats[i]);
      bool losesInfo;
      value.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      bits = value.bitcastToAPInt().getZExtValue();
    } else {
      bits = tensor.ints[i];
    }
    memcpy(to, &bits, step);
  }
}

HostTensor TensorBuffer::read() const {
  Type element = type.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  size_t step = width == 1 ? 1 : width / 8;
  HostTensor tensor(type);
  const char *from = bytes.data() + offset;
  for (int64_t i = 0; i < tensor.size(); ++i, from += step) {
    uint64_t bits = 0;
    memcpy(&bits, from, step);
    if (auto floatType = dyn_cast<FloatType>(element)) {
      llvm::APFloat value(floatType.getFloatSemantics(), llvm::APInt(width, bits));
      bool losesInfo;
      value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      tensor.floats[i] = value.convertToDouble();
    } else {
      tensor.ints[i] = bits;
    }
  }
  if (!tensor.isFloat()) {
    // Sign-extends; a stored i1 must be 0 or 1.
    if (width == 1) {
      for (int64_t value : tensor.ints)
        EXPECT_LE(uint64_t(value), 1u);
    }
    tensor.roundToType();
  }
  return tensor;
}

RunnableKernel::RunnableKernel(TypeRange results) {
  for (Type type : results)
    resultTypes.push_back(cast<RankedTensorType>(type));
}

std::vector<HostTensor> RunnableKernel::run(ArrayRef<HostTensor> operands, ArrayRef<int> shared) {
  std::vector<TensorBuffer> buffers;
  buffers.reserve(operands.size() + resultTypes.size() + 1);
  std::vector<size_t> places;
  auto add = [&](RankedTensorType type) -> TensorBuffer & {
    places.push_back(buffers.size());
    return buffers.emplace_back(type);
  };
  for (const HostTensor &operand : operands)
    add(operand.getType()).write(operand);
  for (auto [result, type] : llvm::enumerate(resultTypes)) {
    if (result < shared.size() && shared[result] >= 0)
      places.push_back(shared[result]);
    else
      add(type);
  }
  add(RankedTensorType::get({code.needs.scratchBytes},
                            IntegerType::get(resultTypes[0].getContext(), 8)));
  SmallVector<TensorBuffer *> all;
  for (size_t place : places)
    all.push_back(&buffers[place]);
  call(all);
  std::vector<HostTensor> results;
  for (size_t result = 0; result < resultTypes.size(); ++result)
    results.push_back(all[operands.size() + result]->read());
  for (const TensorBuffer &buffer : buffers)
    EXPECT_TRUE(buffer.isGuardIntact()) << "wrote outside a buffer";
  return results;
}
