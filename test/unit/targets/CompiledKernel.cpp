// Compiles a kernel for a target, loads it into this process (ORC), and runs it
// in buffers whose guards show writes outside of them.

#include "test/unit/targets/CompiledKernel.h"

#include "dialects/NN/IR/NNDialect.h"
#include "targets/CPU/CPUTarget.h"
#include "targets/Scalar/ScalarTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"
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

std::unique_ptr<CompiledKernel> CompiledKernel::create(Operation *op, const CodeOptions &options,
                                                       StringRef targetName) {
  const Target &device = *findTarget(targetName);
  auto kernel = std::make_unique<CompiledKernel>();
  for (Type type : op->getResultTypes())
    kernel->resultTypes.push_back(cast<RankedTensorType>(type));
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

std::vector<HostTensor> CompiledKernel::run(ArrayRef<HostTensor> operands, ArrayRef<int> shared) {
  std::vector<TensorBuffer> buffers;
  std::vector<char *> pointers;
  auto add = [&](RankedTensorType type) -> TensorBuffer & {
    buffers.emplace_back(type);
    return buffers.back();
  };
  buffers.reserve(operands.size() + resultTypes.size() + 1);
  for (const HostTensor &operand : operands) {
    TensorBuffer &buffer = add(operand.getType());
    buffer.write(operand);
    pointers.push_back(buffer.data());
  }
  std::vector<unsigned> places;
  for (auto [result, type] : llvm::enumerate(resultTypes)) {
    if (result < shared.size() && shared[result] >= 0) {
      places.push_back(shared[result]);
    } else {
      places.push_back(buffers.size());
      add(type);
    }
    pointers.push_back(buffers[places.back()].data());
  }
  auto scratchType =
      RankedTensorType::get({code.scratchBytes}, IntegerType::get(resultTypes[0].getContext(), 8));
  pointers.push_back(add(scratchType).data());
  function(pointers.data());
  std::vector<HostTensor> results;
  for (auto [result, type] : llvm::enumerate(resultTypes))
    results.push_back(buffers[places[result]].read());
  for (const TensorBuffer &buffer : buffers)
    EXPECT_TRUE(buffer.isGuardIntact()) << "wrote outside a buffer";
  return results;
}
