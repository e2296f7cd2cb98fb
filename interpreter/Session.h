#ifndef DPC_INTERPRETER_SESSION_H
#define DPC_INTERPRETER_SESSION_H

#include "dialects/Dist/IR/MeshShape.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace dpc {

/// Logical (global) tensors, keyed by name.
using TensorMap = std::map<std::string, HostTensor, std::less<>>;

/// Arrays whose first dimension counts samples, keyed by name.
struct DataSet {
  TensorMap arrays;
};

/// Runs a compiled module in the reference interpreter. Holds the state as
/// logical tensors, and passes tensors to functions by the names of their
/// arguments. All calls report errors through the module's diagnostics.
class Session {
public:
  /// Reads the initial state from the module's `nn.variable` ops.
  static mlir::FailureOr<Session> create(mlir::ModuleOp module);

  /// The state: parameters, buffers, constants and optimizer state.
  TensorMap state;

  /// B, the number of samples per step: the extent at the batch dimension of
  /// the first input that has one; 1 if no input has one.
  int64_t getBatchSize(llvm::StringRef function);

  /// The number of devices of the mesh; 1 without a mesh.
  int64_t getRankCount();

  /// Runs `function` on every device, one thread per device, on rows [firstRow,
  /// firstRow + B) of the data; rows past the end continue at row 0. Replaces
  /// the state by the function's state results. Returns the other results by
  /// name.
  mlir::FailureOr<TensorMap> run(llvm::StringRef function, const DataSet &data, int64_t firstRow,
                                 const std::map<std::string, double> &control);

  /// The learning rate of a step that has `stepsDone` steps before it, in a
  /// training of `steps` steps; 0 without a schedule.
  double getLearningRate(int64_t stepsDone, int64_t steps);

private:
  explicit Session(mlir::ModuleOp module) : module(module) {}
  /// By rank: the shards of a function's arguments or results.
  using RankTensors = std::vector<std::vector<HostTensor>>;
  /// The arguments of `function` on every rank.
  mlir::FailureOr<RankTensors> getArguments(mlir::func::FuncOp function, const DataSet &data,
                                            int64_t firstRow,
                                            const std::map<std::string, double> &control,
                                            const dist::MeshShape &mesh);
  /// Evaluates `function` on every rank, one thread per rank, and returns the results.
  static mlir::FailureOr<RankTensors>
  evaluateOnRanks(mlir::func::FuncOp function, RankTensors arguments, const dist::MeshShape &mesh);
  /// The logical tensor of an argument, from the state, the data or the
  /// controls.
  mlir::FailureOr<HostTensor> argument(mlir::func::FuncOp function, unsigned index,
                                       const DataSet &data, int64_t firstRow,
                                       const std::map<std::string, double> &control);
  /// The logical type of an argument: it has the shape of the argument's
  /// layout, if there is one.
  mlir::RankedTensorType logicalType(mlir::func::FuncOp function, unsigned index);

  mlir::ModuleOp module;
};

/// Reads an npz file; nullopt with a message of one line in `error`.
std::optional<DataSet> readNpz(llvm::StringRef path, mlir::MLIRContext *context,
                               std::string &error);

/// Writes a tensor as an npy file; floats narrower than f64 are written as f32.
/// False with a message of one line in `error`.
bool writeNpy(llvm::StringRef path, const HostTensor &tensor, std::string &error);

/// Writes tensors as a safetensors file; false with a message of one line in
/// `error`.
bool writeSafetensors(llvm::StringRef path, const TensorMap &tensors, std::string &error);

} // namespace dpc

#endif // DPC_INTERPRETER_SESSION_H
