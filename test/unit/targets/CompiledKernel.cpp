// Compiles a kernel for a target of the host, and loads it into this process
// (ORC).

#include "test/unit/targets/CompiledKernel.h"

#include "targets/CPU/CPUTarget.h"
#include "targets/Scalar/ScalarTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"

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
  auto objects = device.compileKernels(*target, options, nullptr);
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
