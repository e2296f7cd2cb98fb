#ifndef DPC_RECORD_FUNCTIONS_H
#define DPC_RECORD_FUNCTIONS_H

#include "dialects/Dist/IR/MeshShape.h"
#include "dialects/Exec/IR/ExecDialect.h"

#include "llvm/IR/Module.h"

namespace dpc {

/// Emits `function` as `int32_t name(dpc_call_t *)`. The axes of `mesh` are in
/// the order of dpc_call_t::coordinates. Null with an error for a coordinate on
/// an unknown axis.
llvm::Function *emitFunction(exec::FunctionOp function, llvm::Module &module,
                             const dist::MeshShape &mesh);

} // namespace dpc

#endif // DPC_RECORD_FUNCTIONS_H
