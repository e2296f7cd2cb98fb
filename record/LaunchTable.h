#ifndef DPC_RECORD_LAUNCHTABLE_H
#define DPC_RECORD_LAUNCHTABLE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dpc/device.h"
#include "record/Mesh.h"
#include "targets/Target.h"

namespace dpc {

/// Writes the functions of a program for a device as lists of launches
/// (runtime/include/dpc/device.h). This class does not emit the code of kernels. It only
/// adds declarations to the LLVM module `target`. For a kernel of host code it declares
/// the function. For a CUDA kernel it declares placeholders for the images and for the
/// names of the functions in the images. `defineGrids` later replaces the placeholders.
class LaunchTable {
public:
  LaunchTable(mlir::SymbolTableCollection &symbols, llvm::Module &target, ConstantPool &pool,
              ProgramMesh &mesh, FunctionForm form)
      : symbols(symbols), target(target), pool(pool), mesh(mesh), form(form) {}

  /// Adds the launches of a function. Functions must be added in the order of the
  /// function table. Adds to the mesh the group families that the launches need.
  void add(exec::FunctionOp function);

  /// Emits all tables, and returns the dpc_device_program_t that points to them.
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
  /// The index of each library call in `calls`. The key consists of the kind and the
  /// description, so that equal calls share an entry of `calls`.
  llvm::StringMap<uint64_t> callIndex;
  uint64_t launchCount = 0, paramCount = 0;
};

/// Adds the code of CUDA kernels to `module`: replaces the placeholders that LaunchTable
/// has declared there. Kernels with equal code share one copy. The PTX is for `processor`
/// (e.g. sm_80) and later processors.
void defineGrids(llvm::Module &module, llvm::ArrayRef<KernelObject> objects,
                 llvm::StringRef processor);

} // namespace dpc

#endif // DPC_RECORD_LAUNCHTABLE_H
