#ifndef DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H
#define DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H

#include "targets/Target.h"

namespace dpc {

/// The form of the code that LLVM writes.
enum class ObjectForm {
  object, ///< an object file for x86-64 processors
  ptx     ///< the text of NVIDIA's virtual instruction set, for CUDA devices
};

/// The processor and the form for which LLVM generates code.
struct ObjectOptions {
  /// `native`, which means the processor of this machine, or a name that LLVM
  /// knows.
  std::string processor;
  /// Whether LLVM may vectorize loops and groups of scalar instructions.
  bool vectorize;
  /// Features that the processor has besides those of its name, as LLVM lists them, e.g.
  /// "+avx512bf16". Not for `native`.
  std::string features = {};
  ObjectForm form = ObjectForm::object;
};

/// Implements Target::compileKernels. Needs: registerObjectTranslations was
/// called, and for PTX, the translation of the NVVM dialect is registered too.
mlir::FailureOr<std::vector<KernelObject>>
compileObjects(mlir::ModuleOp kernels, const ObjectOptions &options, const ObjectCache *cache);

/// Registers the translations to LLVM IR of the dialects that kernels use.
void registerObjectTranslations(mlir::DialectRegistry &registry);

} // namespace dpc

#endif // DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H
