#ifndef DPC_RECORD_LAUNCHTABLE_H
#define DPC_RECORD_LAUNCHTABLE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dpc/device.h"
#include "record/Mesh.h"
#include "targets/Target.h"

namespace dpc {

/// The functions of a program for a device, as lists of launches
/// (runtime/include/dpc/device.h). The code of kernels is somebody else's:
/// their symbols are declared in the module, or their images and the names of
/// their functions (`defineGrids`).
class LaunchTable {
public:
  LaunchTable(mlir::SymbolTableCollection &symbols, llvm::Module &target, ConstantPool &pool,
              ProgramMesh &mesh, FunctionForm form)
      : symbols(symbols), target(target), pool(pool), mesh(mesh), form(form) {}

  /// Adds the next entry of the function table. Group families that it needs
  /// become part of the mesh.
  void add(exec::FunctionOp function);

  llvm::Constant *emit();

private:
  void addKernel(exec::LaunchOp launch);
  void addLaunch(dpc_launch_t launch, mlir::ValueRange buffers);
  void addProduct(dpc_launch_t &launch, exec::ProductAttr product, mlir::ValueRange buffers);
  void addParam(mlir::Value buffer, uint64_t behind = 0, uint64_t most = UINT64_MAX);
  uint32_t getKernel(exec::LaunchOp launch, llvm::StringRef entry);

  mlir::SymbolTableCollection &symbols;
  llvm::Module &target;
  ConstantPool &pool;
  ProgramMesh &mesh;
  FunctionForm form;
  RecordImage kernels, launches, params, functions, products;
  llvm::StringMap<uint32_t> kernelIndex;
  /// By the bytes of their records: equal ones once.
  llvm::StringMap<uint64_t> productIndex;
  uint64_t launchCount = 0, paramCount = 0;
};

/// Puts the code of kernels that are grids into the module that declares it:
/// equal code once. Its PTX is for `processor` (sm_80, ..) and later ones.
void defineGrids(llvm::Module &module, llvm::ArrayRef<KernelObject> objects,
                 llvm::StringRef processor);

} // namespace dpc

#endif // DPC_RECORD_LAUNCHTABLE_H
