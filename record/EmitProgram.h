#ifndef DPC_RECORD_EMITPROGRAM_H
#define DPC_RECORD_EMITPROGRAM_H

#include "record/Tensors.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>
#include <vector>

namespace dpc {

struct ProgramOptions {
  /// The model's name, for messages.
  std::string name;
  /// The compile command, for messages and checkpoints.
  std::string command;
  /// What the target makes of functions.
  FunctionForm functions = FunctionForm::hostCode;
  /// DPC_ISA_*: what the generated code needs.
  unsigned isa = 0;
  /// Where first values are, and the name of their file.
  InitialValues initialValues = InitialValues::embedded;
  std::string parameterFile;

  /// A place of --save-onnx's template where a state's value belongs.
  struct OnnxPatch {
    std::string state;
    uint64_t offset;
    uint64_t bytes;
    /// DPC_F32, ...: in the file.
    uint32_t dtype;
  };
  /// See dpc_program_t; empty: the program cannot save the model.
  std::string onnxTemplate;
  std::vector<OnnxPatch> onnxPatches;
  /// Without a template: bytes that the file would need, or 0.
  uint64_t onnxBytes = 0;
};

/// Builds, from a module at level `exec`, the program record `dpc_program` of
/// runtime/include/dpc/program.h and the functions that its action tables name:
/// host code, or lists of launches. Kernels are known by their symbols, `void
/// kernel(char *const *buffers)` with operands, results and scratch in this
/// order; their code is somebody else's. Null, with an error on the op at
/// fault, when the module cannot be expressed. `outside`, unless null, gets the
/// first values of state that are large: the LLVM module only declares them.
std::unique_ptr<llvm::Module> emitProgram(mlir::ModuleOp module, const ProgramOptions &options,
                                          llvm::LLVMContext &context,
                                          std::vector<OutsideValue> *outside = nullptr);

} // namespace dpc

#endif // DPC_RECORD_EMITPROGRAM_H
