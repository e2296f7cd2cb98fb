#ifndef DPC_RECORD_LAUNCHTABLE_H
#define DPC_RECORD_LAUNCHTABLE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dpc/device.h"
#include "record/Mesh.h"
#include "targets/Target.h"

namespace dpc {

/// The functions of a program for a device, as lists of launches
/// (runtime/include/dpc/device.h). This class does not emit the code of kernels: the
/// LLVM module only declares it. For kernels of host code it declares functions. For CUDA
/// it declares placeholders for images and for the names of functions in them, which
/// `defineGrids` later defines.
class LaunchTable {
public:
  LaunchTable(mlir::SymbolTableCollection &symbols, llvm::Module &target, ConstantPool &pool,
              ProgramMesh &mesh, FunctionForm form)
      : symbols(symbols), target(target), pool(pool), mesh(mesh), form(form) {}

  /// Adds the launches of a function. Functions must be added in the order of the
  /// function table. Adds to the mesh the group families that the launches need.
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

/// Defines the code of CUDA kernels: replaces the placeholders that LaunchTable has
/// declared in `module`. Equal code is stored once. The PTX is for `processor` (e.g.
/// sm_80) and later processors.
void defineGrids(llvm::Module &module, llvm::ArrayRef<KernelObject> objects,
                 llvm::StringRef processor);

} // namespace dpc

#endif // DPC_RECORD_LAUNCHTABLE_H
