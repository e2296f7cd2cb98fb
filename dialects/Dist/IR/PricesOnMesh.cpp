#include "dialects/Dist/IR/PricesOnMesh.h"

using namespace dpc;

MeshPrices dist::getMeshPrices(const Machine &machine, const MeshShape &mesh) {
  llvm::SmallVector<std::pair<std::string, int64_t>> axes;
  for (const MeshAxis &axis : mesh.axes)
    if (!axis.sequential)
      axes.push_back({axis.name, axis.size});
  return MeshPrices(machine, axes);
}
