// Checks the contract of level `placed`: that the layouts of each op agree with
// its sharding rule.

#include "passes/Verify/Contract.h"
#include "passes/Verify/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Interfaces/Interfaces.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYPLACED
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::dist;

namespace {

struct VerifyPlacedPass : dpc::impl::VerifyPlacedBase<VerifyPlacedPass> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

private:
  InFlightDiagnostic violation(Operation *op) {
    return Contract(getOperation(), "placed").violation(op);
  }

  LogicalResult verify() {
    ModuleOp module = getOperation();
    FailureOr<MeshShape> found = Contract(module, "placed").getMesh();
    if (failed(found))
      return failure();
    mesh = *found;
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(verify(function)))
        return failure();
    return success();
  }

  LogicalResult verify(func::FuncOp function) {
    made.clear();
    for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
      std::string name = "argument " + std::to_string(index);
      auto layout = function.getArgAttrOfType<LayoutAttr>(index, DistDialect::kLayoutAttrName);
      if (failed(record(function, layout, argument, name)) || failed(checkState(function, index)))
        return failure();
    }
    for (Operation &op : function.front().without_terminator()) {
      auto reshard = dyn_cast<ReshardOp>(op);
      if (reshard ? failed(verifyReshard(reshard)) : failed(verifyOp(&op)))
        return failure();
    }
    return success();
  }

  /// Checks that state is replicated over sequential axes and not partial (L5).
  LogicalResult checkState(func::FuncOp function, unsigned index) {
    nn::ArgAttr arg = nn::getArg(function, index);
    if (!arg)
      return violation(function) << "argument " << index << " has no nn.arg";
    if (llvm::is_contained({nn::ArgKind::input, nn::ArgKind::label, nn::ArgKind::control},
                           arg.getKind()))
      return success();
    const Layout &layout = made[function.getArgument(index)];
    if (!layout.partial.empty())
      return violation(function) << "state '" << arg.getName() << "' is partial";
    for (const std::string &axis : shardedAxes(layout))
      if (mesh.axes[*mesh.axisIndex(axis)].sequential)
        return violation(function)
               << "state '" << arg.getName() << "' is cut over the sequential axis " << axis;
    return success();
  }

  LogicalResult checkLayout(Operation *op, LayoutAttr layout, Type type, StringRef name) {
    if (!layout)
      return violation(op) << name << " has no layout";
    if (auto defect = dist::check(layout.getLayout(), cast<ShapedType>(type).getShape(), mesh))
      return violation(op) << name << ": " << *defect;
    return success();
  }

  LogicalResult record(Operation *op, LayoutAttr layout, Value value, const std::string &name) {
    if (failed(checkLayout(op, layout, value.getType(), name)))
      return failure();
    made[value] = normalize(layout.getLayout());
    return success();
  }

  LogicalResult checkRead(Operation *op, LayoutAttr layout, Value value, const std::string &name) {
    if (failed(checkLayout(op, layout, value.getType(), name)))
      return failure();
    Layout read = normalize(layout.getLayout());
    const Layout &was = made[value];
    if (was.partial != read.partial || !sameIndices(was, read, mesh))
      return violation(op) << name << " is read as " << toString(read) << " but was made as "
                           << toString(was);
    return success();
  }

  LogicalResult verifyReshard(ReshardOp op) {
    if (failed(checkRead(op, op.getFrom(), op.getInput(), "the operand")))
      return failure();
    return record(op, op.getTo(), op.getResult(), "the result");
  }

  LogicalResult verifyOp(Operation *op) {
    auto operands = op->getAttrOfType<ArrayAttr>(DistDialect::kOperandsAttrName);
    auto results = op->getAttrOfType<ArrayAttr>(DistDialect::kResultsAttrName);
    if (!operands || !results || operands.size() != op->getNumOperands() ||
        results.size() != op->getNumResults())
      return violation(op) << "has no layout for each operand and result";
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      if (failed(checkRead(op, dyn_cast<LayoutAttr>(operands[index]), operand,
                           "operand " + std::to_string(index))))
        return failure();
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      if (failed(record(op, dyn_cast<LayoutAttr>(results[index]), result,
                        "result " + std::to_string(index))))
        return failure();
    return verifyLoops(op, operands, results);
  }

  /// The sharding of one loop, and the operand or result in which it was found first.
  struct Cut {
    DimLayout layout;
    std::string where;
  };

  LogicalResult verifyLoops(Operation *op, ArrayAttr operands, ArrayAttr results) {
    auto shardable = dyn_cast<ShardableOpInterface>(op);
    if (!shardable)
      return violation(op) << "has no sharding rule";
    ShardingRule rule = shardable.getShardingRule();
    std::vector<std::optional<Cut>> cuts(rule.loops.size());
    // Use the layouts in the op's own attributes. The layout in which an operand was computed may
    // be written differently, although every device has the same elements: if an axis shards a
    // factor of extent 1, it does not matter in which dimension this factor is.
    auto visit = [&](Attribute attr, const ShardingRule::ValueLoops &dims,
                     const std::string &where) {
      const Layout own = normalize(cast<LayoutAttr>(attr).getLayout());
      for (auto [dim, loops] : llvm::enumerate(dims)) {
        if (loops.size() != 1 || loops[0].size() != 1)
          continue;
        const DimLayout &layout = own.dims[dim];
        std::optional<Cut> &cut = cuts[loops[0][0]];
        if (!cut) {
          cut = Cut{layout, where};
        } else if (!sameIndices(cut->layout, layout, mesh)) {
          violation(op) << "loop " << loops[0][0] << " is cut as " << dist::toString(cut->layout)
                        << " in " << cut->where << " and as " << dist::toString(layout) << " in "
                        << where;
          return failure();
        }
      }
      return success();
    };
    for (auto [index, layout] : llvm::enumerate(operands))
      if (failed(visit(layout, rule.operands[index], "operand " + std::to_string(index))))
        return failure();
    for (auto [index, layout] : llvm::enumerate(results))
      if (failed(visit(layout, rule.results[index], "result " + std::to_string(index))))
        return failure();
    for (auto [number, cut] : llvm::enumerate(cuts)) {
      if (!cut)
        continue;
      AxisNames axes = shardedAxes(cut->layout);
      LoopKind kind = rule.loops[number].kind;
      if (kind == LoopKind::whole && !axes.empty())
        return violation(op) << "loop " << number << " must be whole but is cut as "
                             << dist::toString(cut->layout);
      const std::optional<Reduction> reduction = reductionOf(kind);
      if (!reduction)
        continue;
      for (const std::string &axis : axes)
        for (auto [index, result] : llvm::enumerate(op->getResults()))
          if (!llvm::is_contained(made[result].partial, Partial{axis, *reduction}))
            return violation(op) << "the reduced loop " << number << " is cut over " << axis
                                 << ", but result " << index << " is " << toString(made[result]);
    }
    return success();
  }

  MeshShape mesh;
  /// For each value: the layout in which it was computed, in normal form.
  llvm::DenseMap<Value, Layout> made;
};

} // namespace
