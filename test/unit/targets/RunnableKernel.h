#ifndef DPC_TEST_UNIT_TARGETS_RUNNABLEKERNEL_H
#define DPC_TEST_UNIT_TARGETS_RUNNABLEKERNEL_H

#include "targets/Target.h"

#include "dialects/Interfaces/HostTensor.h"

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
  size_t getSize() const { return size; }
  mlir::RankedTensorType getType() const { return type; }
  /// Whether the bytes around the tensor are as they were.
  bool isGuardIntact() const;

private:
  mlir::RankedTensorType type;
  std::vector<char> bytes;
  size_t offset, size;
};

/// A kernel that a target has made, and that can run here.
class RunnableKernel {
public:
  virtual ~RunnableKernel() = default;

  /// Runs it on operands; `shared[i]`, where not negative, is the operand whose
  /// buffer result i takes.
  std::vector<HostTensor> run(llvm::ArrayRef<HostTensor> operands, llvm::ArrayRef<int> shared = {});

  KernelCode code;

protected:
  explicit RunnableKernel(mlir::TypeRange results);
  /// Runs it on the operands' buffers, the results' and one of scratch memory,
  /// some of which are the same.
  virtual void call(llvm::ArrayRef<TensorBuffer *> buffers) = 0;

private:
  llvm::SmallVector<mlir::RankedTensorType> resultTypes;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_RUNNABLEKERNEL_H
