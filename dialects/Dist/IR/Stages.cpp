#include "dialects/Dist/IR/Stages.h"

#include "dialects/Dist/IR/Messages.h"

using namespace mlir;
using namespace dpc::dist;

bool RankProgram::runsOn(const MeshShape &mesh, ArrayRef<int64_t> coordinates) const {
  if (!stage)
    return true;
  const std::optional<unsigned> axis = mesh.axisIndex(kPipeAxis);
  return axis && coordinates[*axis] == *stage;
}

std::optional<int64_t> dpc::dist::stageOf(ModuleOp module) {
  if (auto number = module->getAttrOfType<IntegerAttr>(DistDialect::kStageAttrName))
    return number.getInt();
  return std::nullopt;
}

std::string dpc::dist::stagePrefix(ModuleOp module) {
  const std::optional<int64_t> stage = stageOf(module);
  return stage ? "stage " + std::to_string(*stage) + ": " : "";
}

SmallVector<RankProgram> dpc::dist::programsOf(ModuleOp root) {
  SmallVector<RankProgram> programs;
  for (auto module : root.getOps<ModuleOp>())
    if (std::optional<int64_t> stage = stageOf(module))
      programs.push_back({module, stage});
  if (programs.empty())
    programs.push_back({root, std::nullopt});
  llvm::stable_sort(programs,
                    [](const RankProgram &a, const RankProgram &b) { return a.stage < b.stage; });
  return programs;
}
