#ifndef DPC_RECORD_TENSORS_H
#define DPC_RECORD_TENSORS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Interfaces/ElementTypes.h"
#include "dialects/NN/IR/FileTensors.h"
#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/Program.h"
#include "record/Mesh.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace dpc {

/// Where the initial values of state are stored: they are embedded in the record, or in a
/// file. With `none` the program has no initial values of parameters and saved buffers, so
/// the user must provide them.
enum class InitialValues { embedded, file, none };

/// A tensor that the host accesses: an entire persistent buffer, or a member of flat
/// storage.
struct HostedTensor {
  exec::PersistentOp persistent;
  /// Null: each rank has the whole (unsharded) tensor.
  dist::LayoutAttr layout;
  /// The type of one device's shard by `layout`, before the storage is divided.
  mlir::RankedTensorType type;
  /// Number of elements that the flat storage has before this tensor.
  int64_t first = 0;
  /// The ranks along these mesh axes divide the storage among them.
  llvm::ArrayRef<mlir::StringAttr> axes;

  explicit HostedTensor(exec::PersistentOp persistent);
  HostedTensor(exec::PersistentOp persistent, dist::StorageAttr storage, dist::MemberAttr member);
  /// The logical shape.
  llvm::SmallVector<int64_t> globalShape() const;
};

/// The records of the tensors that the host accesses: state, inputs, controls, outputs and
/// metrics. Each persistent buffer has one record. But if a buffer is flat storage, each of
/// its members has one.
class TensorRecords {
public:
  TensorRecords(mlir::ModuleOp module, ProgramMesh &mesh, llvm::Module &target, ConstantPool &pool,
                InitialValues values)
      : module(module), variables(module), mesh(mesh), target(target), pool(pool), values(values) {}

  /// Fills the tables. If it cannot, emits an error on the op at fault and fails.
  mlir::LogicalResult run();

  /// Index of the record of the state `name`; nullopt if no state has this name.
  std::optional<uint32_t> findState(llvm::StringRef name) const {
    auto found = stateIndex.find(name);
    if (found == stateIndex.end())
      return std::nullopt;
    return found->second;
  }

  RecordImage states, inputs, controls, outputs, metrics;
  uint32_t stateCount = 0, inputCount = 0, controlCount = 0, outputCount = 0, metricCount = 0;
  /// The batch size B: the number of samples per step. 1 if no input has a batch dimension.
  int64_t batch = 1;

private:
  mlir::LogicalResult addStates(exec::PersistentOp persistent, bool optimizer);
  mlir::LogicalResult addState(HostedTensor tensor, nn::ArgAttr arg);
  mlir::LogicalResult addInput(exec::PersistentOp persistent, nn::ArgAttr arg);
  mlir::LogicalResult addControl(exec::PersistentOp persistent);
  mlir::LogicalResult addOutput(exec::PersistentOp persistent, llvm::StringRef name);
  mlir::LogicalResult addMetric(exec::PersistentOp persistent, llvm::StringRef name);
  void indexWrites();
  void remarkWholeOutputs();
  llvm::Constant *emitPlacements(HostedTensor tensor);
  llvm::Constant *emitFileTensors(llvm::ArrayRef<nn::FileTensor> tensors);
  llvm::Constant *emitBounds(llvm::ArrayRef<nn::BoundsRun> runs, llvm::ArrayRef<int64_t> shape,
                             int64_t batchDim);
  mlir::FailureOr<uint32_t> getDtype(exec::PersistentOp persistent);

  /// Of the inputs with a batch dimension, the one that was added last; null if none was.
  nn::ArgAttr batched;
  /// The first output that has no batch dimension and is not a scalar; null if there is
  /// none. This output is one value for the complete batch.
  exec::PersistentOp wholeOutput;
  /// Whether any output has a batch dimension.
  bool countsSamples = false;

  mlir::ModuleOp module;
  const nn::Variables variables;
  ProgramMesh &mesh;
  llvm::Module &target;
  ConstantPool &pool;
  InitialValues values;
  llvm::StringMap<uint32_t> stateIndex;
  /// For each persistent buffer, the entries that write it: a sum of 1 << DPC_ENTRY_*.
  llvm::DenseMap<mlir::Operation *, uint32_t> writtenBy;
};

} // namespace dpc

#endif // DPC_RECORD_TENSORS_H
