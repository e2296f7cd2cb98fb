#ifndef DPC_RECORD_ACTIONS_H
#define DPC_RECORD_ACTIONS_H

#include "record/BufferTable.h"
#include "record/Tensors.h"

#include <map>

namespace dpc {

/// The table of source locations of actions, for messages and traces. Equal
/// locations share one record.
class LocationTable {
public:
  LocationTable(llvm::Module &target, ConstantPool &pool) : target(target), pool(pool) {}

  /// Index of the record of `loc`; DPC_NONE if `loc` names no ONNX node.
  uint32_t get(mlir::Location loc);
  uint32_t size() const { return count; }
  llvm::Constant *emit() { return image.emit(target, "locations"); }

private:
  llvm::Module &target;
  ConstantPool &pool;
  RecordImage image;
  llvm::StringMap<uint32_t> known;
  uint32_t count = 0;
};

/// The action table of one entry. All ranks that run the entry share this table.
class ActionTable {
public:
  ActionTable(ProgramMesh &mesh, mlir::SymbolTableCollection &symbols,
              const llvm::StringMap<uint32_t> &functions, LocationTable &locations,
              const BufferTable &buffers, llvm::Module &target)
      : mesh(mesh), symbols(symbols), functions(functions), locations(locations), buffers(buffers),
        target(target) {}

  /// Fills the table. If the runtime has no action for an op with its operands, emits an error on
  /// the op and fails.
  mlir::LogicalResult run(exec::EntryOp entry);

  RecordImage image;
  uint32_t count = 0;
  uint32_t eventCount = 0;

private:
  mlir::LogicalResult visit(mlir::Block &block, bool inLoop);
  mlir::LogicalResult visit(mlir::Operation *op, bool inLoop);
  /// Adds the actions of the routine that `run` runs.
  mlir::LogicalResult visitRun(exec::RunOp run);
  /// Fills `action`, the START of a message (an exec.start_send or exec.start_recv), except for its
  /// buffer.
  template <typename Message>
  void startMessage(dpc_action_t &action, Message message, uint32_t kind);

  ProgramMesh &mesh;
  mlir::SymbolTableCollection &symbols;
  const llvm::StringMap<uint32_t> &functions;
  LocationTable &locations;
  const BufferTable &buffers;
  llvm::Module &target;
  llvm::DenseMap<mlir::Value, uint32_t> events;
  /// By number and operation of a message: its actions so far.
  std::map<std::pair<uint64_t, uint32_t>, int32_t> messages;
  /// The run whose actions are added; null outside of runs. `frames` is its table of frames.
  exec::RunOp currentRun;
  llvm::Constant *frames = nullptr;
};

} // namespace dpc

#endif // DPC_RECORD_ACTIONS_H
