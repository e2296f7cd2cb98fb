#ifndef DPC_RECORD_LAUNCHTABLE_H
#define DPC_RECORD_LAUNCHTABLE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dpc/types.h"
#include "record/Mesh.h"

namespace dpc {

/// The functions of a program for a device, as lists of launches
/// (runtime/include/dpc/device.h). The code of kernels is somebody else's:
/// their symbols are declared in the module.
class LaunchTable {
public:
  LaunchTable(llvm::Module &target, ConstantPool &pool, ProgramMesh &mesh)
      : target(target), pool(pool), mesh(mesh) {}

  /// Adds the next entry of the function table. Group families that it needs
  /// become part of the mesh.
  void add(exec::FunctionOp function);

  llvm::Constant *emit();

private:
  void addLaunch(uint32_t kind, mlir::ValueRange buffers, uint32_t kernel = DPC_NONE);
  uint32_t getKernel(llvm::StringRef name);

  llvm::Module &target;
  ConstantPool &pool;
  ProgramMesh &mesh;
  RecordImage kernels, launches, params, functions;
  llvm::StringMap<uint32_t> kernelIndex;
  uint64_t launchCount = 0, paramCount = 0;
};

} // namespace dpc

#endif // DPC_RECORD_LAUNCHTABLE_H
