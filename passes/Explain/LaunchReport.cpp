// Counts the launches of a program's kernels on a device, and lists the kernels that run on one
// thread and the products that are computed element by element.

#include "passes/Explain/LaunchReport.h"

#include "dialects/Exec/IR/CallSyntax.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Contraction.h"
#include "passes/Machine/MachineTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

namespace {
/// For one kind of library calls, e.g. products of matrices: the number of computations that a
/// library makes, and the number that kernels make.
struct Makers {
  int64_t libraries = 0, kernels = 0;
};

/// The launches that one execution of a kernel needs. `makers` has one entry per kind of library
/// calls, in the order of callSyntaxes(). `isLone` says that at least one of the launches runs on a
/// single thread.
struct Grids {
  int64_t launches = 0;
  SmallVector<Makers> makers;
  bool isLone = false;

  explicit Grids(func::FuncOp kernel) : makers(callSyntaxes().size()) {
    auto grids = kernel->getAttrOfType<ArrayAttr>(ExecDialect::kLaunchesAttrName);
    if (!grids)
      return;
    launches = grids.size();
    for (GridAttr grid : grids.getAsRange<GridAttr>())
      isLone |= grid.getLone();
    for (auto [kind, maker] : llvm::zip_equal(callSyntaxes(), makers)) {
      for (GridAttr grid : grids.getAsRange<GridAttr>())
        maker.libraries += grid.getCall() && grid.getCall().getKind() == kind->getNumber();
      kernel.walk([kind = kind, &kernels = maker.kernels](Operation *op) {
        kernels += kind->computes(op);
      });
      maker.kernels = std::max<int64_t>(0, maker.kernels - maker.libraries);
    }
  }
};
} // namespace

/// Lists the products in `kernel` whose elements `target` computes one by one: the first ONNX node,
/// the numbers of rows, columns and terms per element, and the number of launches.
static void listSlowProducts(func::FuncOp kernel, const Target &target, int64_t launches,
                             std::vector<std::vector<std::string>> &rows) {
  kernel.walk([&](nn::DotOp dot) {
    const OpForm form = target.getForm(dot);
    if (form == OpForm::tiles || form == OpForm::whole)
      return;
    rows.push_back({kernel.getSymName().str(), firstNodeOf(dot.getLoc()).str(),
                    countText(nn::countAlong(dot.getLhs(), dot.getLhsFree())),
                    countText(nn::countAlong(dot.getRhs(), dot.getRhsFree())),
                    countText(nn::countAlong(dot.getLhs(), dot.getLhsContract())),
                    countText(launches)});
  });
}

void dpc::addLaunches(ExplainReport &report, ModuleOp module, const std::string &title) {
  llvm::MapVector<Operation *, int64_t> uses;
  for (Operation &function : *module.getBody())
    if (!isa<func::FuncOp>(function))
      function.walk([&](LaunchOp launch) {
        if (Operation *kernel =
                SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()))
          ++uses[kernel];
      });
  int64_t launches = 0;
  SmallVector<Makers> makers(callSyntaxes().size());
  std::vector<std::vector<std::string>> lone, slow;
  const Target *target = getTarget(module);
  for (auto [kernel, count] : uses) {
    Grids grids(cast<func::FuncOp>(kernel));
    if (target && grids.launches > 0)
      listSlowProducts(cast<func::FuncOp>(kernel), *target, count, slow);
    launches += count * grids.launches;
    for (auto [all, own] : llvm::zip_equal(makers, grids.makers)) {
      all.libraries += count * own.libraries;
      all.kernels += count * own.kernels;
    }
    if (grids.isLone)
      lone.push_back({SymbolTable::getSymbolName(kernel).str(), firstNodeOf(kernel->getLoc()).str(),
                      countText(count)});
  }
  if (launches == 0)
    return;
  ReportSection &section = report.add(title);
  section.lines.push_back(countText(uses.size()) + " kernels, " + countText(launches) +
                          " launches of all entries");
  for (auto [kind, maker] : llvm::zip_equal(callSyntaxes(), makers))
    if (maker.libraries + maker.kernels > 0)
      section.lines.push_back(kind->getTitle().str() + ": " + countText(maker.libraries) + " by " +
                              kind->getLibrary().str() + " where it is there, " +
                              countText(maker.kernels) + " by kernels");
  if (!lone.empty()) {
    section.lines.push_back("one thread makes all of these:");
    section.columns = {"kernel", "node", ">launches"};
    section.rows = std::move(lone);
  }
  if (slow.empty())
    return;
  ReportSection &products = report.add(title + ": products element by element");
  products.columns = {"kernel", "node", ">rows", ">columns", ">terms", ">launches"};
  products.rows = std::move(slow);
}
