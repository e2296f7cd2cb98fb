// Emits the addresses of the elements of a slice. They are in the address space of shared
// memory, so that the device computes them in 32 bits. Their constant terms come last.

#include "targets/CUDA/Ops/Slice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace dpc;

Slice::Slice(GridEmitter &emitter, Type type, const SliceLayout &layout, int64_t stages)
    : type(type), layout(layout), e(emitter),
      memory(emitter.allocateInSharedSpace(layout.getBytes() * stages)) {
  llvm::cantFail(layout.verify());
}

static Value moved(GridEmitter &e, Value pointer, Value bytes) {
  return e.make<LLVM::GEPOp>(pointer.getType(), e.builder.getI8Type(), pointer, ValueRange(bytes),
                             /*inbounds=*/true);
}

Slice::Slice(GridEmitter &emitter, Type type, const SliceLayout &layout, Value memory,
             int64_t offset)
    : type(type), layout(layout), e(emitter), memory(memory), offset(offset) {
  llvm::cantFail(layout.verify());
}

Value Slice::offsetOfStage(Value stage) const {
  if (std::optional<int64_t> number = getConstantIntValue(stage))
    return e.materialize(e.constant(*number * layout.getBytes()));
  return e.make<arith::MulIOp>(stage, e.materialize(e.constant(layout.getBytes())));
}

Slice::Address Slice::addressOf(Index k, Index i) const {
  const Index line = layout.depthIsInner ? i : k, inLine = layout.depthIsInner ? k : i;
  Value position = e.materialize(inLine * layout.bytes);
  if (layout.modulus > 1) {
    Index chunks = e.mod(e.floorDiv(line, layout.divisor), layout.modulus) * layout.factor;
    if (layout.hasWrap())
      chunks = e.mod(chunks, SliceLayout::kSwizzledChunks);
    Value swizzle = e.materialize(chunks * SliceLayout::kChunk);
    position = e.make<arith::XOrIOp>(position, swizzle);
  }
  const auto [first, ahead] = IndexSpace::splitConstant(line);
  return {e.materialize(first * layout.getPitch()), position, ahead * layout.getPitch()};
}

Value Slice::pointerTo(Value stageOffset, const Address &address, int64_t k, int64_t i) const {
  const int64_t lines = layout.depthIsInner ? i : k,
                bytes = (layout.depthIsInner ? k : i) * layout.bytes;
  // The line of `address` is the first of its group, or the sum does not leave the group.
  assert((layout.modulus == 1 || lines % (layout.divisor * layout.modulus) < layout.divisor) &&
         "the lines have different swizzles");
  int64_t constant = this->offset + address.constant + lines * layout.getPitch();
  Value inLine = address.inLine;
  if (layout.modulus > 1 && bytes != 0)
    inLine = e.make<arith::XOrIOp>(inLine, e.materialize(e.constant(bytes)));
  else
    constant += bytes;
  Value variable = e.make<arith::AddIOp>(address.line, inLine);
  if (std::optional<int64_t> ahead = stageOffset ? getConstantIntValue(stageOffset) : std::nullopt)
    constant += *ahead;
  else if (stageOffset)
    variable = e.make<arith::AddIOp>(variable, stageOffset);
  Value pointer = moved(e, memory, variable);
  return constant ? moved(e, pointer, e.materialize(e.constant(constant))) : pointer;
}

Value Slice::load(Index k, Index i) const {
  return e.make<LLVM::LoadOp>(type, pointerTo(nullptr, addressOf(k, i)));
}

Value Slice::loadVector(int64_t count, Value stageOffset, const Address &address, int64_t k,
                        int64_t i) const {
  return e.make<LLVM::LoadOp>(VectorType::get({count}, type), pointerTo(stageOffset, address, k, i),
                              static_cast<unsigned>(count * layout.bytes));
}

SmallVector<Value> Slice::loadPairs(int64_t count, Value stageOffset, const Address &address,
                                    int64_t k, int64_t i) const {
  Value pointer = pointerTo(stageOffset, address, k, i);
  const Type pair = e.builder.getI64Type();
  const auto alignment = static_cast<unsigned>(count * layout.bytes);
  if (count == 2)
    return {e.make<LLVM::LoadOp>(pair, pointer, alignment)};
  return e.elementsOf(e.make<LLVM::LoadOp>(VectorType::get({count / 2}, pair), pointer, alignment));
}

void Slice::storeAt(Value element, Value stageOffset, const Address &address, int64_t k,
                    int64_t i) const {
  // Several elements are in one chunk, and have the alignment of their size.
  unsigned alignment = 0;
  if (auto vector = dyn_cast<VectorType>(element.getType()))
    alignment = static_cast<unsigned>(vector.getNumElements() * layout.bytes);
  e.make<LLVM::StoreOp>(element, pointerTo(stageOffset, address, k, i), alignment);
}
