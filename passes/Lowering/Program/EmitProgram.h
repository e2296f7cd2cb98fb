#ifndef DPC_PASSES_LOWERING_PROGRAM_EMITPROGRAM_H
#define DPC_PASSES_LOWERING_PROGRAM_EMITPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>

namespace dpc {

struct ProgramOptions {
  /// The model's name, for messages.
  std::string name;
  /// The compile command, for messages and checkpoints.
  std::string command;
  /// DPC_ISA_*: what the generated code needs.
  unsigned isa = 0;
};

/// Builds, from a module at level `exec`, the program record `dpc_program` of
/// runtime/include/dpc/program.h and the functions that its action tables name.
/// These call the kernels by their symbols, `void kernel(char *const *buffers)`
/// with operands, results and scratch in this order; the kernels' code is
/// somebody else's. Null, with an error on the op at fault, when the module
/// cannot be expressed.
std::unique_ptr<llvm::Module> emitProgram(mlir::ModuleOp module,
                                          const ProgramOptions &options,
                                          llvm::LLVMContext &context);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_PROGRAM_EMITPROGRAM_H
