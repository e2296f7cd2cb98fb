#ifndef DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H
#define DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H

#include "targets/Target.h"

namespace dpc {

/// The output of LLVM.
enum class ObjectForm {
  object, ///< an object file, for processors like the one this runs on
  ptx     ///< the text of NVIDIA's virtual instruction set, for devices
};

/// The processor and the form for which LLVM generates code.
struct ObjectOptions {
  /// `native` (this machine's processor), or a name that LLVM knows.
  std::string processor;
  /// Whether LLVM vectorizes loops and neighbouring scalars.
  bool vectorize;
  ObjectForm form = ObjectForm::object;
};

/// Implements Target::compileKernels. Needs the translations of
/// `registerObjectTranslations`, and for PTX the translation of the NVVM dialect.
mlir::FailureOr<std::vector<KernelObject>>
compileObjects(mlir::ModuleOp kernels, const ObjectOptions &options, const ObjectCache *cache);

/// Registers the translations of the kernels' dialects to LLVM IR.
void registerObjectTranslations(mlir::DialectRegistry &registry);

} // namespace dpc

#endif // DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H
