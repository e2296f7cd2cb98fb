#ifndef DPC_TOOLS_DPC_COMPILE_SAVEKERNELS_H
#define DPC_TOOLS_DPC_COMPILE_SAVEKERNELS_H

#include "planning/FactorForm.h"
#include "targets/Target.h"
#include "tools/dpc-compile/Options.h"
#include "tools/dpc-compile/WorkFolder.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// The files of --save-kernels. They are written in a temporary folder beside the folder that the
/// option names, and moved there when the program is complete.
class SavedKernels {
public:
  /// Makes the temporary folder. Returns the exit code, after one line on stderr if it is not 0.
  int create(llvm::StringRef folder);

  /// Writes the PTX and the machine code of each distinct kernel, and the launches of `program`
  /// (launches.jsonl). `kernels` has the modules that `objects` were compiled from. Returns the
  /// exit code.
  int write(mlir::ModuleOp program, mlir::ModuleOp kernels, llvm::ArrayRef<KernelObject> objects,
            FactorForm factors);

  /// Makes the final folder if it is missing, and removes the files of an earlier
  /// --save-kernels. Adds the moves of all files to `moves`, launches.jsonl last. Returns the exit
  /// code.
  int prepare(llvm::SmallVectorImpl<std::pair<std::string, std::string>> &moves);

private:
  std::string place;
  WorkFolder temporary;
  std::vector<std::string> names;
};

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_SAVEKERNELS_H
