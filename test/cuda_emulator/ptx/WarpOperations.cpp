// Operations in which threads meet: barriers, shuffles, votes, matrix products.
#include "test/cuda_emulator/ptx/Translator.h"

#include "test/cuda_emulator/execution/Matrix.h"

using namespace dpc::emulator;
using llvm::Value;

static const PtxType kWord = {PtxType::bits, 32}, kFlag = {PtxType::predicate, 1};

// Instructions share the arrays, because stacks of threads are small.
Value *Translator::pack(unsigned place, const std::vector<Operand> &values, PtxType element) {
  const unsigned words = element.width / 32u;
  Value *&array = fragments[place];
  if (!array) {
    llvm::IRBuilder<> atEntry(entry, entry->begin());
    array = atEntry.CreateAlloca(llvm::ArrayType::get(builder.getInt32Ty(), kFragmentWords));
  }
  for (size_t i = 0; i < values.size(); ++i)
    builder.CreateAlignedStore(
        read(values[i], element.asBits()),
        builder.CreateConstInBoundsGEP1_64(builder.getInt32Ty(), array, i * words), llvm::Align(4));
  return array;
}

void Translator::unpack(const std::vector<Operand> &values, PtxType element, Value *array) {
  const unsigned words = element.width / 32u;
  for (size_t i = 0; i < values.size(); ++i)
    write(values[i], element.asBits(),
          builder.CreateAlignedLoad(
              integer(element.width),
              builder.CreateConstInBoundsGEP1_64(builder.getInt32Ty(), array, i * words),
              llvm::Align(4)));
}

void Translator::translateShuffle(const Instruction &op) {
  const std::pair<const char *, ShuffleMode> modes[] = {{"up", ShuffleMode::up},
                                                        {"down", ShuffleMode::down},
                                                        {"bfly", ShuffleMode::butterfly},
                                                        {"idx", ShuffleMode::index}};
  for (auto [name, mode] : modes) {
    if (!op.has(name))
      continue;
    Value *both = call("emu_shuffle", builder.getInt64Ty(),
                       {thread, read(op, 1, kWord), read(op, 2, kWord), read(op, 3, kWord),
                        read(op, 4, kWord), number(static_cast<uint32_t>(mode)), lineValue()});
    const std::vector<Operand> results = partsOf(operandOf(op, 0));
    write(results[0], kWord, builder.CreateTrunc(both, builder.getInt32Ty()));
    if (results.size() > 1)
      write(results[1], kFlag,
            builder.CreateTrunc(builder.CreateLShr(both, 32), builder.getInt1Ty()));
    return;
  }
  error("this shuffle is not known");
}

void Translator::translateVote(const Instruction &op) {
  const std::pair<const char *, VoteKind> kinds[] = {
      {"any", VoteKind::any},       {"all", VoteKind::all},    {"uni", VoteKind::uniform},
      {"ballot", VoteKind::ballot}, {"add", VoteKind::add},    {"min", VoteKind::min},
      {"max", VoteKind::max},       {"and", VoteKind::bitAnd}, {"or", VoteKind::bitOr},
      {"xor", VoteKind::bitXor}};
  for (auto [name, kind] : kinds) {
    if (!op.has(name))
      continue;
    const bool isVote = op.opcode == "vote";
    Value *mine =
        isVote ? builder.CreateZExt(read(op, 1, kFlag), builder.getInt32Ty()) : read(op, 1, kWord);
    Value *result = call("emu_vote", builder.getInt32Ty(),
                         {thread, mine, read(op, 2, kWord), number(static_cast<uint32_t>(kind)),
                          number(op.type().isSigned()), lineValue()});
    if (isVote && kind != VoteKind::ballot)
      write(op, kFlag, builder.CreateTrunc(result, builder.getInt1Ty()));
    else
      write(op, kWord, result);
    return;
  }
  error("this " + op.opcode + " is not known");
}

void Translator::translateMatrixProduct(const Instruction &op) {
  MatrixKind kind;
  PtxType sum = {PtxType::real, 32}, factor = kWord;
  if (op.has("m16n8k16") && op.has("f16")) {
    kind = MatrixKind::f16;
  } else if (op.has("m16n8k16") && op.has("bf16")) {
    kind = MatrixKind::bf16;
  } else if (op.has("m16n8k8") && op.has("tf32")) {
    kind = MatrixKind::tf32;
  } else if (op.has("m8n8k4") && op.has("f64")) {
    kind = MatrixKind::f64;
    sum = factor = {PtxType::real, 64};
  } else {
    error("this shape and type of mma is not known");
  }
  if (!op.has("row") || !op.has("col") || op.types.empty() || op.types[0].width != sum.width)
    error("mma is known of row by col with sums of f32, or f64 of f64");
  Value *a = pack(0, partsOf(operandOf(op, 1)), factor),
        *b = pack(1, partsOf(operandOf(op, 2)), factor),
        *c = pack(2, partsOf(operandOf(op, 3)), sum), *d = pack(3, {}, sum);
  call("emu_mma", builder.getVoidTy(),
       {thread, a, b, c, d, number(static_cast<uint32_t>(kind)), lineValue()});
  unpack(partsOf(operandOf(op, 0)), sum, d);
}

bool Translator::translateWarp(const Instruction &op) {
  if (op.opcode == "bar" || op.opcode == "barrier") {
    if (op.has("warp")) {
      call("emu_warp_barrier", builder.getVoidTy(), {thread, read(op, 0, kWord), lineValue()});
      return true;
    }
    if (!op.has("sync"))
      error("of barriers only bar.sync is known");
    Value *count = op.operands.size() > 1 ? read(op, 1, kWord) : number(0);
    call("emu_barrier", builder.getVoidTy(), {thread, read(op, 0, kWord), count, lineValue()});
  } else if (op.opcode == "shfl") {
    translateShuffle(op);
  } else if (op.opcode == "vote" || op.opcode == "redux") {
    translateVote(op);
  } else if (op.opcode == "activemask") {
    // The least that the architecture promises: the thread itself.
    Value *lane = readSpecial("%laneid", kWord);
    write(op, kWord, builder.CreateShl(number(1), lane));
  } else if (op.opcode == "ldmatrix") {
    const std::vector<Operand> results = partsOf(operandOf(op, 0));
    const auto tiles = static_cast<uint32_t>(results.size());
    Value *row = address(operandOf(op, 1), "shared", 16, Access::load, {8 * tiles}),
          *words = pack(0, {}, kWord);
    call("emu_ldmatrix", builder.getVoidTy(),
         {thread, row, words, number(tiles), number(op.has("trans")), lineValue()});
    unpack(results, kWord, words);
  } else if (op.opcode == "mma") {
    translateMatrixProduct(op);
  } else {
    return false;
  }
  return true;
}
