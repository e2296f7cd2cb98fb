// Compiles a kernel for a target of the host, and loads it into this process
// (ORC).

#include "test/unit/targets/CompiledKernel.h"

#include "targets/CPU/CPUTarget.h"
#include "targets/Scalar/ScalarTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

void dpc::test::registerTargets(DialectRegistry &registry) {
  static const bool registered = [] {
    registerCPUTarget();
    registerScalarTarget();
    return true;
  }();
  (void)registered;
  registerTargetDialects(registry);
}

/// Replaces products of pairs of bf16 by products in f32, for processors that have no such
/// instruction. The instruction rounds a sum after the first product too, and takes denormals
/// for zero; the tests' tolerances cover both.
static void multiplyPairsInF32(ModuleOp kernels) {
  SmallVector<LLVM::CallIntrinsicOp> calls;
  kernels.walk([&](LLVM::CallIntrinsicOp call) { calls.push_back(call); });
  for (LLVM::CallIntrinsicOp call : calls) {
    ASSERT_EQ(call.getIntrin(), "llvm.x86.avx512bf16.dpbf16ps.512");
    OpBuilder builder(call);
    Location loc = call.getLoc();
    Value sum = call.getArgs()[0];
    auto type = cast<VectorType>(sum.getType());
    auto words = type.clone(builder.getI32Type());
    auto constant = [&](int32_t bits) -> Value {
      return builder.create<arith::ConstantOp>(
          loc, DenseElementsAttr::get(words, Attribute(builder.getI32IntegerAttr(bits))));
    };
    auto halfOf = [&](Value pairs, bool isUpper) -> Value {
      Value bits = builder.create<LLVM::BitcastOp>(loc, words, pairs);
      if (isUpper)
        bits = builder.create<arith::AndIOp>(loc, bits, constant(int32_t(0xffff0000)));
      else
        bits = builder.create<arith::ShLIOp>(loc, bits, constant(16));
      return builder.create<arith::BitcastOp>(loc, type, bits);
    };
    for (bool isUpper : {false, true})
      sum = builder.create<LLVM::FMAOp>(loc, halfOf(call.getArgs()[1], isUpper),
                                        halfOf(call.getArgs()[2], isUpper), sum);
    call.getResult(0).replaceAllUsesWith(sum);
    call.erase();
  }
}

std::unique_ptr<CompiledKernel> CompiledKernel::create(Operation *op, const CodeOptions &options,
                                                       StringRef targetName) {
  const Target &device = *findTarget(targetName);
  std::unique_ptr<CompiledKernel> kernel(new CompiledKernel(op->getResultTypes()));
  OwningOpRef<ModuleOp> target = ModuleOp::create(op->getLoc());
  auto own = OpBuilder::atBlockEnd(target->getBody()).create<ModuleOp>(op->getLoc(), "kernel");
  FailureOr<KernelCode> code = device.emitKernel(op, "kernel", own, options);
  EXPECT_TRUE(succeeded(code));
  if (failed(code))
    return nullptr;
  kernel->code = *code;
  bool verified = succeeded(verify(*target));
  if (!verified)
    target->print(llvm::errs());
  EXPECT_TRUE(verified);
  CodeOptions machine = options;
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (options.processor == kBf16Processor && !features.lookup("avx512bf16")) {
    multiplyPairsInF32(*target);
    machine.processor = kAvx512Processor;
  }
  if (machine.processor == kAvx512Processor && !features.lookup("avx512bw"))
    machine.processor = "native"; // LLVM divides the vectors
  auto objects = device.compileKernels(*target, machine, nullptr);
  if (!verified || failed(objects) || objects->size() != 1) {
    ADD_FAILURE() << "no object";
    return nullptr;
  }
  const KernelObject &object = objects->front();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) {
    ADD_FAILURE() << llvm::toString(jit.takeError());
    return nullptr;
  }
  kernel->jit = std::move(*jit);
  auto search = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      kernel->jit->getDataLayout().getGlobalPrefix());
  if (search)
    kernel->jit->getMainJITDylib().addGenerator(std::move(*search));
  if (auto error =
          kernel->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object.object))) {
    ADD_FAILURE() << llvm::toString(std::move(error));
    return nullptr;
  }
  auto symbol = kernel->jit->lookup(object.symbol);
  if (!symbol) {
    ADD_FAILURE() << llvm::toString(symbol.takeError());
    return nullptr;
  }
  kernel->function = symbol->toPtr<void (*)(char *const *)>();
  return kernel;
}

void CompiledKernel::call(ArrayRef<TensorBuffer *> buffers) {
  SmallVector<char *> pointers;
  for (TensorBuffer *buffer : buffers)
    pointers.push_back(buffer->data());
  function(pointers.data());
}
