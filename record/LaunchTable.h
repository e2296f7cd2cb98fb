#ifndef DPC_RECORD_LAUNCHTABLE_H
#define DPC_RECORD_LAUNCHTABLE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dpc/device.h"
#include "record/Mesh.h"
#include "targets/Target.h"

namespace dpc {

/// The functions of a program for a device, as lists of launches
/// (runtime/include/dpc/device.h). The code of kernels is not emitted here. The
/// module only declares it: as symbols, or as images with the names of their
/// functions, which `defineGrids` defines later.
class LaunchTable {
public:
  LaunchTable(mlir::SymbolTableCollection &symbols, llvm::Module &target, ConstantPool &pool,
              ProgramMesh &mesh, FunctionForm form)
      : symbols(symbols), target(target), pool(pool), mesh(mesh), form(form) {}

  /// Adds the launches of the next entry of the function table. Adds the group
  /// families that they need to the mesh.
  void add(exec::FunctionOp function);

  llvm::Constant *emit();

private:
  void addKernel(exec::LaunchOp launch);
  void addLaunch(dpc_launch_t launch, mlir::ValueRange buffers);
  void addCall(dpc_launch_t &launch, exec::CallAttr call, mlir::ValueRange buffers);
  uint64_t getCall(exec::CallAttr call);
  void addParam(mlir::Value buffer, uint64_t behind = 0, uint64_t most = UINT64_MAX);
  uint32_t getKernel(exec::LaunchOp launch, llvm::StringRef entry);

  mlir::SymbolTableCollection &symbols;
  llvm::Module &target;
  ConstantPool &pool;
  ProgramMesh &mesh;
  FunctionForm form;
  RecordImage kernels, launches, params, functions, calls;
  llvm::StringMap<uint32_t> kernelIndex;
  /// Indices of library calls, keyed by kind and description, so that equal
  /// calls share an entry.
  llvm::StringMap<uint64_t> callIndex;
  uint64_t launchCount = 0, paramCount = 0;
};

/// Defines the code of kernels that are grids in the module that declares it.
/// Equal code is stored once. The PTX is for `processor` (sm_80, ..) and later
/// ones.
void defineGrids(llvm::Module &module, llvm::ArrayRef<KernelObject> objects,
                 llvm::StringRef processor);

} // namespace dpc

#endif // DPC_RECORD_LAUNCHTABLE_H
