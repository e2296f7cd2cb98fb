#ifndef DPC_INTERPRETER_EVALUATOR_H
#define DPC_INTERPRETER_EVALUATOR_H

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dpc {

/// The device that the evaluator computes for: its coordinates on the mesh, and the services by
/// which it exchanges tensors with other devices. The functions have the meaning that
/// InterpreterContext documents. This base class is the device of a program without a mesh.
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
  virtual mlir::LogicalResult send(mlir::Operation *op, llvm::StringRef axis, int64_t stage,
                                   int64_t number, const HostTensor &tensor);
  virtual mlir::FailureOr<HostTensor> receive(mlir::Operation *op, llvm::StringRef axis,
                                              int64_t stage, int64_t number);
  virtual mlir::FailureOr<std::vector<HostTensor>>
  exchangeAmong(mlir::Operation *op, llvm::StringRef axis, llvm::ArrayRef<int64_t> stages,
                int64_t number, const HostTensor &mine);
};

/// Runs `function` on one device: calls the interpreter rule of each op
/// (InterpretableOpInterface) in program order. Returns the results of the
/// function. A value is freed after its last use. Fails if the function has no body, if an op has
/// no interpreter rule, or if the rule of an op fails. Emits an error on the function or the op,
/// unless the op is a collective that fails because another device has failed.
mlir::FailureOr<std::vector<HostTensor>> evaluate(mlir::FunctionOpInterface function,
                                                  std::vector<HostTensor> arguments,
                                                  DeviceContext &device);

} // namespace dpc

#endif // DPC_INTERPRETER_EVALUATOR_H
