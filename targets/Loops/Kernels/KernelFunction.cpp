// Writes the function of a kernel: its buffers, the loops of its groups, and
// which results may lie on operands.

#include "targets/Loops/Kernels/KernelFunction.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

/// The type an element of `value` is stored as: a byte for i1, else signless.
static Type storageType(Value value) {
  Type type = registerType(nn::typeOf(value).getElementType());
  if (type.isInteger(1))
    return IntegerType::get(value.getContext(), 8);
  return type;
}

/// Whether a constant is equal everywhere, and so needs no memory.
static bool isSplat(nn::ConstantOp constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

KernelFunction::KernelFunction(const KernelGraph &graph, KernelEmitter &emitter, ModuleOp module,
                               StringRef symbol)
    : graph(graph), e(emitter), module(module), symbol(symbol),
      operands(graph.getBlock().getNumArguments()), results(graph.getYielded().size()) {}

FailureOr<KernelCode> KernelFunction::emit(ArrayRef<Attribute> attributes) {
  createFunction(attributes);
  if (failed(placeArguments()) || failed(emitGroups()))
    return failure();
  e.make<LLVM::ReturnOp>(ValueRange());
  KernelCode code;
  findAliases(code);
  declareUnaliased(code);
  code.scratchBytes = scratch.getPeak();
  return code;
}

// The C function loads the pointers and calls one that has them as arguments:
// only arguments can be declared not to overlap.
void KernelFunction::createFunction(ArrayRef<Attribute> attributes) {
  OpBuilder &builder = e.builder;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type nothing = LLVM::LLVMVoidType::get(builder.getContext());
  unsigned count = operands + results + 1;
  SmallVector<Type> pointers(count, pointer);
  builder.setInsertionPointToEnd(module.getBody());
  body = e.make<LLVM::LLVMFuncOp>((symbol + ".body").str(),
                                  LLVM::LLVMFunctionType::get(nothing, pointers),
                                  LLVM::Linkage::Internal);
  SmallVector<Attribute> all{builder.getStringAttr("noinline"), builder.getStringAttr("nounwind")};
  llvm::append_range(all, attributes);
  body.setPassthroughAttr(builder.getArrayAttr(all));
  auto outer = e.make<LLVM::LLVMFuncOp>(symbol, LLVM::LLVMFunctionType::get(nothing, {pointer}));
  outer.setPassthroughAttr(builder.getStrArrayAttr({"nounwind"}));
  Block *entry = outer.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < count; ++i) {
    Value place = e.make<LLVM::GEPOp>(pointer, pointer, entry->getArgument(0),
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)},
                                      /*inbounds=*/true);
    arguments.push_back(e.make<LLVM::LoadOp>(pointer, place));
  }
  e.make<LLVM::CallOp>(body, arguments);
  e.make<LLVM::ReturnOp>(ValueRange());
  builder.setInsertionPointToStart(body.addEntryBlock(builder));
}

//===----------------------------------------------------------------------===//
// Where values lie
//===----------------------------------------------------------------------===//

LogicalResult KernelFunction::placeArguments() {
  e.setScratch(body.getArguments().back(), &scratch);
  Block &block = graph.getBlock();
  for (BlockArgument argument : block.getArguments())
    e.setBuffer(argument, {body.getArgument(argument.getArgNumber()), storageType(argument)});
  for (auto constant : block.getOps<nn::ConstantOp>())
    if (!isSplat(constant) && failed(addTable(constant)))
      return failure();
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (graph.isMaterialised(value) && resultOf.try_emplace(value, result).second)
      e.setBuffer(value, resultBuffer(result));
  return success();
}

KernelEmitter::Buffer KernelFunction::resultBuffer(unsigned result) {
  return {body.getArgument(operands + result), storageType(graph.getYielded()[result])};
}

/// Puts a constant that is not the same everywhere into the module.
LogicalResult KernelFunction::addTable(nn::ConstantOp constant) {
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
  auto arrayType = LLVM::LLVMArrayType::get(element, std::max<int64_t>(1, tensor->size()));
  std::string name = (symbol + ".table" + Twine(tables++)).str();
  auto flat = RankedTensorType::get({tensor->size()}, element);
  {
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToStart(module.getBody());
    e.make<LLVM::GlobalOp>(arrayType, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           tensor->size() ? Attribute(value.reshape(flat)) : Attribute(),
                           /*alignment=*/64);
  }
  Value address =
      e.make<LLVM::AddressOfOp>(LLVM::LLVMPointerType::get(e.builder.getContext()), name);
  e.setBuffer(constant.getResult(), {address, element});
  return success();
}

/// Gives a value that group `ordinal` makes, and `lastGroup` reads last, a
/// place in scratch memory, if it needs one.
void KernelFunction::placeValue(Value value, const LoopGroup &group, unsigned ordinal,
                                unsigned lastGroup) {
  if (resultOf.contains(value))
    return;
  int64_t count = nn::typeOf(value).getNumElements(), rowElements = 0;
  bool isLocal = lastGroup <= ordinal;
  if (group.rows > 1 && isLocal)
    rowElements = count / group.rows;
  // What is used where it is made.
  if ((group.isFilled && group.stages.size() > 1 && isLocal) || rowElements == 1) {
    e.registerValues.insert(value);
    return;
  }
  Type type = storageType(value);
  int64_t bytes = (rowElements ? rowElements : count) * type.getIntOrFloatBitWidth() / 8;
  int64_t offset = scratch.allocate(bytes, std::max(ordinal, lastGroup));
  Value memory = body.getArguments().back();
  Value address =
      e.make<LLVM::GEPOp>(memory.getType(), e.builder.getI8Type(), memory,
                          ValueRange(e.materialize(e.constant(offset))), /*inbounds=*/true);
  e.setBuffer(value, {address, type, rowElements});
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult KernelFunction::emitGroups() {
  const LoopPlan plan = planLoops(graph);
  if (llvm::Error error = plan.verify(graph))
    return emitError(e.loc, "loops: ") << llvm::toString(std::move(error));
  const SmallVector<LoopGroup> &groups = plan.groups;
  DenseMap<Value, unsigned> lastGroup;
  for (auto [ordinal, group] : llvm::enumerate(groups))
    for (Operation *root : group.getRoots())
      for (Value value : graph.getReads(root))
        lastGroup[value] = ordinal;
  for (auto [ordinal, group] : llvm::enumerate(groups)) {
    scratch.startGroup(ordinal);
    bool isEmpty = true;
    for (Operation *root : group.getRoots())
      for (Value value : root->getResults())
        placeValue(value, group, ordinal, lastGroup.lookup(value));
    for (Value value : group.stages[0].roots[0]->getResults())
      isEmpty &= nn::typeOf(value).getNumElements() == 0;
    if (!isEmpty && failed(e.emitGroup(group, ordinal)))
      return failure();
  }
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (!isStoredIn(value, result) && nn::typeOf(value).getNumElements() > 0)
      e.emitCopy(value, resultBuffer(result), groups.size());
  return success();
}

bool KernelFunction::isStoredIn(Value value, unsigned result) const {
  auto made = resultOf.find(value);
  return made != resultOf.end() && made->second == result;
}

//===----------------------------------------------------------------------===//
// Results that may lie on operands
//===----------------------------------------------------------------------===//

/// Whether `read` is over, for the element of the row, when `write` happens.
static bool isBefore(const IndexSpace &space, const KernelEmitter::Access &read,
                     const KernelEmitter::Access &write, int64_t count) {
  if (read.group != write.group)
    return read.group < write.group;
  if (read.filling || read.stage > write.stage)
    return false;
  if (read.stage == write.stage && read.number == write.number)
    return true;
  // An earlier stage, in the same row.
  return read.stage < write.stage && read.rows > 1 &&
         space.floorDiv(read.number, count / read.rows) == read.row;
}

bool KernelFunction::mayAlias(Value result, BlockArgument operand) const {
  int64_t count = nn::typeOf(result).getNumElements();
  if (storageType(operand) != storageType(result) || nn::typeOf(operand).getNumElements() != count)
    return false;
  for (const auto &read : e.reads.lookup(operand))
    for (const auto &write : e.writes.lookup(result))
      if (!isBefore(e, read, write, count))
        return false;
  return true;
}

void KernelFunction::findAliases(KernelCode &code) {
  code.mayAlias.resize(results);
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    for (BlockArgument argument : graph.getBlock().getArguments())
      if (isStoredIn(value, result) && mayAlias(value, argument))
        code.mayAlias[result].push_back(argument.getArgNumber());
}

void KernelFunction::declareUnaliased(const KernelCode &code) {
  llvm::BitVector shared(operands + results + 1);
  for (auto [result, aliases] : llvm::enumerate(code.mayAlias))
    for (unsigned operand : aliases) {
      shared.set(operand);
      shared.set(operands + result);
    }
  for (unsigned i = 0; i < shared.size(); ++i)
    if (!shared.test(i))
      body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), e.builder.getUnitAttr());
}
