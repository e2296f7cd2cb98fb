#include "record/Functions.h"

#include "dpc/action.h"
#include "dpc/status.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"

#include <cstddef>

using namespace dpc;
using namespace dpc::exec;

namespace {

class FunctionEmitter {
public:
  FunctionEmitter(llvm::Module &module, llvm::StringRef name,
                  const dist::MeshShape &mesh)
      : module(module), mesh(mesh), builder(module.getContext()) {
    pointer = builder.getPtrTy();
    auto *type = llvm::FunctionType::get(builder.getInt32Ty(), {pointer},
                                         /*isVarArg=*/false);
    function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                      name, module);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    builder.SetInsertPoint(
        llvm::BasicBlock::Create(module.getContext(), "", function));
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
      else if (auto control = mlir::dyn_cast<ControlOp>(inner))
        emitControl(control);
      else if (auto coordinate = mlir::dyn_cast<CoordinateOp>(inner))
        if (mlir::failed(emitCoordinate(coordinate)))
          return nullptr;
    }
    builder.CreateRet(builder.getInt32(DPC_OK));
    return function;
  }

private:
  llvm::Value *loadField(llvm::Value *base, uint64_t offset, llvm::Type *type) {
    return builder.CreateLoad(type, builder.CreateConstInBoundsGEP1_64(
                                        builder.getInt8Ty(), base, offset));
  }

  llvm::Value *getAddress(mlir::Value buffer) {
    Place place = placeOf(buffer);
    Space space = spaceOf(place.root);
    uint64_t offset = *offsetOf(place.root) + place.offset;
    llvm::Value *&base = bases[unsigned(space)];
    if (!base)
      base = loadField(function->getArg(0),
                       offsetof(dpc_call_t, base) +
                           unsigned(space) * sizeof(char *),
                       pointer);
    llvm::Value *address =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
    auto advance = [&](llvm::Value *count, int64_t stride) {
      address = builder.CreateInBoundsGEP(
          builder.getInt8Ty(), address,
          builder.CreateMul(count, builder.getInt64(stride)));
    };
    if (place.stride)
      advance(builder.CreateZExt(loadField(function->getArg(0),
                                           offsetof(dpc_call_t, micro),
                                           builder.getInt32Ty()),
                                 builder.getInt64Ty()),
              place.stride);
    if (place.shareAxes)
      advance(getGroupIndex(place.shareAxes), place.shareStride);
    return address;
  }

  /// This rank's coordinate on an axis of the mesh.
  llvm::Value *getCoordinate(unsigned axis) {
    llvm::Value *coordinates = loadField(
        function->getArg(0), offsetof(dpc_call_t, coordinates), pointer);
    return builder.CreateZExt(
        loadField(coordinates, axis * sizeof(uint32_t), builder.getInt32Ty()),
        builder.getInt64Ty());
  }

  /// This rank's number in its group along `axes`, first axis slowest.
  llvm::Value *getGroupIndex(mlir::ArrayAttr axes) {
    llvm::Value *index = builder.getInt64(0);
    for (llvm::StringRef axis : axes.getAsValueRange<mlir::StringAttr>())
      if (std::optional<unsigned> known = mesh.axisIndex(axis))
        index = builder.CreateAdd(
            builder.CreateMul(index, builder.getInt64(mesh.axisSize(axis))),
            getCoordinate(*known));
    return index;
  }

  void emitCopy(CopyOp copy) {
    llvm::MaybeAlign align(1);
    builder.CreateMemCpy(getAddress(copy.getOutput()), align,
                         getAddress(copy.getInput()), align,
                         bufferBytes(copy.getInput().getType()));
  }

  void emitLaunch(LaunchOp launch) {
    for (auto [index, operand] : llvm::enumerate(launch->getOperands()))
      builder.CreateStore(
          getAddress(operand),
          builder.CreateConstInBoundsGEP1_64(pointer, arguments, index));
    auto *type = llvm::FunctionType::get(builder.getVoidTy(), {pointer}, false);
    llvm::FunctionCallee kernel =
        module.getOrInsertFunction(launch.getKernel(), type);
    builder.CreateCall(kernel, {arguments});
  }

  void emitControl(ControlOp op) {
    auto [offset, isFloat] =
        llvm::StringSwitch<std::pair<uint64_t, bool>>(op.getName())
            .Case("step", {offsetof(dpc_control_t, step), false})
            .Case("seed", {offsetof(dpc_control_t, seed), false})
            .Case("valid_rows", {offsetof(dpc_control_t, valid_rows), false})
            .Case("loss_scale", {offsetof(dpc_control_t, loss_scale), true})
            .Default({offsetof(dpc_control_t, learning_rate), true});
    llvm::Value *control =
        loadField(function->getArg(0), offsetof(dpc_call_t, control), pointer);
    llvm::Value *value =
        loadField(control, offset,
                  isFloat ? builder.getDoubleTy() : builder.getInt64Ty());
    mlir::Type element =
        mlir::cast<mlir::MemRefType>(op.getOutput().getType()).getElementType();
    bool toFloat = mlir::isa<mlir::FloatType>(element);
    unsigned width = element.getIntOrFloatBitWidth();
    llvm::Type *type = !toFloat      ? builder.getIntNTy(width)
                       : width == 64 ? builder.getDoubleTy()
                                     : builder.getFloatTy();
    if (isFloat && toFloat)
      value = builder.CreateFPTrunc(value, type);
    else if (isFloat)
      value = builder.CreateFPToSI(value, type);
    else if (toFloat)
      value = builder.CreateUIToFP(value, type);
    else
      value = builder.CreateTrunc(value, type);
    builder.CreateStore(value, getAddress(op.getOutput()));
  }

  mlir::LogicalResult emitCoordinate(CoordinateOp op) {
    std::optional<unsigned> axis = mesh.axisIndex(op.getAxis());
    if (!axis)
      return op.emitOpError("names the axis '")
             << op.getAxis() << "', which the mesh lacks";
    builder.CreateStore(getCoordinate(*axis), getAddress(op.getOutput()));
    return mlir::success();
  }

  llvm::Module &module;
  const dist::MeshShape &mesh;
  llvm::IRBuilder<> builder;
  llvm::PointerType *pointer;
  llvm::Function *function;
  llvm::Value *arguments = nullptr;
  /// Start of each space, once it was loaded.
  llvm::Value *bases[DPC_SPACE_COUNT] = {};
};

} // namespace

llvm::Function *dpc::emitFunction(FunctionOp function, llvm::Module &module,
                                  const dist::MeshShape &mesh) {
  return FunctionEmitter(module, function.getSymName(), mesh).run(function);
}
