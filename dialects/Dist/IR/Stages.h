// The programs of the stages of a pipeline (dpc-cut-stages).

#ifndef DPC_DIALECTS_DIST_IR_STAGES_H
#define DPC_DIALECTS_DIST_IR_STAGES_H

#include "dialects/Dist/IR/MeshShape.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc::dist {

/// The program that some ranks run: the module of a stage, or a module without stages.
struct RankProgram {
  mlir::ModuleOp module;
  /// The coordinate on the mesh axis `pipe` of the ranks that run it; nullopt if all ranks do.
  std::optional<int64_t> stage;

  /// Whether the rank with `coordinates` on the axes of `mesh` runs this program.
  bool runsOn(const MeshShape &mesh, llvm::ArrayRef<int64_t> coordinates) const;
};

/// The stage of `module`; nullopt if it is no module of a stage.
std::optional<int64_t> stageOf(mlir::ModuleOp module);

/// The beginning of a message about `module`: "stage N: " for the module of a stage, else "".
std::string stagePrefix(mlir::ModuleOp module);

/// The programs of `root`: one per stage, in the order of the stages. If `root` is not cut into
/// stages, it is the only program.
llvm::SmallVector<RankProgram> programsOf(mlir::ModuleOp root);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_STAGES_H
