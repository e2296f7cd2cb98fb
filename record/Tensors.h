#ifndef DPC_RECORD_TENSORS_H
#define DPC_RECORD_TENSORS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Stages.h"
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

/// A tensor that the host accesses, on the ranks of one program: of one stage of a pipeline, or on
/// all ranks.
struct TensorPart {
  const dist::RankProgram *program;
  HostedTensor tensor;
};

/// The records of the tensors that the host accesses: state, inputs, controls, outputs and
/// metrics. A tensor has one record, also if several stages of a pipeline have it. A persistent
/// buffer holds one tensor. But if it is flat storage, each of its members is a tensor.
class TensorRecords {
public:
  TensorRecords(mlir::ModuleOp module, llvm::ArrayRef<dist::RankProgram> programs,
                ProgramMesh &mesh, llvm::Module &target, ConstantPool &pool, InitialValues values)
      : module(module), programs(programs), variables(module), mesh(mesh), target(target),
        pool(pool), values(values) {}

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
  /// The parts of one tensor, in the order of their programs. There is at least one.
  using Parts = llvm::SmallVector<TensorPart, 1>;

  /// Collects the parts of all tensors. Fails with an error if two parts differ in their type.
  mlir::LogicalResult collect();
  void orderStates();
  mlir::LogicalResult addState(const Parts &parts, nn::ArgAttr arg);
  mlir::LogicalResult addInput(const Parts &parts, nn::ArgAttr arg);
  mlir::LogicalResult addControl(const Parts &parts, mlir::Attribute binding);
  mlir::LogicalResult addOutput(const Parts &parts, llvm::StringRef name);
  mlir::LogicalResult addMetric(const Parts &parts, llvm::StringRef name);
  void indexWrites();
  void remarkWholeOutputs();
  /// The part that rank `rank` has; null if it has none.
  const TensorPart *findPart(const Parts &parts, uint32_t rank) const;
  llvm::Constant *emitPlacements(const Parts &parts);
  /// The rank from whose buffer the host reads a metric after `entry`; DPC_NONE if all ranks have
  /// the metric.
  uint32_t findHolder(const Parts &parts, unsigned entry) const;
  /// Emits the table of the buffers of a number (dpc_place_t), one per rank.
  llvm::Constant *emitPlaces(const Parts &parts);
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
  const llvm::ArrayRef<dist::RankProgram> programs;
  const nn::Variables variables;
  /// The tensors by their bindings (#nn.arg, #nn.result or #exec.coordinate), in the order in which
  /// the programs have them.
  llvm::MapVector<mlir::Attribute, Parts> tensors;
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
