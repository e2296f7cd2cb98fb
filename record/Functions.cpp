// Emits the functions of a program as LLVM IR for the host. Each function computes the
// addresses of its buffers and calls its kernels one after the other.

#include "record/Functions.h"

#include "dpc/action.h"
#include "dpc/status.h"

#include "llvm/IR/IRBuilder.h"

#include <cstddef>

using namespace dpc;
using namespace dpc::exec;

namespace {

class FunctionEmitter {
public:
  FunctionEmitter(mlir::SymbolTableCollection &symbols, llvm::Module &module, llvm::StringRef name,
                  ProgramMesh &mesh)
      : symbols(symbols), module(module), mesh(mesh), builder(module.getContext()) {
    pointer = builder.getPtrTy();
    auto *type = llvm::FunctionType::get(builder.getInt32Ty(), {pointer},
                                         /*isVarArg=*/false);
    function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  }

  llvm::Function *run(FunctionOp op) {
    unsigned most = 0;
    for (auto launch : op.getBodyBlock().getOps<LaunchOp>())
      most = std::max(most, launch->getNumOperands());
    if (most)
      arguments = builder.CreateAlloca(llvm::ArrayType::get(pointer, most));
    for (mlir::Operation &inner : op.getBodyBlock()) {
      if (auto launch = mlir::dyn_cast<LaunchOp>(inner))
        emitLaunch(launch);
      else if (auto copy = mlir::dyn_cast<CopyOp>(inner))
        emitCopy(copy);
      else if (auto microbatch = mlir::dyn_cast<MicrobatchOp>(inner))
        builder.CreateStore(getMicrobatch(), getAddress(microbatch.getOutput()));
    }
    builder.CreateRet(builder.getInt32(DPC_OK));
    return function;
  }

private:
  llvm::Value *loadField(llvm::Value *base, uint64_t offset, llvm::Type *type) {
    return builder.CreateLoad(
        type, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset));
  }

  llvm::Value *getAddress(mlir::Value buffer) {
    Place place = placeOf(buffer, symbols);
    Space space = spaceOf(place.root);
    uint64_t offset = *offsetOf(place.root) + place.offset;
    llvm::Value *&base = bases[unsigned(space)];
    if (!base)
      base = loadField(function->getArg(0),
                       offsetof(dpc_call_t, base) + unsigned(space) * sizeof(char *), pointer);
    llvm::Value *address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
    if (auto frame = mlir::dyn_cast<FrameOp>(place.root))
      address =
          builder.CreateInBoundsGEP(builder.getInt8Ty(), address, getFrame(frame.getNumber()));
    auto advance = [&](llvm::Value *count, int64_t stride) {
      address = builder.CreateInBoundsGEP(builder.getInt8Ty(), address,
                                          builder.CreateMul(count, builder.getInt64(stride)));
    };
    if (place.stride)
      advance(getMicrobatch(), place.stride);
    if (place.shardAxes)
      advance(getGroupIndex(place.shardAxes), place.shardStride);
    return address;
  }

  /// Loads the offset of the action's frame `number`.
  llvm::Value *getFrame(uint64_t number) {
    if (!frames)
      frames = loadField(function->getArg(0), offsetof(dpc_call_t, args), pointer);
    return loadField(frames, number * sizeof(dpc_frame_t) + offsetof(dpc_frame_t, offset),
                     builder.getInt64Ty());
  }

  llvm::Value *getMicrobatch() {
    return builder.CreateZExt(
        loadField(function->getArg(0), offsetof(dpc_call_t, micro), builder.getInt32Ty()),
        builder.getInt64Ty());
  }

  /// Loads this rank's index in its group along `axes`. In the order of the group, the
  /// first axis varies slowest.
  llvm::Value *getGroupIndex(mlir::ArrayAttr axes) {
    llvm::Value *indices =
        loadField(function->getArg(0), offsetof(dpc_call_t, group_index), pointer);
    return builder.CreateZExt(
        loadField(indices, mesh.getFamily(axes) * sizeof(uint32_t), builder.getInt32Ty()),
        builder.getInt64Ty());
  }

  void emitCopy(CopyOp copy) {
    llvm::MaybeAlign align(1);
    builder.CreateMemCpy(getAddress(copy.getOutput()), align, getAddress(copy.getInput()), align,
                         bufferBytes(copy.getInput().getType()));
  }

  void emitLaunch(LaunchOp launch) {
    for (auto [index, operand] : llvm::enumerate(launch->getOperands()))
      builder.CreateStore(getAddress(operand),
                          builder.CreateConstInBoundsGEP1_64(pointer, arguments, index));
    builder.CreateCall(declareKernel(module, launch.getKernel()), {arguments});
  }

  mlir::SymbolTableCollection &symbols;
  llvm::Module &module;
  ProgramMesh &mesh;
  llvm::IRBuilder<> builder;
  llvm::PointerType *pointer;
  llvm::Function *function;
  llvm::Value *arguments = nullptr;
  /// The action's frames; null until the function loads them.
  llvm::Value *frames = nullptr;
  /// The start address of each space; null until the function loads it.
  llvm::Value *bases[DPC_SPACE_COUNT] = {};
};

} // namespace

llvm::Function *dpc::declareKernel(llvm::Module &module, llvm::StringRef name) {
  llvm::LLVMContext &context = module.getContext();
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::getUnqual(context)}, false);
  return llvm::cast<llvm::Function>(module.getOrInsertFunction(name, type).getCallee());
}

llvm::Function *dpc::emitFunction(FunctionOp function, mlir::SymbolTableCollection &symbols,
                                  llvm::Module &module, ProgramMesh &mesh) {
  return FunctionEmitter(symbols, module, function.getSymName(), mesh).run(function);
}
