#ifndef DPC_RECORD_FUNCTIONS_H
#define DPC_RECORD_FUNCTIONS_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "record/Mesh.h"

#include "llvm/IR/Module.h"

namespace dpc {

/// Declares the code of a kernel, the function `void name(char *const *buffers)`.
llvm::Function *declareKernel(llvm::Module &module, llvm::StringRef name);

/// Emits `function` as host code, the function `int32_t name(dpc_call_t *)`. Adds to
/// `mesh` the group families that the function needs.
llvm::Function *emitFunction(exec::FunctionOp function, mlir::SymbolTableCollection &symbols,
                             llvm::Module &module, ProgramMesh &mesh);

} // namespace dpc

#endif // DPC_RECORD_FUNCTIONS_H
