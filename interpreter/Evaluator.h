#ifndef DPC_INTERPRETER_EVALUATOR_H
#define DPC_INTERPRETER_EVALUATOR_H

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dpc {

/// What the evaluator needs from the world around one device: its place on the
/// mesh and its peers. The default is a program without a mesh.
class DeviceContext {
public:
  virtual ~DeviceContext() = default;
  virtual int64_t getAxisIndex(llvm::StringRef axis) { return 0; }
  virtual int64_t getGroupIndex(llvm::ArrayRef<llvm::StringRef> axes) { return 0; }
  virtual void setSequentialIndex(llvm::StringRef axis, int64_t index) {}
  virtual mlir::FailureOr<std::vector<HostTensor>>
  exchange(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> axes, const HostTensor &mine) {
    return std::vector<HostTensor>{mine};
  }
};

/// Runs `function` on one device by the ops' interpreter rules, op by op in
/// program order, and returns its results. Values are freed after their last
/// use. Fails, with an error on the op at fault, when an op has no interpreter
/// rule or its rule fails.
mlir::FailureOr<std::vector<HostTensor>> evaluate(mlir::FunctionOpInterface function,
                                                  std::vector<HostTensor> arguments,
                                                  DeviceContext &device);

} // namespace dpc

#endif // DPC_INTERPRETER_EVALUATOR_H
