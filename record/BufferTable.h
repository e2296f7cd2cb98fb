#ifndef DPC_RECORD_BUFFERTABLE_H
#define DPC_RECORD_BUFFERTABLE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dpc/program.h"
#include "record/Mesh.h"

namespace dpc {

/// The logical buffers of a program, which all ranks lay out alike, and what
/// its functions do with them: the statement that the runtime's checkPlan
/// proves. Persistent buffers come first; behind them those of entries, by
/// their number.
class BufferTable {
public:
  BufferTable(mlir::ModuleOp module, mlir::SymbolTableCollection &symbols, llvm::Module &target,
              ConstantPool &pool, ProgramMesh &mesh)
      : module(module), symbols(symbols), target(target), pool(pool), mesh(mesh) {}

  /// Fills the table. Fails with an error on a buffer without number or place.
  mlir::LogicalResult run();

  /// A buffer as an action names it.
  dpc_buffer_t getBuffer(mlir::Value buffer) const;

  /// The accesses of a function, with their number; null for none. Group
  /// families that it needs become part of the mesh.
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
  /// By number.
  llvm::DenseMap<int64_t, uint32_t> temporaryIndex;
};

} // namespace dpc

#endif // DPC_RECORD_BUFFERTABLE_H
