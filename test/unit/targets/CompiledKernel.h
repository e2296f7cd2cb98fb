#ifndef DPC_TEST_UNIT_TARGETS_COMPILEDKERNEL_H
#define DPC_TEST_UNIT_TARGETS_COMPILEDKERNEL_H

#include "targets/Target.h"

#include "dialects/Interfaces/HostTensor.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>

namespace dpc::test {

/// Registers the targets there are, once, and what they need of MLIR.
void registerTargets(mlir::DialectRegistry &registry);

/// Memory for one tensor as generated code sees it: dense, at an address
/// divisible by 64, with a guard on either side.
class TensorBuffer {
public:
  explicit TensorBuffer(mlir::RankedTensorType type);
  char *data() { return bytes.data() + offset; }
  void write(const HostTensor &tensor);
  HostTensor read() const;
  /// Whether the bytes around the tensor are as they were.
  bool isGuardIntact() const;

private:
  mlir::RankedTensorType type;
  std::vector<char> bytes;
  size_t offset, size;
};

/// An `nn.kernel` or `nn.update`, compiled and loaded into this process.
class CompiledKernel {
public:
  /// Null, after a failed expectation, when it does not compile.
  static std::unique_ptr<CompiledKernel>
  create(mlir::Operation *op, const CodeOptions &options = {}, llvm::StringRef target = "cpu");

  /// Runs it on operands; `shared[i]`, where not negative, is the operand whose
  /// buffer result i takes.
  std::vector<HostTensor> run(llvm::ArrayRef<HostTensor> operands, llvm::ArrayRef<int> shared = {});
  /// The function itself.
  void call(char *const *buffers) { function(buffers); }

  KernelCode code;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*function)(char *const *) = nullptr;
  llvm::SmallVector<mlir::RankedTensorType> resultTypes;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_COMPILEDKERNEL_H
