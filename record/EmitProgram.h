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
  /// The form in which the target gives functions: host code or launches.
  FunctionForm functions = FunctionForm::hostCode;
  /// The instruction set that the generated code needs, as DPC_ISA_*.
  unsigned isa = 0;
  /// Where initial values are stored, and the name of their file if they are in
  /// one.
  InitialValues initialValues = InitialValues::embedded;
  std::string parameterFile;

  /// A place in the template of --save-onnx where a state's value is inserted.
  struct OnnxPatch {
    std::string state;
    uint64_t offset;
    uint64_t bytes;
    /// Type of the value in the file: DPC_F32, ...
    uint32_t dtype;
  };
  /// The template, see dpc_program_t; empty: the program cannot save the model.
  std::string onnxTemplate;
  std::vector<OnnxPatch> onnxPatches;
  /// If there is no template: the size that the file would need, or 0.
  uint64_t onnxBytes = 0;
};

/// Builds, from a module at level `exec`, the program record `dpc_program` of
/// runtime/include/dpc/program.h and the functions of its action tables, as
/// host code or as lists of launches. The code of kernels is not emitted here:
/// they are only declared, as symbols `void kernel(char *const *buffers)` with
/// operands, results and scratch in this order. Returns null, with an error on
/// the op at fault, if the record cannot express the module. Large initial
/// values go to `outside`, unless it is null, and the LLVM module only declares
/// them.
std::unique_ptr<llvm::Module> emitProgram(mlir::ModuleOp module, const ProgramOptions &options,
                                          llvm::LLVMContext &context,
                                          std::vector<OutsideValue> *outside = nullptr);

} // namespace dpc

#endif // DPC_RECORD_EMITPROGRAM_H
