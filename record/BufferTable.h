#ifndef DPC_RECORD_BUFFERTABLE_H
#define DPC_RECORD_BUFFERTABLE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dpc/program.h"
#include "record/Mesh.h"

namespace dpc {

/// The logical buffers of a program (of a stage of a pipeline, or of all ranks), and the
/// accesses of its functions to these buffers. A buffer has the same place on all ranks that run
/// the program. The runtime's checkPlan proves
/// the plan from this table. Persistent buffers come first. The temporary buffers of
/// entries follow in the order of their numbers.
class BufferTable {
public:
  BufferTable(mlir::ModuleOp module, mlir::SymbolTableCollection &symbols, llvm::Module &target,
              ConstantPool &pool, ProgramMesh &mesh)
      : module(module), symbols(symbols), target(target), pool(pool), mesh(mesh) {}

  /// Fills the table. If a buffer has no number or no offset, emits an error on the
  /// buffer and fails.
  mlir::LogicalResult run();

  /// Describes a buffer in the form in which an action refers to it. In a run of a routine,
  /// `frames` are the buffers that the run provides.
  dpc_buffer_t getBuffer(mlir::Value buffer, mlir::ValueRange frames = {}) const;

  /// Emits the accesses of a function, and returns the table and its length. The
  /// table is null if the function has no accesses. Adds to the mesh the group
  /// families that the accesses need.
  std::pair<llvm::Constant *, uint64_t> emitAccesses(exec::FunctionOp function);

  uint64_t size() const { return buffers.size() / sizeof(dpc_logical_buffer_t); }
  llvm::Constant *emit() { return buffers.emit(target, "buffers"); }

private:
  void add(mlir::Operation *root, int64_t bytes, uint32_t kind, llvm::StringRef name);
  uint32_t getIndex(mlir::Operation *root) const;
  /// The buffer that the first run of a routine provides as `frame` of `function`. The routine
  /// calls the function.
  mlir::Operation *ownerOf(exec::FrameOp frame, exec::FunctionOp function);
  void findRuns();

  mlir::ModuleOp module;
  mlir::SymbolTableCollection &symbols;
  llvm::Module &target;
  ConstantPool &pool;
  ProgramMesh &mesh;
  RecordImage buffers;
  /// By name of a function that routines call: the first run of the routine.
  llvm::StringMap<exec::RunOp> firstRuns;
  llvm::DenseMap<mlir::Operation *, uint32_t> persistentIndex;
  /// The index of each temporary buffer, keyed by the buffer's number.
  llvm::DenseMap<int64_t, uint32_t> temporaryIndex;
};

} // namespace dpc

#endif // DPC_RECORD_BUFFERTABLE_H
