#include "passes/Lowering/BlockLowering.h"
#include "passes/Lowering/CommunicationOrder.h"
#include "passes/Lowering/InPlace.h"
#include "passes/Lowering/Passes.h"
#include "passes/Lowering/Purposes.h"
#include "passes/Lowering/Residents.h"

#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/Shape.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_LOWERTOEXEC
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;
using nn::ArgKind;
using nn::ResultKind;

namespace {

/// Lowers one function: its arguments and results here, its ops in
/// BlockLowering.
class EntryLowering {
public:
  EntryLowering(func::FuncOp function, Residents &residents,
                const CommunicationOptions &options)
      : function(function), residents(residents), builder(function),
        block(builder, options) {}

  LogicalResult run() {
    auto entry =
        builder.create<EntryOp>(function.getLoc(), function.getSymName());
    builder.setInsertionPointToEnd(&entry.getBody().emplaceBlock());
    if (failed(lowerArguments()) ||
        failed(block.prepare(function.front(), findReaders())) ||
        failed(chooseTargets()) || failed(block.run(function.front())))
      return failure();
    copyResults();
    block.settleAll();
    function.erase();
    return success();
  }

private:
  Value get(ResidentOp resident) {
    return builder.create<GetOp>(resident.getLoc(), resident.getBufferType(),
                                 resident.getSymName());
  }

  LogicalResult lowerArguments() {
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      Attribute binding = argBinding(function, index);
      if (!binding)
        return function.emitError("argument ") << index << " has no nn.arg";
      auto arg = dyn_cast<nn::ArgAttr>(binding);
      if (arg && arg.getKind() == ArgKind::control) {
        if (argument.use_empty())
          continue;
        Value buffer = block.createBuffer(argument);
        builder.create<ControlOp>(argument.getLoc(), arg.getName(), buffer);
        block.buffers[argument] = buffer;
        continue;
      }
      FailureOr<ResidentOp> resident =
          residents.getOrCreate(argument.getLoc(), binding, argument.getType(),
                                function.getArgAttr(index, "dist.layout"));
      if (failed(resident))
        return failure();
      if (Attribute bounds = function.getArgAttr(index, nn::kBoundsAttrName))
        if (!(*resident)->hasAttr(nn::kBoundsAttrName))
          (*resident)->setAttr(nn::kBoundsAttrName, bounds);
      block.buffers[argument] = get(*resident);
      stateArguments[resident->getSymName()] = argument;
    }
    return success();
  }

  /// Calls `visit` with each use of `argument`, or of a view of it, by an op
  /// that is no view.
  static void forEachUse(BlockArgument argument,
                         llvm::function_ref<void(OpOperand &)> visit) {
    SmallVector<Value> aliases = {argument};
    for (unsigned i = 0; i < aliases.size(); ++i)
      for (OpOperand &use : aliases[i].getUses())
        if (isView(use.getOwner()))
          llvm::append_range(aliases, use.getOwner()->getResults());
        else
          visit(use);
  }

  /// What is computed to become the new value of a state: `value`, or the
  /// share of this rank that it is gathered from.
  static Value getMadePart(Value value) {
    while (isa_and_nonnull<nn::ReshapeOp, dist::AllGatherOp>(
        value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  /// Who makes the new value of a state, and who reads the old one.
  std::vector<OrderConstraint> findReaders() {
    std::vector<OrderConstraint> constraints;
    llvm::StringMap<Operation *> makers;
    for (OpOperand &operand : function.front().getTerminator()->getOpOperands())
      if (Attribute binding =
              resultBinding(function, operand.getOperandNumber()))
        makers[Residents::symbolOf(binding)] =
            getMadePart(operand.get()).getDefiningOp();
    for (BlockArgument argument : function.getArguments()) {
      Attribute binding = argBinding(function, argument.getArgNumber());
      Operation *maker =
          binding ? makers.lookup(Residents::symbolOf(binding)) : nullptr;
      if (maker)
        forEachUse(argument, [&](OpOperand &use) {
          constraints.push_back(
              {maker, function.front().findAncestorOpInBlock(*use.getOwner())});
        });
    }
    return constraints;
  }

  /// Decides which values are computed straight into a resident buffer.
  LogicalResult chooseTargets() {
    auto terminator = function.front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      Attribute binding = resultBinding(function, index);
      if (!binding)
        return function.emitError("result ") << index << " has no nn.result";
      Value value = operand.get();
      std::string name = Residents::symbolOf(binding);
      BlockArgument old = stateArguments.lookup(name);
      auto result = dyn_cast<nn::ResultAttr>(binding);
      if ((!result || result.getKind() == ResultKind::state) && !old)
        return function.emitError("returns the state ")
               << (result ? result.getName() : StringRef(name))
               << " but does not take it";
      if (value == old)
        continue;
      Value target;
      if (old) {
        target = block.buffers[old];
      } else {
        FailureOr<ResidentOp> resident =
            residents.getOrCreate(value.getLoc(), binding, value.getType(),
                                  function.getResultAttr(index, "dist.layout"));
        if (failed(resident))
          return failure();
        if (Attribute dim =
                function.getResultAttr(index, nn::kBatchDimAttrName))
          (*resident)->setAttr(nn::kBatchDimAttrName, dim);
        target = get(*resident);
      }
      if (!computeInto(value, target, old))
        copies.push_back({value, target});
    }
    return success();
  }

  /// Has `value`, or the part of it that this rank makes, written straight into
  /// `target`, which may hold the old value of a state, `old`. False if that
  /// cannot be.
  bool computeInto(Value value, Value target, BlockArgument old) {
    Value made = getMadePart(value);
    Operation *producer = made.getDefiningOp();
    if (!isa_and_nonnull<func::CallOp>(producer) || block.targets.count(made) ||
        (old && !isFreeAt(old, producer, made)))
      return false;
    if (made == value) {
      block.targets[value] = target;
      return true;
    }
    auto gather =
        value.getDefiningOp()->getOperand(0).getDefiningOp<dist::AllGatherOp>();
    // Peers read it where it is gathered from.
    if (!gather || gather.getInput() != made ||
        spaceOf(placeOf(target).root) != Space::shared)
      return false;
    block.targets[gather.getResult()] = builder.create<ViewOp>(
        value.getLoc(), bufferOf(gather.getType()), target);
    block.targets[made] = block.createShareView(made, target, gather.getAxes());
    return true;
  }

  /// Whether nothing needs the old value of a state, `old`, once `producer` has
  /// begun to write the new one.
  bool isFreeAt(BlockArgument old, Operation *producer, Value value) {
    bool isFree = true;
    forEachUse(old, [&](OpOperand &use) {
      Operation *user = function.front().findAncestorOpInBlock(*use.getOwner());
      if (user == producer && use.getOwner() == producer)
        isFree &= mayComputeInPlace(getKernel(producer), use.getOperandNumber(),
                                    cast<OpResult>(value).getResultNumber());
      else
        isFree &= user->isBeforeInBlock(producer);
    });
    return isFree;
  }

  func::FuncOp getKernel(Operation *call) {
    return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, cast<func::CallOp>(call).getCalleeAttr());
  }

  /// What could not be computed in place. A state that is the value of another
  /// one is saved before any is overwritten.
  void copyResults() {
    SmallVector<std::pair<Value, Value>> moves;
    for (auto [value, target] : copies) {
      Value source = block.buffers.lookup(value);
      if (isa_and_nonnull<ResidentOp>(placeOf(source).root)) {
        Value saved = block.createBuffer(value);
        block.copy(value.getLoc(), source, saved);
        source = saved;
      }
      moves.push_back({source, target});
    }
    for (auto [source, target] : moves)
      block.copy(target.getLoc(), source, target);
  }

  func::FuncOp function;
  Residents &residents;
  OpBuilder builder;
  BlockLowering block;
  llvm::StringMap<BlockArgument> stateArguments;
  SmallVector<std::pair<Value, Value>> copies;
};

struct LowerToExecPass : dpc::impl::LowerToExecBase<LowerToExecPass> {
  using LowerToExecBase::LowerToExecBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Residents residents(module);
    CommunicationOptions communication;
    communication.firstBucketBytes = firstBucketBytes;
    communication.bucketBytes = bucketBytes;
    communication.overlap = overlap;
    for (StringRef name : {"step", "eval", "infer"})
      if (auto function = module.lookupSymbol<func::FuncOp>(name))
        if (failed(EntryLowering(function, residents, communication).run()))
          return signalPassFailure();
    markPurposes(module);
  }
};

} // namespace
