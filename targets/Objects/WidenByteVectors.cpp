// Makes accesses to 8 and 16 bytes accesses to words of 64 bits.

#include "targets/Objects/WidenByteVectors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <numeric>

using namespace llvm;

namespace {

/// A word consists of two halves, because the target has registers for four bytes. Without the
/// explicit halves, the code generator would fold the conversion of a word into its access.
constexpr unsigned kHalf = 4, kWord = 8;

/// Words that are accessed instead of a vector of bytes.
class Words {
public:
  Words(IRBuilder<> &builder, unsigned bytes)
      : builder(builder), count(bytes / kWord),
        half(FixedVectorType::get(builder.getInt8Ty(), kHalf)) {}

  /// The type of the access. There is no vector of one word.
  Type *getType() const {
    Type *word = builder.getInt64Ty();
    return count == 1 ? word : FixedVectorType::get(word, count);
  }

  /// The bytes of the words `value`.
  Value *split(Value *value) {
    SmallVector<Value *> parts;
    for (unsigned n = 0; n < count; ++n) {
      Value *word = count == 1 ? value : builder.CreateExtractElement(value, n);
      for (Value *piece : {word, builder.CreateLShr(word, 32)})
        parts.push_back(
            builder.CreateBitCast(builder.CreateTrunc(piece, builder.getInt32Ty()), half));
    }
    while (parts.size() > 1) {
      SmallVector<Value *> pairs;
      for (size_t n = 0; n < parts.size(); n += 2)
        pairs.push_back(builder.CreateShuffleVector(parts[n], parts[n + 1],
                                                    numbersFrom(0, 2 * sizeOf(parts[n]))));
      parts = pairs;
    }
    return parts.front();
  }

  /// The words of the bytes `value`.
  Value *join(Value *value) {
    Value *joined = PoisonValue::get(getType());
    for (unsigned n = 0; n < count; ++n) {
      auto halfAt = [&](unsigned first) {
        Value *part = builder.CreateShuffleVector(value, numbersFrom(first, kHalf));
        return builder.CreateZExt(builder.CreateBitCast(part, builder.getInt32Ty()),
                                  builder.getInt64Ty());
      };
      Value *word =
          builder.CreateOr(halfAt(n * kWord), builder.CreateShl(halfAt(n * kWord + kHalf), 32));
      joined = count == 1 ? word : builder.CreateInsertElement(joined, word, n);
    }
    return joined;
  }

private:
  static unsigned sizeOf(Value *vector) {
    return cast<FixedVectorType>(vector->getType())->getNumElements();
  }

  static SmallVector<int> numbersFrom(unsigned first, unsigned count) {
    SmallVector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), static_cast<int>(first));
    return numbers;
  }

  IRBuilder<> &builder;
  unsigned count;
  Type *half;
};

} // namespace

/// The number of bytes of `type` if it is a vector of bytes that the code generator splits.
static unsigned bytesOf(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  if (!vector || !vector->getElementType()->isIntegerTy(8))
    return 0;
  const unsigned bytes = vector->getNumElements();
  return bytes == kWord || bytes == 2 * kWord ? bytes : 0;
}

PreservedAnalyses dpc::WidenByteVectors::run(Function &function, FunctionAnalysisManager &) {
  bool isChanged = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *load = dyn_cast<LoadInst>(&instruction);
    auto *store = dyn_cast<StoreInst>(&instruction);
    if (!load && !store)
      continue;
    const unsigned bytes = bytesOf(getLoadStoreType(&instruction));
    const Align alignment = getLoadStoreAlignment(&instruction);
    // An access that is not aligned stays split.
    if (!bytes || alignment < bytes || instruction.isVolatile() || instruction.isAtomic())
      continue;
    IRBuilder<> builder(&instruction);
    Words words(builder, bytes);
    Value *pointer = getLoadStorePointerOperand(&instruction);
    if (load) {
      LoadInst *wide = builder.CreateAlignedLoad(words.getType(), pointer, alignment);
      wide->setAAMetadata(load->getAAMetadata());
      if (MDNode *invariant = load->getMetadata(LLVMContext::MD_invariant_load))
        wide->setMetadata(LLVMContext::MD_invariant_load, invariant);
      load->replaceAllUsesWith(words.split(wide));
    } else {
      StoreInst *wide =
          builder.CreateAlignedStore(words.join(store->getValueOperand()), pointer, alignment);
      wide->setAAMetadata(store->getAAMetadata());
    }
    instruction.eraseFromParent();
    isChanged = true;
  }
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
