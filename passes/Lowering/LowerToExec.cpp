#include "passes/Lowering/InPlace.h"
#include "passes/Lowering/Passes.h"

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

/// The resident buffers of the program, by what they are and their name.
class Residents {
public:
  explicit Residents(ModuleOp module)
      : builder(OpBuilder::atBlockBegin(module.getBody())) {}

  FailureOr<ResidentOp> getOrCreate(Location loc, Attribute binding,
                                    Type tensor, Attribute layout) {
    MemRefType type = bufferOf(tensor);
    std::string name = symbolOf(binding);
    auto [entry, isNew] = byName.try_emplace(name);
    if (isNew)
      entry->second = builder.create<ResidentOp>(
          loc, name, binding, Space::arena, IntegerAttr(), type, layout);
    ResidentOp resident = entry->second;
    if (resident.getType() != type) {
      emitError(loc) << name << " is " << type << " here and "
                     << resident.getType() << " elsewhere";
      return failure();
    }
    return resident;
  }

  static std::string symbolOf(Attribute binding) {
    if (auto arg = dyn_cast<nn::ArgAttr>(binding)) {
      bool isInput = arg.getKind() == ArgKind::input ||
                     arg.getKind() == ArgKind::label;
      return ((isInput ? "input." : "state.") + arg.getName()).str();
    }
    auto result = cast<nn::ResultAttr>(binding);
    switch (result.getKind()) {
    case ResultKind::metric:
      return ("metric." + result.getName()).str();
    case ResultKind::output:
      return ("output." + result.getName()).str();
    default:
      return ("state." + result.getName()).str();
    }
  }

private:
  OpBuilder builder;
  llvm::StringMap<ResidentOp> byName;
};

/// Lowers one function. Invariant: `buffers` maps every tensor lowered so far to
/// the buffer that holds it, or will when its launch has run.
class EntryLowering {
public:
  EntryLowering(func::FuncOp function, Residents &residents)
      : function(function), residents(residents), builder(function) {}

  LogicalResult run() {
    auto entry =
        builder.create<EntryOp>(function.getLoc(), function.getSymName());
    builder.setInsertionPointToEnd(&entry.getBody().emplaceBlock());
    if (failed(lowerArguments()) || failed(chooseTargets()))
      return failure();
    for (Operation &op : function.front().without_terminator())
      if (failed(lower(&op)))
        return failure();
    copyResults();
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
        Value buffer = createBuffer(argument);
        builder.create<ControlOp>(argument.getLoc(), arg.getName(), buffer);
        buffers[argument] = buffer;
        continue;
      }
      FailureOr<ResidentOp> resident = residents.getOrCreate(
          argument.getLoc(), arg, argument.getType(),
          function.getArgAttr(index, "dist.layout"));
      if (failed(resident))
        return failure();
      buffers[argument] = get(*resident);
      stateArguments[resident->getSymName()] = argument;
    }
    return success();
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
        target = buffers[old];
      } else {
        FailureOr<ResidentOp> resident = residents.getOrCreate(
            value.getLoc(), result, value.getType(), Attribute());
        if (failed(resident))
          return failure();
        target = get(*resident);
      }
      Operation *producer = value.getDefiningOp();
      if (producer && isa<func::CallOp>(producer) &&
          !targets.count(value) && (!old || isFreeAt(old, producer, value)))
        targets[value] = target;
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

  Value createBuffer(Value tensor) {
    return builder.create<BufferOp>(tensor.getLoc(), bufferOf(tensor.getType()),
                                    Space::arena, IntegerAttr());
  }

  LogicalResult lower(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      lowerCall(call);
      return success();
    }
    if (auto reshape = dyn_cast<nn::ReshapeOp>(op)) {
      buffers[reshape.getResult()] = builder.create<ViewOp>(
          op->getLoc(), bufferOf(reshape.getType()),
          buffers.lookup(reshape.getInput()), 0);
      return success();
    }
    return op->emitOpError("is outside a kernel and has no buffer form");
  }

  func::FuncOp getKernel(Operation *call) {
    return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, cast<func::CallOp>(call).getCalleeAttr());
  }

  void lowerCall(func::CallOp call) {
    SmallVector<Value> inputs, outputs, scratch;
    for (Value operand : call->getOperands())
      inputs.push_back(buffers.lookup(operand));
    for (Value result : call->getResults()) {
      Value target = targets.lookup(result);
      outputs.push_back(target ? target : createBuffer(result));
      buffers[result] = outputs.back();
    }
    if (int64_t bytes = getScratchBytes(getKernel(call)))
      scratch.push_back(builder.create<BufferOp>(
          call.getLoc(), MemRefType::get({bytes}, builder.getI8Type()),
          Space::arena, IntegerAttr()));
    builder.create<LaunchOp>(call.getLoc(), call.getCallee(), inputs, outputs,
                             scratch);
  }

  /// What could not be computed in place. A state that is the value of another
  /// one is saved before any is overwritten.
  void copyResults() {
    SmallVector<std::pair<Value, Value>> moves;
    for (auto [value, target] : copies) {
      Value source = buffers.lookup(value);
      if (isa_and_nonnull<ResidentOp>(placeOf(source).root)) {
        Value saved = createBuffer(value);
        builder.create<CopyOp>(value.getLoc(), source, saved);
        source = saved;
      }
      moves.push_back({source, target});
    }
    for (auto [source, target] : moves)
      builder.create<CopyOp>(target.getLoc(), source, target);
  }

  func::FuncOp function;
  Residents &residents;
  OpBuilder builder;
  DenseMap<Value, Value> buffers;
  DenseMap<Value, Value> targets;
  llvm::StringMap<BlockArgument> stateArguments;
  SmallVector<std::pair<Value, Value>> copies;
};

struct LowerToExecPass : dpc::impl::LowerToExecBase<LowerToExecPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Residents residents(module);
    for (StringRef name : {"step", "eval", "infer"})
      if (auto function = module.lookupSymbol<func::FuncOp>(name))
        if (failed(EntryLowering(function, residents).run()))
          return signalPassFailure();
  }
};

} // namespace
