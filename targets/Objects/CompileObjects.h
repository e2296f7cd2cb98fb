#ifndef DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H
#define DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H

#include "targets/Target.h"

namespace dpc {

/// What LLVM writes.
enum class ObjectForm {
  object, ///< an object file, for processors like the one this runs on
  ptx     ///< the text of NVIDIA's virtual machine, for devices
};

/// What LLVM makes object files for.
struct ObjectOptions {
  /// `native` (this machine), or a name that LLVM knows.
  std::string processor;
  /// Whether loops and neighbouring scalars become vectors.
  bool vectorize;
  ObjectForm form = ObjectForm::object;
};

/// Target::compileKernels. Needs the translations of
/// `registerObjectTranslations`, and for PTX that of the NVVM dialect.
mlir::FailureOr<std::vector<KernelObject>>
compileObjects(mlir::ModuleOp kernels, const ObjectOptions &options, const ObjectCache *cache);

/// Registers how the dialects of kernels become LLVM IR.
void registerObjectTranslations(mlir::DialectRegistry &registry);

} // namespace dpc

#endif // DPC_TARGETS_OBJECTS_COMPILEOBJECTS_H
