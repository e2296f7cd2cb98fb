#include "passes/Lowering/Codegen/Codegen.h"
#include "passes/Lowering/Codegen/LoopGroups.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

Type dpc::storageType(Value value) {
  Type type = registerType(nn::typeOf(value).getElementType());
  if (type.isInteger(1))
    return IntegerType::get(value.getContext(), 8);
  return type;
}

bool dpc::isSplat(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

namespace {
/// Builds the function of one kernel.
class KernelFunction {
public:
  KernelFunction(const KernelGraph &graph, Operation *op, StringRef symbol,
                 ModuleOp target)
      : graph(graph), symbol(symbol), target(target), loc(op->getLoc()),
        operands(op->getNumOperands()), results(op->getNumResults()) {}

  FailureOr<KernelCode> emit(const TargetOptions &options);

private:
  LLVM::LLVMFuncOp createFunction(OpBuilder &builder, unsigned vectorBytes);
  LogicalResult addTable(OpBuilder &builder, KernelEmitter &emitter,
                         nn::ConstantOp constant);
  void findAliases(KernelEmitter &emitter, KernelCode &code);

  const KernelGraph &graph;
  StringRef symbol;
  ModuleOp target;
  Location loc;
  unsigned operands, results;
  /// Result that a value is stored in, if any.
  DenseMap<Value, unsigned> resultOf;
  unsigned tables = 0;
};
} // namespace

// The C function loads the pointers and calls one that has them as arguments:
// only arguments can be declared not to overlap.
LLVM::LLVMFuncOp KernelFunction::createFunction(OpBuilder &builder,
                                                unsigned vectorBytes) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type nothing = LLVM::LLVMVoidType::get(context);
  unsigned count = operands + results + 1;
  SmallVector<Type> pointers(count, pointer);
  builder.setInsertionPointToEnd(target.getBody());
  auto body = builder.create<LLVM::LLVMFuncOp>(
      loc, (symbol + ".body").str(),
      LLVM::LLVMFunctionType::get(nothing, pointers), LLVM::Linkage::Internal);
  SmallVector<Attribute> attributes{builder.getStringAttr("noinline"),
                                    builder.getStringAttr("nounwind")};
  // LLVM halves the vectors of many machines unless told not to.
  attributes.push_back(builder.getStrArrayAttr(
      {"prefer-vector-width", std::to_string(vectorBytes * 8)}));
  body.setPassthroughAttr(builder.getArrayAttr(attributes));
  auto outer = builder.create<LLVM::LLVMFuncOp>(
      loc, symbol, LLVM::LLVMFunctionType::get(nothing, {pointer}));
  outer.setPassthroughAttr(builder.getStrArrayAttr({"nounwind"}));
  Block *entry = outer.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < count; ++i) {
    Value place = builder.create<LLVM::GEPOp>(
        loc, pointer, pointer, entry->getArgument(0),
        ArrayRef<LLVM::GEPArg>{int32_t(i)}, /*inbounds=*/true);
    arguments.push_back(builder.create<LLVM::LoadOp>(loc, pointer, place));
  }
  builder.create<LLVM::CallOp>(loc, body, arguments);
  builder.create<LLVM::ReturnOp>(loc, ValueRange());
  return body;
}

/// Puts a constant that is not the same everywhere into the module.
LogicalResult KernelFunction::addTable(OpBuilder &builder,
                                       KernelEmitter &emitter,
                                       nn::ConstantOp constant) {
  std::optional<HostTensor> tensor = HostTensor::fromAttr(constant.getValue());
  if (!tensor)
    return constant.emitOpError("has a value that cannot be read");
  Type element = storageType(constant.getResult());
  auto type = RankedTensorType::get(tensor->getShape(), element);
  DenseElementsAttr value;
  if (tensor->isFloat()) {
    value = tensor->toAttr();
  } else {
    SmallVector<APInt> elements;
    for (int64_t number : tensor->ints)
      elements.push_back(APInt(element.getIntOrFloatBitWidth(), number,
                               /*isSigned=*/true));
    value = DenseElementsAttr::get(type, elements);
  }
  auto arrayType =
      LLVM::LLVMArrayType::get(element, std::max<int64_t>(1, tensor->size()));
  std::string name = (symbol + ".table" + Twine(tables++)).str();
  auto flat = RankedTensorType::get({tensor->size()}, element);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(target.getBody());
    builder.create<LLVM::GlobalOp>(
        loc, arrayType, /*isConstant=*/true, LLVM::Linkage::Internal, name,
        tensor->size() ? Attribute(value.reshape(flat)) : Attribute(),
        /*alignment=*/64);
  }
  Value address = builder.create<LLVM::AddressOfOp>(
      loc, LLVM::LLVMPointerType::get(builder.getContext()), name);
  emitter.setBuffer(constant.getResult(), {address, element});
  return success();
}

FailureOr<KernelCode> KernelFunction::emit(const TargetOptions &options) {
  KernelCode code;
  OpBuilder builder(target.getContext());
  LLVM::LLVMFuncOp body = createFunction(builder, options.getVectorBytes());
  Block *entry = body.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  KernelEmitter emitter(builder, loc, graph);
  emitter.vectorBytes = options.getVectorBytes();
  if (options.orderedSums)
    emitter.keepOrder();
  ScratchAllocator scratch;
  Value scratchAddress = entry->getArguments().back();
  emitter.setScratch(scratchAddress, &scratch);

  Block &block = graph.getBlock();
  for (BlockArgument argument : block.getArguments())
    emitter.setBuffer(argument, {entry->getArgument(argument.getArgNumber()),
                                 storageType(argument)});
  for (auto constant : block.getOps<nn::ConstantOp>())
    if (!isSplat(constant) && failed(addTable(builder, emitter, constant)))
      return failure();
  auto resultBuffer = [&](unsigned result) {
    Value yielded = graph.getYielded()[result];
    return KernelEmitter::Buffer{entry->getArgument(operands + result),
                                 storageType(yielded)};
  };
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (graph.isMaterialised(value) &&
        resultOf.try_emplace(value, result).second)
      emitter.setBuffer(value, resultBuffer(result));

  SmallVector<LoopGroup> groups = formLoopGroups(graph);
  DenseMap<Value, unsigned> lastGroup;
  for (auto [ordinal, group] : llvm::enumerate(groups))
    for (const auto &stage : group.stages)
      for (Operation *root : stage)
        for (Value value : graph.getReads(root))
          lastGroup[value] = ordinal;
  for (auto [ordinal, group] : llvm::enumerate(groups)) {
    scratch.startGroup(ordinal);
    for (const auto &stage : group.stages)
      for (Operation *root : stage)
        for (Value value : root->getResults()) {
          if (resultOf.contains(value))
            continue;
          int64_t count = nn::typeOf(value).getNumElements();
          bool isLocal = lastGroup.lookup(value) <= ordinal,
               isPrivate = group.rows > 1 && isLocal;
          // What is used where it is made.
          if (group.isPushed() && group.stages.size() > 1 && isLocal) {
            emitter.registerValues.insert(value);
            continue;
          }
          int64_t rowElements = isPrivate ? count / group.rows : 0;
          if (rowElements == 1) {
            emitter.registerValues.insert(value);
            continue;
          }
          Type type = storageType(value);
          int64_t bytes = (isPrivate ? rowElements : count) *
                          type.getIntOrFloatBitWidth() / 8;
          int64_t offset = scratch.allocate(
              bytes, std::max<unsigned>(ordinal, lastGroup.lookup(value)));
          Value address = builder.create<LLVM::GEPOp>(
              loc, scratchAddress.getType(), builder.getI8Type(),
              scratchAddress,
              ValueRange(emitter.materialize(emitter.constant(offset))),
              /*inbounds=*/true);
          emitter.setBuffer(value, {address, type, rowElements});
        }
    bool empty = llvm::all_of(group.stages[0][0]->getResults(), [](Value v) {
      return nn::typeOf(v).getNumElements() == 0;
    });
    if (!empty && failed(emitter.emitGroup(group, ordinal)))
      return failure();
  }
  for (auto [result, value] : llvm::enumerate(graph.getYielded())) {
    auto made = resultOf.find(value);
    if ((made == resultOf.end() || made->second != result) &&
        nn::typeOf(value).getNumElements() > 0)
      emitter.emitCopy(value, resultBuffer(result), groups.size());
  }
  builder.create<LLVM::ReturnOp>(loc, ValueRange());
  findAliases(emitter, code);
  llvm::BitVector shared(operands + results);
  for (auto [result, aliases] : llvm::enumerate(code.mayAlias))
    for (unsigned operand : aliases) {
      shared.set(operand);
      shared.set(operands + result);
    }
  for (unsigned i = 0; i < operands + results; ++i)
    if (!shared.test(i))
      body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      builder.getUnitAttr());
  body.setArgAttr(operands + results, LLVM::LLVMDialect::getNoAliasAttrName(),
                  builder.getUnitAttr());
  code.scratchBytes = scratch.getPeak();
  return code;
}

/// Whether `read` is over, for the element of the row, when `write` happens.
static bool isBefore(KernelEmitter &emitter, const KernelEmitter::Access &read,
                     const KernelEmitter::Access &write, int64_t count) {
  if (read.group != write.group)
    return read.group < write.group;
  if (read.pushed || read.stage > write.stage)
    return false;
  if (read.stage == write.stage && read.number == write.number)
    return true;
  // An earlier stage, in the same row.
  return read.stage < write.stage && read.rows > 1 &&
         emitter.floorDiv(read.number, count / read.rows) == read.row;
}

void KernelFunction::findAliases(KernelEmitter &emitter, KernelCode &code) {
  code.mayAlias.resize(results);
  Block &block = graph.getBlock();
  for (auto [result, value] : llvm::enumerate(graph.getYielded())) {
    auto made = resultOf.find(value);
    if (made == resultOf.end() || made->second != result)
      continue;
    int64_t count = nn::typeOf(value).getNumElements();
    for (BlockArgument argument : block.getArguments()) {
      if (storageType(argument) != storageType(value) ||
          nn::typeOf(argument).getNumElements() != count)
        continue;
      bool legal = true;
      for (const auto &read : emitter.reads.lookup(argument))
        for (const auto &write : emitter.writes.lookup(value))
          legal = legal && isBefore(emitter, read, write, count);
      if (legal)
        code.mayAlias[result].push_back(argument.getArgNumber());
    }
  }
}

FailureOr<KernelCode> dpc::emitKernel(Operation *op, StringRef symbol,
                                      ModuleOp target,
                                      const TargetOptions &options) {
  FailureOr<std::unique_ptr<KernelGraph>> graph = failure();
  if (auto kernel = dyn_cast<nn::KernelOp>(op))
    graph = KernelGraph::build(kernel, options.recompute);
  else if (auto update = dyn_cast<nn::UpdateOp>(op))
    graph = KernelGraph::build(update, options.recompute);
  else
    return op->emitOpError("is neither nn.kernel nor nn.update");
  if (failed(graph))
    return failure();
  return KernelFunction(**graph, op, symbol, target).emit(options);
}
