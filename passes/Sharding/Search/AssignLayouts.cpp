// Chooses which mesh axes cut which atoms of the program, and writes the resulting layouts and
// reshards.

#include "passes/Sharding/Passes.h"
#include "passes/Sharding/Search/ConstantCopies.h"
#include "passes/Sharding/Search/LayoutPlanner.h"
#include "passes/Sharding/Search/WriteLayouts.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/Sharding/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::dist;

static void decompose(ArrayRef<DecomposableOpInterface> composites) {
  for (DecomposableOpInterface op : composites) {
    OpBuilder builder(op);
    auto parts = op.decompose(builder);
    if (Attribute request = op->getAttr(DistDialect::kRequestAttrName))
      if (Operation *last = parts[0].getDefiningOp(); last && last->getResult(0) == parts[0])
        last->setAttr(DistDialect::kRequestAttrName, request);
    op->replaceAllUsesWith(parts);
    op->erase();
  }
}

namespace {

struct AssignLayoutsPass : dpc::impl::AssignLayoutsBase<AssignLayoutsPass> {
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    MeshShape mesh;
    if (failed(readMesh(mesh)))
      return signalPassFailure();
    writeMesh(mesh);
    FailureOr<MeshPrices> meshPrices = getMeshPrices(getOperation());
    if (failed(meshPrices))
      return signalPassFailure();
    KnownLayouts known(mesh);
    LayoutWishes wishes;
    wishes.batchAxes = batchAxes;
    wishes.autoAxes = autoAxes;
    wishes.splitAtoms = splitAtoms;
    wishes.explain = explain;
    // The layouts of state are decided for @step; @eval follows them.
    for (StringRef name : {"step", "eval", "infer"})
      if (auto function = getOperation().lookupSymbol<func::FuncOp>(name)) {
        if (failed(known.addGiven(function)) ||
            failed(assign(function, mesh, *meshPrices, wishes, known)))
          return signalPassFailure();
        wishes.stateIsKnown = true;
      }
  }

private:
  LogicalResult readMesh(MeshShape &mesh) {
    for (const std::string &text : axes) {
      auto [name, size] = StringRef(text).split('=');
      MeshAxis axis;
      axis.name = name.str();
      if (size.getAsInteger(10, axis.size))
        return getOperation().emitError("mesh axis '") << text << "' is not NAME=SIZE";
      axis.sequential = llvm::is_contained(sequentialAxes, axis.name);
      mesh.axes.push_back(axis);
    }
    if (std::optional<std::string> defect = mesh.check())
      return getOperation().emitError("mesh: ") << *defect;
    for (const auto *list : {&batchAxes, &autoAxes, &sequentialAxes})
      for (const std::string &axis : *list)
        if (!mesh.axisIndex(axis))
          return getOperation().emitError("axis '") << axis << "' is not in the mesh";
    return success();
  }

  void writeMesh(const MeshShape &mesh) {
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(getOperation().getBody());
    SmallVector<StringRef> names, sequential;
    SmallVector<int64_t> sizes;
    for (const MeshAxis &axis : mesh.axes) {
      names.push_back(axis.name);
      sizes.push_back(axis.size);
      if (axis.sequential)
        sequential.push_back(axis.name);
    }
    builder.create<MeshOp>(getOperation().getLoc(), "mesh", builder.getStrArrayAttr(names), sizes,
                           sequential.empty() ? ArrayAttr() : builder.getStrArrayAttr(sequential));
  }

  LogicalResult assign(func::FuncOp function, const MeshShape &mesh, const MeshPrices &meshPrices,
                       const LayoutWishes &wishes, KnownLayouts &known) {
    const bool hasMicrobatches = llvm::any_of(
        mesh.axes, [](const MeshAxis &axis) { return axis.sequential && axis.size > 1; });
    if (hasMicrobatches && failed(separateConstants(function, mesh, wishes, known)))
      return failure();
    // If the plan cuts a loop that a composite needs uncut, core ops replace the composite.
    // The layouts are then chosen again, at most once per composite.
    while (true) {
      LayoutBoundary boundary(function, mesh, wishes.batchAxes, known);
      FailureOr<ProgramLoops> program = createLoops(function, boundary);
      if (failed(program))
        return failure();
      FailureOr<bool> isNew = boundary.readRequests(*program);
      if (failed(isNew))
        return failure();
      if (*isNew)
        continue;
      boundary.keepWhole(*program);
      PlacementCache cache(mesh, meshPrices,
                           wishes.splitAtoms ? wishes.autoAxes : ArrayRef<std::string>());
      LayoutPlanner planner(boundary, *program, mesh, cache, wishes);
      if (failed(planner.search()))
        return failure();
      if (SmallVector<DecomposableOpInterface> cut = planner.findCutComposites(); !cut.empty()) {
        decompose(cut);
        if (hasMicrobatches && failed(separateConstants(function, mesh, wishes, known)))
          return failure();
        continue;
      }
      const SplitPlan best = planner.split();
      writeLayouts(boundary, best.program, *planner.assign(best.program, best.plan), mesh, known,
                   explain);
      dropRequests(function);
      if (hasMicrobatches)
        mergeConstants(function, [](Value) { return std::vector<bool>(); });
      return success();
    }
  }

  /// Analyses the loops of the function. The analysis starts with the structures that the
  /// boundary demands for dimensions of arguments.
  static FailureOr<ProgramLoops> createLoops(func::FuncOp function, LayoutBoundary &boundary) {
    StructureSeeds seeds;
    if (failed(boundary.checkReturned()) || failed(boundary.collectSeeds(seeds)))
      return failure();
    return ProgramLoops::create(function, seeds);
  }

  /// Lets readers share a constant only if they agree which of its dimensions count samples.
  /// If other readers shared the constant too, the constant could connect a dimension of an
  /// unrelated value to the samples. Such a value would hold every microbatch at once, and could
  /// not be computed in the loop over microbatches.
  LogicalResult separateConstants(func::FuncOp function, const MeshShape &mesh,
                                  const LayoutWishes &wishes, KnownLayouts &known) {
    copyConstants(function);
    LayoutBoundary boundary(function, mesh, wishes.batchAxes, known);
    FailureOr<ProgramLoops> program = createLoops(function, boundary);
    if (failed(program))
      return failure();
    const SmallVector<unsigned> samples = boundary.samplesOf(*program);
    mergeConstants(function, [&](Value constant) {
      std::vector<bool> places;
      for (int64_t d = 0; d < nn::typeOf(constant).getRank(); ++d)
        for (const auto &segment : program->getDim(constant, d))
          for (unsigned atom : segment)
            places.push_back(llvm::is_contained(samples, atom));
      return places;
    });
    return success();
  }
};

} // namespace
