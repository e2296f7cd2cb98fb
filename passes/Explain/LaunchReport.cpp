// Counts the launches of a program's kernels on a device, and lists the kernels that run on one
// thread.

#include "passes/Explain/LaunchReport.h"

#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Contraction.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

namespace {
/// The number of launches of one call of a kernel, how many of its matrix products a library
/// computes, and how many the kernel computes itself. `isLone` says whether a launch has only one
/// thread.
struct Grids {
  int64_t launches = 0, libraryProducts = 0, kernelProducts = 0;
  bool isLone = false;

  explicit Grids(func::FuncOp kernel) {
    auto grids = kernel->getAttrOfType<ArrayAttr>(ExecDialect::kLaunchesAttrName);
    if (!grids)
      return;
    launches = grids.size();
    for (GridAttr grid : grids.getAsRange<GridAttr>()) {
      libraryProducts += bool(grid.getProduct());
      isLone |= grid.getLone();
    }
    kernel.walk([&](nn::DotOp) { ++kernelProducts; });
    kernelProducts = std::max<int64_t>(0, kernelProducts - libraryProducts);
  }
};
} // namespace

void dpc::addLaunches(Report &report, ModuleOp module) {
  llvm::MapVector<Operation *, int64_t> uses;
  for (Operation &function : *module.getBody())
    if (!isa<func::FuncOp>(function))
      function.walk([&](LaunchOp launch) {
        if (Operation *kernel =
                SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()))
          ++uses[kernel];
      });
  int64_t launches = 0, libraryProducts = 0, kernelProducts = 0;
  std::vector<std::vector<std::string>> lone;
  for (auto [kernel, count] : uses) {
    Grids grids(cast<func::FuncOp>(kernel));
    launches += count * grids.launches;
    libraryProducts += count * grids.libraryProducts;
    kernelProducts += count * grids.kernelProducts;
    if (grids.isLone)
      lone.push_back({SymbolTable::getSymbolName(kernel).str(), firstNodeOf(kernel->getLoc()).str(),
                      countText(count)});
  }
  if (launches == 0)
    return;
  ReportSection &section = report.add("kernels on the device");
  section.lines.push_back(countText(uses.size()) + " kernels, " + countText(launches) +
                          " launches of all entries");
  section.lines.push_back("products of matrices: " + countText(libraryProducts) +
                          " by cuBLASLt where it is there, " + countText(kernelProducts) +
                          " by kernels");
  if (lone.empty())
    return;
  section.lines.push_back("one thread makes all of these:");
  section.columns = {"kernel", "node", ">launches"};
  section.rows = std::move(lone);
}
