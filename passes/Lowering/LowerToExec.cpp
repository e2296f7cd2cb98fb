// Lowers functions on tensors to entries on buffers.

#include "passes/Lowering/BlockLowering.h"
#include "passes/Lowering/Passes.h"
#include "passes/Lowering/PersistentBuffers.h"

#include "dialects/Exec/IR/Bindings.h"
#include "dialects/NN/IR/HostFacts.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_LOWERTOEXEC
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;
using dist::DistDialect;
using nn::ArgKind;
using nn::ResultKind;

namespace {

/// Lowers one function. This class lowers the arguments and results, and BlockLowering lowers the
/// ops.
class EntryLowering {
public:
  EntryLowering(func::FuncOp function, PersistentBuffers &persistentBuffers,
                const SymbolTable &kernels)
      : function(function), persistentBuffers(persistentBuffers), builder(function),
        block(builder, persistentBuffers, kernels, nextId) {}

  LogicalResult run() {
    auto entry = builder.create<EntryOp>(function.getLoc(), function.getSymName());
    builder.setInsertionPointToEnd(&entry.getBody().emplaceBlock());
    if (failed(lowerArguments()) || failed(block.run(function.front())) || failed(lowerResults()))
      return failure();
    function.erase();
    return success();
  }

private:
  Value get(PersistentOp persistent) {
    return builder.create<GetOp>(persistent.getLoc(), persistent.getBufferType(),
                                 persistent.getSymName());
  }

  LogicalResult lowerArguments() {
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      Attribute binding = argBinding(function, index);
      if (!binding)
        return function.emitError("argument ") << index << " has no nn.arg";
      auto arg = dyn_cast<nn::ArgAttr>(binding);
      if (arg && arg.getKind() == ArgKind::control && argument.use_empty())
        continue;
      FailureOr<PersistentOp> persistent =
          persistentBuffers.getOrCreate(argument.getLoc(), binding, argument.getType(),
                                        function.getArgAttr(index, DistDialect::kLayoutAttrName));
      if (failed(persistent))
        return failure();
      if (Attribute bounds = function.getArgAttr(index, nn::kBoundsAttrName))
        if (!(*persistent)->hasAttr(nn::kBoundsAttrName))
          (*persistent)->setAttr(nn::kBoundsAttrName, bounds);
      block.buffers[argument] = get(*persistent);
    }
    return success();
  }

  /// Copies results to their persistent buffers. A result may be the old value of another
  /// persistent buffer. Such a value is first saved to a temporary buffer, before any copy
  /// overwrites it.
  LogicalResult lowerResults() {
    SmallVector<BlockArgument> oldValues = findOldValues(function);
    SmallVector<std::pair<Value, Value>> moves;
    for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
      Value value = operand.get();
      BlockArgument old = oldValues[operand.getOperandNumber()];
      FailureOr<Value> target = getTarget(operand, old);
      if (failed(target))
        return failure();
      if (value == old)
        continue;
      Value source = block.buffers.lookup(value);
      if (isa_and_nonnull<PersistentOp>(persistentBuffers.placeOf(source).root)) {
        Value saved = block.createBuffer(value);
        builder.create<CopyOp>(value.getLoc(), source, saved);
        source = saved;
      }
      moves.push_back({source, *target});
    }
    for (auto [source, target] : moves)
      builder.create<CopyOp>(target.getLoc(), source, target);
    return success();
  }

  /// Returns the persistent buffer of a result. If the result is the new value of a state, `old` is
  /// the argument with the old value of this state. Both then have the same buffer.
  FailureOr<Value> getTarget(OpOperand &operand, BlockArgument old) {
    unsigned index = operand.getOperandNumber();
    Attribute binding = resultBinding(function, index);
    if (!binding)
      return function.emitError("result ") << index << " has no nn.result";
    if (old)
      return block.buffers.lookup(old);
    auto result = dyn_cast<nn::ResultAttr>(binding);
    if (!result || result.getKind() == ResultKind::state)
      return function.emitError("returns the state ")
             << (result ? result.getName() : StringRef(symbolOf(binding)))
             << " but does not take it";
    FailureOr<PersistentOp> persistent =
        persistentBuffers.getOrCreate(operand.get().getLoc(), binding, operand.get().getType(),
                                      function.getResultAttr(index, DistDialect::kLayoutAttrName));
    if (failed(persistent))
      return failure();
    for (llvm::StringRef fact : {nn::kBatchDimAttrName, nn::kMeanAttrName})
      if (Attribute value = function.getResultAttr(index, fact))
        (*persistent)->setAttr(fact, value);
    return get(*persistent);
  }

  func::FuncOp function;
  PersistentBuffers &persistentBuffers;
  OpBuilder builder;
  int64_t nextId = 0;
  BlockLowering block;
};

struct LowerToExecPass : dpc::impl::LowerToExecBase<LowerToExecPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    PersistentBuffers persistentBuffers(module);
    const SymbolTable kernels(module);
    for (StringRef name : {"step", "eval", "infer"})
      if (auto function = module.lookupSymbol<func::FuncOp>(name))
        if (failed(EntryLowering(function, persistentBuffers, kernels).run()))
          return signalPassFailure();
  }
};

} // namespace
