// Emits the shared memory of blocks, and accesses to elements in global memory.

#include "targets/CUDA/Grids/GridEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

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
// Rows in dynamic shared memory
//===----------------------------------------------------------------------===//

/// Copies a row of each value that the launch copies to shared memory. All threads of the block
/// have their copies under way before they wait. From then on, the values are read there.
void GridEmitter::copyRow(Index row, int64_t rows) {
  if (launch->copied.empty())
    return;
  const unsigned kSharedSpace = NVVM::kSharedMemorySpace;
  // The only variable of an image that other images could see, so its name is one of PTX. All
  // entries of a kernel share it.
  const StringRef name = "dpc_rows";
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    make<LLVM::GlobalOp>(LLVM::LLVMArrayType::get(builder.getI8Type(), 0), /*isConstant=*/false,
                         LLVM::Linkage::External, name, Attribute(), /*alignment=*/16,
                         kSharedSpace);
  }
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context, kSharedSpace);
  auto global = LLVM::LLVMPointerType::get(context, NVVM::kGlobalMemorySpace);
  Value memory = make<LLVM::AddressOfOp>(pointer, name);
  auto at = [&](Value base, Index offset) -> Value {
    return make<LLVM::GEPOp>(base.getType(), builder.getI8Type(), base,
                             ValueRange(materialize(offset)));
  };
  int64_t offset = 0;
  for (Value value : launch->copied) {
    const int64_t bytes = tensorBytes(value.getType()) / rows, piece = std::gcd<int64_t>(bytes, 16);
    const Buffer whole = bufferOf(value);
    Value to = at(memory, constant(offset)),
          from = at(make<LLVM::AddrSpaceCastOp>(global, whole.address), row * bytes);
    const std::string copy = "llvm.nvvm.cp.async." + std::string(piece == 16 ? "cg" : "ca") +
                             ".shared.global." + std::to_string(piece);
    dealToBlock(bytes / piece, {}, [&](Index number, ValueRange) {
      make<LLVM::CallIntrinsicOp>(TypeRange(), builder.getStringAttr(copy),
                                  ValueRange{at(to, number * piece), at(from, number * piece)});
      return Values();
    });
    setBuffer(value, {make<LLVM::AddrSpaceCastOp>(LLVM::LLVMPointerType::get(context), to),
                      whole.elementType, nn::typeOf(value).getNumElements() / rows});
    offset += Launch::bytesOfRow(value, rows);
  }
  make<NVVM::CpAsyncCommitGroupOp>();
  make<NVVM::CpAsyncWaitGroupOp>(uint32_t(0));
  barrier();
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
    finishTile(numbers, finish);
}

void GridEmitter::finishTile(ArrayRef<Index> numbers, FinishTile finish) {
  finish(static_cast<int64_t>(numbers.size()), [&](ArrayRef<Index> place) {
    return numbers[static_cast<size_t>(cast<AffineConstantExpr>(place[0]).getValue())];
  });
}

/// At the level block, all threads of the block or of a team have the element, and one of them
/// stores it. The barrier ensures that no thread reads the address after the store if it needs the
/// old value. Threads of a team of several combine their values by shuffles, which is as good.
void GridEmitter::storeTo(const Buffer &buffer, Value element, Index number) {
  if (level != Level::block)
    return KernelEmitter::storeTo(buffer, element,
                                  launch->kind == Launch::Kind::tiles ? flattened(number) : number);
  if (launch->teams == 1)
    barrier();
  Value isFirst =
      make<arith::CmpIOp>(arith::CmpIPredicate::eq, threadValue, materialize(constant(0)));
  when(both(isThere, isFirst), [&] { KernelEmitter::storeTo(buffer, element, number); });
}
