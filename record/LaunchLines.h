#ifndef DPC_RECORD_LAUNCHLINES_H
#define DPC_RECORD_LAUNCHLINES_H

#include "planning/FactorForm.h"
#include "planning/KernelClass.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace dpc {

/// The work of a kernel or a copy, and the time that the plan foretells for it.
struct KernelEstimate {
  KernelClass kind;
  double flops, bytes, seconds;
};

/// By function of a program: the estimates of its kernels and copies, in their order. A function of
/// a stage has the name of the stage before its own, with a dot.
using KernelEstimates = llvm::StringMap<std::vector<KernelEstimate>>;

/// Writes a line of JSON for each launch of the functions of `program`, a module at level `exec`
/// for a target with grids. The launches have the order in which LaunchTable writes them. The
/// lines have facts that the table lacks: ops, ONNX nodes, and the types of buffers.
/// docs/compiling.md lists the fields.
///
/// `kernels` has the modules of the kernels' code, and `objects` has their compiled code. `factors`
/// says whether products of f32 may round their factors. `estimates` has all functions.
void writeLaunchLines(mlir::ModuleOp program, mlir::ModuleOp kernels,
                      llvm::ArrayRef<KernelObject> objects, FactorForm factors,
                      const KernelEstimates &estimates, llvm::raw_ostream &out);

} // namespace dpc

#endif // DPC_RECORD_LAUNCHLINES_H
