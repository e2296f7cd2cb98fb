// Places the values of a kernel, and finds which results may share buffers of
// operands.

#include "targets/Loops/Kernels/KernelMemory.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

Type KernelMemory::storageType(Value value) {
  Type type = registerType(nn::typeOf(value).getElementType());
  if (type.isInteger(1))
    return IntegerType::get(value.getContext(), 8);
  return type;
}

/// Whether all elements of a constant are equal, so that it needs no memory.
static bool isSplat(nn::ConstantOp constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

KernelMemory::KernelMemory(const KernelGraph &graph, KernelEmitter &emitter, ModuleOp module,
                           StringRef symbol)
    : graph(graph), e(emitter), module(module), symbol(symbol),
      operands(graph.getBlock().getNumArguments()), results(graph.getYielded().size()) {}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LogicalResult KernelMemory::placeArguments() {
  Block &block = graph.getBlock();
  for (BlockArgument argument : block.getArguments())
    places[argument] = {Place::Kind::argument, argument.getArgNumber(), storageType(argument)};
  for (auto constant : block.getOps<nn::ConstantOp>())
    if (!isSplat(constant) && failed(addTable(constant)))
      return failure();
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (graph.isMaterialised(value) && resultOf.try_emplace(value, result).second)
      places[value] = {Place::Kind::argument, int64_t(operands + result), storageType(value)};
  return success();
}

/// Adds a constant that is no splat to the module as a table.
LogicalResult KernelMemory::addTable(nn::ConstantOp constant) {
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
  auto flat = RankedTensorType::get({tensor->size()}, element);
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToStart(module.getBody());
  e.make<LLVM::GlobalOp>(arrayType, /*isConstant=*/true, LLVM::Linkage::Internal, tableName(tables),
                         tensor->size() ? Attribute(value.reshape(flat)) : Attribute(),
                         /*alignment=*/64);
  places[constant.getResult()] = {Place::Kind::table, tables++, element};
  return success();
}

std::string KernelMemory::tableName(int64_t number) const {
  return (symbol + ".table" + Twine(number)).str();
}

void KernelMemory::enter(LLVM::LLVMFuncOp entered) {
  function = entered;
  e.setScratch(function.getArguments().back(), &scratch);
  for (const auto &[value, place] : places)
    e.setBuffer(value, bufferOf(place));
}

void KernelMemory::placeInScratch(Value value, int64_t rowElements, unsigned lastGroup) {
  Type type = storageType(value);
  int64_t elements = rowElements ? rowElements : nn::typeOf(value).getNumElements();
  int64_t bytes = elements * type.getIntOrFloatBitWidth() / 8;
  Place place{Place::Kind::scratch, scratch.allocate(bytes, lastGroup), type, rowElements};
  places[value] = place;
  e.setBuffer(value, bufferOf(place));
}

KernelMemory::Location KernelMemory::locate(Value value) const {
  const Place &place = places.find(value)->second;
  assert(place.kind != Place::Kind::table && "a table is in no buffer");
  if (place.kind == Place::Kind::scratch)
    return {operands + results, place.number};
  return {static_cast<unsigned>(place.number), 0};
}

KernelMemory::Location KernelMemory::reserve(int64_t bytes, unsigned ordinal) {
  return {operands + results, scratch.allocate(bytes, ordinal)};
}

Value KernelMemory::addressOf(const Location &place) {
  return bufferOf({Place::Kind::scratch, place.offset, e.builder.getI8Type()}).address;
}

KernelEmitter::Buffer KernelMemory::bufferOf(const Place &place) {
  auto pointer = LLVM::LLVMPointerType::get(e.builder.getContext());
  Value address;
  switch (place.kind) {
  case Place::Kind::argument:
    address = function.getArgument(static_cast<unsigned>(place.number));
    break;
  case Place::Kind::table:
    address = e.make<LLVM::AddressOfOp>(pointer, tableName(place.number));
    break;
  case Place::Kind::scratch:
    address = e.make<LLVM::GEPOp>(pointer, e.builder.getI8Type(), function.getArguments().back(),
                                  ValueRange(e.materialize(e.constant(place.number))),
                                  /*inbounds=*/true);
    break;
  }
  return {address, place.type, place.rowElements};
}

KernelEmitter::Buffer KernelMemory::resultBuffer(unsigned result) {
  return bufferOf(
      {Place::Kind::argument, int64_t(operands + result), storageType(graph.getYielded()[result])});
}

bool KernelMemory::isStoredIn(Value value, unsigned result) const {
  auto made = resultOf.find(value);
  return made != resultOf.end() && made->second == result;
}

//===----------------------------------------------------------------------===//
// Results that may share buffers of operands
//===----------------------------------------------------------------------===//

/// Whether `read`, for its element of the row, happens before `write`.
static bool isBefore(const IndexSpace &space, const KernelEmitter::Access &read,
                     const KernelEmitter::Access &write, int64_t count) {
  if (read.group != write.group)
    return read.group < write.group;
  if (read.filling || read.stage > write.stage)
    return false;
  if (read.stage == write.stage && read.number == write.number)
    return true;
  // The read is in an earlier stage, and of the same row.
  return read.stage < write.stage && read.rows > 1 &&
         space.floorDiv(read.number, count / read.rows) == read.row;
}

bool KernelMemory::mayAlias(Value result, BlockArgument operand) const {
  int64_t count = nn::typeOf(result).getNumElements();
  if (storageType(operand) != storageType(result) || nn::typeOf(operand).getNumElements() != count)
    return false;
  for (const auto &read : e.reads.lookup(operand))
    for (const auto &write : e.writes.lookup(result))
      if (!isBefore(e, read, write, count))
        return false;
  return true;
}

void KernelMemory::findAliases(KernelCode &code) const {
  code.mayAlias.resize(results);
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    for (BlockArgument argument : graph.getBlock().getArguments())
      if (isStoredIn(value, result) && mayAlias(value, argument))
        code.mayAlias[result].push_back(argument.getArgNumber());
}

void KernelMemory::declareUnaliased(const KernelCode &code, LLVM::LLVMFuncOp function) const {
  llvm::BitVector shared(operands + results + 1);
  for (auto [result, aliases] : llvm::enumerate(code.mayAlias))
    for (unsigned operand : aliases) {
      shared.set(operand);
      shared.set(operands + result);
    }
  for (unsigned i = 0; i < shared.size(); ++i)
    if (!shared.test(i))
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), e.builder.getUnitAttr());
}
