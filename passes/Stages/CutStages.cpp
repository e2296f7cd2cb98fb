// Moves the ops of each stage of a pipeline into a module of its own.

#include "passes/Stages/Passes.h"

#include "passes/Stages/StageNeeds.h"

#include "dialects/NN/IR/Expressions.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_CUTSTAGES
#include "passes/Stages/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

/// Builds the functions of one stage.
class StageBuilder {
public:
  StageBuilder(const StageNeeds &needs, int64_t stage, dist::MeshOp mesh)
      : needs(needs), stage(stage), mesh(FlatSymbolRefAttr::get(mesh.getSymNameAttr())),
        axis(StringAttr::get(mesh.getContext(), dist::kPipeAxis)), builder(mesh.getContext()) {}

  /// Adds the stage's part of `function` to `module`, unless the stage has nothing to do in it.
  void addFunction(ModuleOp module, func::FuncOp function) {
    Block &body = function.front();
    SmallVector<unsigned> arguments, results;
    for (BlockArgument argument : function.getArguments())
      if (needs.has(argument, stage) && !receives(argument))
        arguments.push_back(argument.getArgNumber());
    for (OpOperand &result : body.getTerminator()->getOpOperands())
      if (needs.returns(function, result.getOperandNumber(), stage))
        results.push_back(result.getOperandNumber());
    const bool isIdle = arguments.empty() && results.empty() &&
                        llvm::none_of(body, [&](Operation &op) { return needs.runs(&op, stage); });
    if (isIdle)
      return;
    SmallVector<Type> inputs, outputs;
    SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
    for (unsigned index : arguments) {
      inputs.push_back(function.getArgument(index).getType());
      argumentAttrs.push_back(function.getArgAttrDict(index));
    }
    for (unsigned index : results) {
      outputs.push_back(function.getResultTypes()[index]);
      resultAttrs.push_back(function.getResultAttrDict(index));
    }
    builder.setInsertionPointToEnd(module.getBody());
    auto made = builder.create<func::FuncOp>(function.getLoc(), function.getName(),
                                             builder.getFunctionType(inputs, outputs));
    made->setDiscardableAttrs(function->getDiscardableAttrDictionary());
    made.setAllArgAttrs(argumentAttrs);
    made.setAllResultAttrs(resultAttrs);
    for (unsigned i = 0; i < arguments.size(); ++i)
      made.removeArgAttr(i, dist::DistDialect::kChunksAttrName);
    Block *entry = made.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    mapping.clear();
    for (auto [index, argument] : llvm::zip_equal(arguments, entry->getArguments()))
      mapping.map(function.getArgument(index), argument);
    for (BlockArgument argument : function.getArguments())
      addMessages(argument);
    addOps(body);
    SmallVector<Value> returned;
    for (unsigned index : results)
      returned.push_back(mapping.lookup(body.getTerminator()->getOperand(index)));
    builder.create<func::ReturnOp>(body.getTerminator()->getLoc(), returned);
  }

private:
  bool receives(Value value) const {
    return llvm::any_of(needs.getMessages(value),
                        [&](const StageMessage &message) { return message.to == stage; });
  }

  /// Builds the sends and the receive of this stage that carry `value`.
  void addMessages(Value value) {
    for (const StageMessage &message : needs.getMessages(value)) {
      auto number = builder.getI64IntegerAttr(message.number);
      const UnitAttr direction = message.isBackward ? builder.getUnitAttr() : UnitAttr();
      if (message.from == stage)
        builder.create<dist::SendOp>(value.getLoc(), mapping.lookup(value),
                                     builder.getI64IntegerAttr(message.to), mesh, axis, number,
                                     direction);
      if (message.to == stage)
        mapping.map(value,
                    builder.create<dist::RecvOp>(
                        value.getLoc(), value.getType(), builder.getI64IntegerAttr(message.from),
                        mesh, axis, number, builder.getI64IntegerAttr(message.chunk), direction));
    }
  }

  void addOps(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (needs.runs(&op, stage)) {
        if (auto loop = dyn_cast<dist::MicroOp>(op)) {
          addLoop(loop);
        } else if (auto combine = dyn_cast<dist::CombineStagesOp>(op)) {
          addCombine(combine);
        } else {
          Operation *made = builder.clone(op, mapping);
          made->removeAttr(dist::DistDialect::kChunksAttrName);
        }
      }
      for (Value result : op.getResults())
        addMessages(result);
    }
  }

  void addLoop(dist::MicroOp loop) {
    Block &body = loop.getBodyBlock();
    Operation *yield = body.getTerminator();
    SmallVector<Value> inputs;
    SmallVector<int32_t> operandKinds, resultKinds;
    SmallVector<Type> types;
    SmallVector<unsigned> arguments, results;
    for (BlockArgument argument : body.getArguments())
      if (needs.has(argument, stage)) {
        const unsigned index = argument.getArgNumber();
        arguments.push_back(index);
        inputs.push_back(mapping.lookup(loop.getInputs()[index]));
        operandKinds.push_back(loop.getOperandKinds()[index]);
      }
    for (OpResult result : loop.getResults())
      if (needs.has(result, stage) && !receives(result)) {
        results.push_back(result.getResultNumber());
        types.push_back(result.getType());
        resultKinds.push_back(loop.getResultKinds()[result.getResultNumber()]);
      }
    auto made = builder.create<dist::MicroOp>(
        loop.getLoc(), types, loop.getCountAttr(), loop.getAxisAttr(), inputs,
        builder.getDenseI32ArrayAttr(operandKinds), builder.getDenseI32ArrayAttr(resultKinds));
    OpBuilder::InsertionGuard guard(builder);
    Block *entry = builder.createBlock(&made.getBody());
    for (unsigned index : arguments)
      mapping.map(body.getArgument(index),
                  entry->addArgument(body.getArgument(index).getType(), loop.getLoc()));
    addOps(body);
    SmallVector<Value> yielded;
    for (unsigned index : results)
      yielded.push_back(mapping.lookup(yield->getOperand(index)));
    builder.create<dist::YieldOp>(yield->getLoc(), yielded);
    for (auto [index, result] : llvm::zip_equal(results, made.getResults()))
      mapping.map(loop.getResult(index), result);
  }

  void addCombine(dist::CombineStagesOp combine) {
    nn::Expressions e{builder, combine.getLoc()};
    Value sum;
    for (Value term : combine.getTerms())
      if (needs.isOwnTerm(term, stage))
        sum = sum ? e.add(sum, mapping.lookup(term)) : mapping.lookup(term);
    if (!sum)
      sum = e.splat(combine.getType(), 0);
    const SmallVector<int64_t> members = needs.getMembers(combine);
    if (members.size() > 1)
      sum = builder.create<dist::StageReduceOp>(
          combine.getLoc(), combine.getType(), sum, builder.getDenseI64ArrayAttr(members), mesh,
          axis, builder.getI64IntegerAttr(needs.getNumber(combine)));
    mapping.map(combine.getResult(), sum);
  }

  const StageNeeds &needs;
  const int64_t stage;
  const FlatSymbolRefAttr mesh;
  const StringAttr axis;
  OpBuilder builder;
  IRMapping mapping;
};

struct CutStagesPass : dpc::impl::CutStagesBase<CutStagesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    dist::MeshOp mesh = dist::findMesh(module);
    if (!mesh || mesh.getShape().axisSize(dist::kPipeAxis) == 1)
      return;
    const int64_t stages = mesh.getShape().axisSize(dist::kPipeAxis);
    const SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    SmallVector<int64_t> stageOfChunk = llvm::to_vector(llvm::seq(stages));
    if (auto placed =
            module->getAttrOfType<DenseI64ArrayAttr>(dist::DistDialect::kStagesAttrName)) {
      stageOfChunk.assign(placed.asArrayRef().begin(), placed.asArrayRef().end());
      if (stageOfChunk.empty() ||
          llvm::any_of(stageOfChunk, [&](int64_t stage) { return stage < 0 || stage >= stages; })) {
        module.emitError("has chunks on other stages than the ") << stages << " of the mesh";
        return signalPassFailure();
      }
    }
    StageNeeds needs(stageOfChunk);
    needs.addFunctions(functions);
    OpBuilder builder(&getContext());
    const SmallVector<std::string> crossings = needs.describeCrossings();
    const ArrayAttr described =
        builder.getStrArrayAttr(SmallVector<StringRef>(crossings.begin(), crossings.end()));
    builder.setInsertionPointToEnd(module.getBody());
    for (int64_t stage = 0; stage < stages; ++stage) {
      auto made = builder.create<ModuleOp>(module.getLoc(), "stage." + std::to_string(stage));
      made->setDiscardableAttrs(module->getDiscardableAttrDictionary());
      for (StringRef ofRoot :
           {dist::DistDialect::kBordersAttrName, dist::DistDialect::kStagesAttrName})
        made->removeAttr(ofRoot);
      made->setAttr(dist::DistDialect::kStageAttrName, builder.getI64IntegerAttr(stage));
      OpBuilder::atBlockEnd(made.getBody()).clone(*mesh);
      StageBuilder stageBuilder(needs, stage, mesh);
      for (func::FuncOp function : functions)
        stageBuilder.addFunction(made, function);
    }
    for (func::FuncOp function : functions)
      function.erase();
    module->setAttr(dist::DistDialect::kCrossingsAttrName, described);
  }
};

} // namespace
