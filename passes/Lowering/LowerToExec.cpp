#include "passes/Lowering/BlockLowering.h"
#include "passes/Lowering/InPlace.h"
#include "passes/Lowering/Passes.h"
#include "passes/Lowering/Residents.h"

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
      nn::ArgAttr arg = nn::getArg(function, index);
      if (!arg)
        return function.emitError("argument ") << index << " has no nn.arg";
      if (arg.getKind() == ArgKind::control) {
        if (argument.use_empty())
          continue;
        Value buffer = block.createBuffer(argument);
        builder.create<ControlOp>(argument.getLoc(), arg.getName(), buffer);
        block.buffers[argument] = buffer;
        continue;
      }
      FailureOr<ResidentOp> resident =
          residents.getOrCreate(argument.getLoc(), arg, argument.getType(),
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

  /// Who makes the new value of a state, and who reads the old one.
  std::vector<OrderConstraint> findReaders() {
    std::vector<OrderConstraint> constraints;
    llvm::StringMap<Operation *> makers;
    for (OpOperand &operand :
         function.front().getTerminator()->getOpOperands()) {
      nn::ResultAttr result =
          nn::getResult(function, operand.getOperandNumber());
      if (result && result.getKind() == ResultKind::state)
        makers[result.getName()] = operand.get().getDefiningOp();
    }
    for (BlockArgument argument : function.getArguments()) {
      nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
      Operation *maker = arg ? makers.lookup(arg.getName()) : nullptr;
      if (!maker)
        continue;
      SmallVector<Value> aliases = {argument};
      for (unsigned i = 0; i < aliases.size(); ++i)
        for (Operation *user : aliases[i].getUsers()) {
          user = function.front().findAncestorOpInBlock(*user);
          if (auto reshape = dyn_cast<nn::ReshapeOp>(user))
            aliases.push_back(reshape.getResult());
          constraints.push_back({maker, user});
        }
    }
    return constraints;
  }

  /// Decides which values are computed straight into a resident buffer.
  LogicalResult chooseTargets() {
    auto terminator = function.front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      nn::ResultAttr result = nn::getResult(function, index);
      if (!result)
        return function.emitError("result ") << index << " has no nn.result";
      Value value = operand.get();
      std::string name = Residents::symbolOf(result);
      BlockArgument old = stateArguments.lookup(name);
      if (result.getKind() == ResultKind::state && !old)
        return function.emitError("returns the state ")
               << result.getName() << " but does not take it";
      if (value == old)
        continue;
      Value target;
      if (old) {
        target = block.buffers[old];
      } else {
        FailureOr<ResidentOp> resident =
            residents.getOrCreate(value.getLoc(), result, value.getType(),
                                  function.getResultAttr(index, "dist.layout"));
        if (failed(resident))
          return failure();
        if (Attribute dim =
                function.getResultAttr(index, nn::kBatchDimAttrName))
          (*resident)->setAttr(nn::kBatchDimAttrName, dim);
        target = get(*resident);
      }
      Operation *producer = value.getDefiningOp();
      if (producer && isa<func::CallOp>(producer) &&
          !block.targets.count(value) &&
          (!old || isFreeAt(old, producer, value)))
        block.targets[value] = target;
      else
        copies.push_back({value, target});
    }
    return success();
  }

  /// Whether nothing needs the old value of a state, `old`, once `producer` has
  /// begun to write the new one.
  bool isFreeAt(BlockArgument old, Operation *producer, Value value) {
    SmallVector<Value> aliases = {old};
    for (unsigned i = 0; i < aliases.size(); ++i)
      for (OpOperand &use : aliases[i].getUses()) {
        Operation *user =
            function.front().findAncestorOpInBlock(*use.getOwner());
        if (auto reshape = dyn_cast<nn::ReshapeOp>(user)) {
          aliases.push_back(reshape.getResult());
          continue;
        }
        if (user == producer && use.getOwner() == producer) {
          if (!mayComputeInPlace(getKernel(producer), use.getOperandNumber(),
                                 cast<OpResult>(value).getResultNumber()))
            return false;
          continue;
        }
        if (!user->isBeforeInBlock(producer))
          return false;
      }
    return true;
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
  }
};

} // namespace
