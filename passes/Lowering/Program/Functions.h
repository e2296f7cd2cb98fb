#ifndef DPC_PASSES_LOWERING_PROGRAM_FUNCTIONS_H
#define DPC_PASSES_LOWERING_PROGRAM_FUNCTIONS_H

#include "dialects/Exec/IR/ExecDialect.h"

#include "llvm/IR/Module.h"

namespace dpc {

/// Emits `function` as `int32_t name(dpc_call_t *)`. `axes` are the names of
/// the mesh axes in the order of dpc_call_t::coordinates. Null with an error
/// for a coordinate on an unknown axis.
llvm::Function *emitFunction(exec::FunctionOp function, llvm::Module &module,
                             llvm::ArrayRef<std::string> axes);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_PROGRAM_FUNCTIONS_H
