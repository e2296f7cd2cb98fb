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
  /// The form of the program's functions, which depends on the target: host code or
  /// lists of launches.
  FunctionForm functions = FunctionForm::hostCode;
  /// The instruction set that the generated code needs (DPC_ISA_*).
  unsigned isa = 0;
  /// Where initial values are stored. If they are in a file, `parameterFile` is its
  /// name.
  InitialValues initialValues = InitialValues::embedded;
  std::string parameterFile;

  /// A position in the template of --save-onnx where the value of a state is inserted.
  struct OnnxPatch {
    std::string state;
    uint64_t offset;
    uint64_t bytes;
    /// Type of the value in the ONNX file: DPC_F32, ...
    uint32_t dtype;
  };
  /// The ONNX template (see dpc_program_t); empty: the program cannot save the model.
  std::string onnxTemplate;
  std::vector<OnnxPatch> onnxPatches;
  /// If the template is empty because the ONNX file would be too large: the size of
  /// that file. Otherwise 0.
  uint64_t onnxBytes = 0;
};

/// Builds the program record `dpc_program` (runtime/include/dpc/program.h) and the functions that
/// the record's actions call, from a module at level `exec`. The functions are host code or lists
/// of launches. The result only declares the kernels of host code, as symbols
/// `void kernel(char *const *buffers)`. The buffers are operands, results and scratch, in this
/// order. Unless `outside` is null, it receives the initial values whose bytes lie in the MLIR
/// module, and the result only declares them. If the record cannot express the module, emits an
/// error on the op at fault and returns null.
std::unique_ptr<llvm::Module> emitProgram(mlir::ModuleOp module, const ProgramOptions &options,
                                          llvm::LLVMContext &context,
                                          std::vector<OutsideValue> *outside = nullptr);

} // namespace dpc

#endif // DPC_RECORD_EMITPROGRAM_H
