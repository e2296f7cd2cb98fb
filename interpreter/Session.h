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

/// Runs the functions of a module in the reference interpreter. The session holds the
/// state as logical tensors. It finds the tensor of a function argument by the name in
/// the argument's `#nn.arg`. The functions of a session report errors as MLIR diagnostics.
class Session {
public:
  /// Reads the initial state from the module's `nn.variable` ops.
  static mlir::FailureOr<Session> create(mlir::ModuleOp module);

  /// The state: parameters, buffers, constants and optimizer state.
  TensorMap state;

  /// Whether the module, or the module of a stage, has a function called `name`.
  bool hasFunction(llvm::StringRef name);

  /// Returns B, the number of samples per step: the extent of the batch dimension of
  /// the first input that has a batch dimension. Returns 1 if no input has a batch
  /// dimension.
  int64_t getBatchSize(llvm::StringRef function);

  /// The number of devices of the mesh; 1 without a mesh.
  int64_t getRankCount();

  /// Runs `function` on every device, with one thread per device. The function
  /// reads rows [firstRow, firstRow + B) of the data, where row 0 follows after
  /// the last row. `control` holds the values of the function's controls by
  /// name. Replaces the state by the function's state results. Returns the
  /// other results by name.
  mlir::FailureOr<TensorMap> run(llvm::StringRef function, const DataSet &data, int64_t firstRow,
                                 const std::map<std::string, double> &control);

  /// Returns the learning rate of the step that follows `stepsDone` completed
  /// steps, in a training of `steps` steps; 0 if the module has no
  /// `nn.learning_rate`.
  double getLearningRate(int64_t stepsDone, int64_t steps);

private:
  explicit Session(mlir::ModuleOp module) : module(module) {}
  /// For each rank: its shards of all arguments or all results of a function.
  using RankTensors = std::vector<std::vector<HostTensor>>;
  /// A function that some ranks run: all ranks, or the ranks of one stage of a pipeline.
  struct Part {
    mlir::func::FuncOp function;
    std::vector<int64_t> ranks;
  };
  /// The functions called `name`, with the ranks that run them. Empty if no function has the name.
  std::vector<Part> getParts(llvm::StringRef name, const dist::MeshShape &mesh);
  /// Sets `arguments`, for the ranks of `part`, to the shards that the layouts of the function give
  /// the ranks.
  mlir::LogicalResult addArguments(const Part &part, const DataSet &data, int64_t firstRow,
                                   const std::map<std::string, double> &control,
                                   const dist::MeshShape &mesh, RankTensors &arguments);
  /// Evaluates the functions of all parts, with one thread per rank, and returns the results of
  /// every rank.
  static mlir::FailureOr<RankTensors>
  evaluateOnRanks(llvm::ArrayRef<Part> parts, RankTensors arguments, const dist::MeshShape &mesh);
  /// Moves the results of `part` to the state and to `other`. Fails if another part has another
  /// new value of a state.
  mlir::LogicalResult takeResults(const Part &part, RankTensors &results,
                                  const dist::MeshShape &mesh, TensorMap &newState,
                                  TensorMap &other);
  /// Returns the logical tensor of an argument. It comes from the state, the
  /// data or the controls, depending on the kind of the argument.
  mlir::FailureOr<HostTensor> argument(mlir::func::FuncOp function, unsigned index,
                                       const DataSet &data, int64_t firstRow,
                                       const std::map<std::string, double> &control);
  /// Returns the logical type of an argument. If the argument has a layout, the
  /// type in the IR may be that of a shard, so the shape comes from the layout.
  mlir::RankedTensorType logicalType(mlir::func::FuncOp function, unsigned index);

  mlir::ModuleOp module;
};

/// Reads an npz file. Leaves out arrays of element types that the interpreter
/// does not support. If reading fails, returns nullopt and sets `error` to a
/// message of one line.
std::optional<DataSet> readNpz(llvm::StringRef path, mlir::MLIRContext *context,
                               std::string &error);

/// Writes a tensor as an npy file. Floats narrower than f64 are written as f32.
/// If writing fails, returns false and sets `error` to a message of one line.
bool writeNpy(llvm::StringRef path, const HostTensor &tensor, std::string &error);

/// Writes tensors as a safetensors file, with the same types as writeNpy for
/// floats, and i64 for integers. If writing fails, returns false and sets
/// `error` to a message of one line.
bool writeSafetensors(llvm::StringRef path, const TensorMap &tensors, std::string &error);

} // namespace dpc

#endif // DPC_INTERPRETER_SESSION_H
