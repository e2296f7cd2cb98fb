// Emits the shared memory of blocks, and accesses to elements in global memory.

#include "targets/CUDA/Grids/GridEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dpc;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value GridEmitter::allocateInSharedSpace(int64_t bytes) {
  const unsigned kSharedSpace = NVVM::kSharedMemorySpace;
  std::string name = symbol + "_shared" + std::to_string(sharedBuffers++);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    make<LLVM::GlobalOp>(type, /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(),
                         /*alignment=*/16, kSharedSpace);
  }
  return make<LLVM::AddressOfOp>(LLVM::LLVMPointerType::get(builder.getContext(), kSharedSpace),
                                 name);
}

Value GridEmitter::allocateShared(int64_t bytes) {
  return make<LLVM::AddrSpaceCastOp>(LLVM::LLVMPointerType::get(builder.getContext()),
                                     allocateInSharedSpace(bytes));
}

/// Scratch memory is shared memory of the block that computes a part. A single
/// thread has no scratch memory.
Value GridEmitter::getScratch(int64_t bytes) {
  assert(level == Level::block && "only threads that share a part have scratch memory");
  return allocateShared(bytes);
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

// Addresses are flattened. If they differ by a constant, they are then equal but for the constant
// term, which instructions add for free.
Value GridEmitter::globalAddressOf(Value tensor, Index number) {
  const unsigned kGlobalSpace = NVVM::kGlobalMemorySpace;
  const Buffer buffer = bufferToRead(tensor, number);
  MLIRContext *context = builder.getContext();
  Value address = make<LLVM::AddrSpaceCastOp>(LLVM::LLVMPointerType::get(context, kGlobalSpace),
                                              buffer.address);
  auto moved = [&](Value pointer, Index by) -> Value {
    return make<LLVM::GEPOp>(address.getType(), buffer.elementType, pointer,
                             ValueRange(materialize(by)));
  };
  const auto [variable, last] = splitConstant(flattened(number));
  Value base = moved(address, variable);
  return last ? moved(base, constant(last)) : base;
}

void GridEmitter::storeFinal(Value result, ValueRange elements, ArrayRef<Index> numbers,
                             FinishTile finish) {
  for (auto [element, number] : llvm::zip_equal(elements, numbers)) {
    store(result, element, number);
    rememberElement(result, number, element);
  }
  if (finish)
    finish(static_cast<int64_t>(numbers.size()), [&](ArrayRef<Index> place) {
      return numbers[static_cast<size_t>(cast<AffineConstantExpr>(place[0]).getValue())];
    });
}

/// At the level block, all threads of the block have the element, and one of them
/// stores it. The barrier ensures that no thread reads the address after the store
/// if it needs the old value.
void GridEmitter::storeTo(const Buffer &buffer, Value element, Index number) {
  if (level != Level::block)
    return KernelEmitter::storeTo(buffer, element,
                                  launch->kind == Launch::Kind::tiles ? flattened(number) : number);
  barrier();
  Value isFirst =
      make<arith::CmpIOp>(arith::CmpIPredicate::eq, threadValue, materialize(constant(0)));
  when(isFirst, [&] { KernelEmitter::storeTo(buffer, element, number); });
}
