#ifndef DPC_INTERPRETER_EVALUATOR_H
#define DPC_INTERPRETER_EVALUATOR_H

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dpc {

/// The evaluator's interface to the devices around it: its device's place on
/// the mesh, and the exchange with other devices. This base class is for
/// programs without a mesh.
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

/// Runs `function` on one device with the ops' interpreter rules, op by op in
/// program order, and returns its results. A value is freed after its last use.
/// Fails, with an error on the op at fault, if an op has no interpreter rule or
/// its rule fails.
mlir::FailureOr<std::vector<HostTensor>> evaluate(mlir::FunctionOpInterface function,
                                                  std::vector<HostTensor> arguments,
                                                  DeviceContext &device);

} // namespace dpc

#endif // DPC_INTERPRETER_EVALUATOR_H
