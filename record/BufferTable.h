#ifndef DPC_RECORD_BUFFERTABLE_H
#define DPC_RECORD_BUFFERTABLE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dpc/program.h"
#include "record/Mesh.h"

namespace dpc {

/// The logical buffers of a program, which have the same places on all ranks,
/// and the accesses of its functions to them. The runtime's checkPlan proves
/// the plan from this table. Persistent buffers come first, then the buffers of
/// entries, in the order of their numbers.
class BufferTable {
public:
  BufferTable(mlir::ModuleOp module, mlir::SymbolTableCollection &symbols, llvm::Module &target,
              ConstantPool &pool, ProgramMesh &mesh)
      : module(module), symbols(symbols), target(target), pool(pool), mesh(mesh) {}

  /// Fills the table. Fails with an error on a buffer that has no number or no
  /// offset.
  mlir::LogicalResult run();

  /// The reference to a buffer in an action.
  dpc_buffer_t getBuffer(mlir::Value buffer) const;

  /// The accesses of a function and their number; null if it has none. Adds the
  /// group families that they need to the mesh.
  std::pair<llvm::Constant *, uint64_t> emitAccesses(exec::FunctionOp function);

  uint64_t size() const { return buffers.size() / sizeof(dpc_logical_buffer_t); }
  llvm::Constant *emit() { return buffers.emit(target, "buffers"); }

private:
  void add(mlir::Operation *root, int64_t bytes, uint32_t kind, llvm::StringRef name);
  uint32_t getIndex(mlir::Operation *root) const;

  mlir::ModuleOp module;
  mlir::SymbolTableCollection &symbols;
  llvm::Module &target;
  ConstantPool &pool;
  ProgramMesh &mesh;
  RecordImage buffers;
  llvm::DenseMap<mlir::Operation *, uint32_t> persistentIndex;
  /// Keyed by the number of the buffer.
  llvm::DenseMap<int64_t, uint32_t> temporaryIndex;
};

} // namespace dpc

#endif // DPC_RECORD_BUFFERTABLE_H
