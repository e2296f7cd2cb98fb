// Emits the addresses of the values of a kernel in its functions.

#include "targets/Loops/Kernels/KernelMemory.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;

KernelMemory::KernelMemory(const KernelGraph &graph, const KernelPlaces &plan,
                           KernelEmitter &emitter, ModuleOp module, StringRef symbol)
    : graph(graph), plan(plan), e(emitter), module(module), symbol(symbol),
      operands(plan.getOperandCount()), results(plan.getResultCount()) {}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

LogicalResult KernelMemory::addArguments() {
  for (const auto &[value, place] : plan.getArguments()) {
    if (auto constant = value.getDefiningOp<nn::ConstantOp>())
      if (place.kind == Place::Kind::table && failed(addTable(constant, place.number)))
        return failure();
    places[value] = place;
  }
  return success();
}

/// Adds a table with the elements of `constant` to the module.
LogicalResult KernelMemory::addTable(nn::ConstantOp constant, int64_t number) {
  std::optional<HostTensor> tensor = HostTensor::fromAttr(constant.getValue());
  if (!tensor)
    return constant.emitOpError("has a value that cannot be read");
  Type element = KernelPlaces::storageType(constant.getResult());
  auto type = RankedTensorType::get(tensor->getShape(), element);
  DenseElementsAttr value;
  if (tensor->isFloat()) {
    value = tensor->toAttr();
  } else {
    SmallVector<APInt> elements;
    for (int64_t integer : tensor->ints)
      elements.push_back(APInt(element.getIntOrFloatBitWidth(), integer,
                               /*isSigned=*/true));
    value = DenseElementsAttr::get(type, elements);
  }
  auto arrayType = LLVM::LLVMArrayType::get(element, std::max<int64_t>(1, tensor->size()));
  auto flat = RankedTensorType::get({tensor->size()}, element);
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToStart(module.getBody());
  e.make<LLVM::GlobalOp>(arrayType, /*isConstant=*/true, LLVM::Linkage::Internal, tableName(number),
                         tensor->size() ? Attribute(value.reshape(flat)) : Attribute(),
                         /*alignment=*/64);
  return success();
}

std::string KernelMemory::tableName(int64_t number) const {
  return (symbol + ".table" + Twine(number)).str();
}

void KernelMemory::enter(LLVM::LLVMFuncOp entered) {
  function = entered;
  e.setScratch(function.getArguments().back());
  for (const auto &[value, place] : places)
    e.setBuffer(value, bufferOf(value, place));
}

void KernelMemory::add(Value value) {
  const Place &place = *plan.find(value);
  if (place.kind == Place::Kind::registers) {
    e.registerValues.insert(value);
    return;
  }
  places[value] = place;
  e.setBuffer(value, bufferOf(value, place));
}

KernelMemory::Location KernelMemory::locate(Value value) const {
  const Place &place = *plan.find(value);
  assert(place.kind != Place::Kind::table && "a table is in no buffer");
  if (place.kind == Place::Kind::scratch)
    return {operands + results, place.number};
  return {static_cast<unsigned>(place.number), 0};
}

Value KernelMemory::addressOf(const ScratchPiece &piece) {
  return addressOf(Place{Place::Kind::scratch, piece.offset});
}

Value KernelMemory::addressOf(const Place &place) {
  auto pointer = LLVM::LLVMPointerType::get(e.builder.getContext());
  switch (place.kind) {
  case Place::Kind::argument:
    return function.getArgument(static_cast<unsigned>(place.number));
  case Place::Kind::table:
    return e.make<LLVM::AddressOfOp>(pointer, tableName(place.number));
  case Place::Kind::scratch:
    return e.make<LLVM::GEPOp>(pointer, e.builder.getI8Type(), function.getArguments().back(),
                               ValueRange(e.materialize(e.constant(place.number))),
                               /*inbounds=*/true);
  case Place::Kind::shared:
  case Place::Kind::registers:
    break;
  }
  llvm_unreachable("the place has no address in all functions");
}

KernelEmitter::Buffer KernelMemory::bufferOf(Value value, const Place &place) {
  return {addressOf(place), KernelPlaces::storageType(value), place.rowElements};
}

KernelEmitter::Buffer KernelMemory::resultBuffer(unsigned result) {
  return bufferOf(graph.getYielded()[result], {Place::Kind::argument, int64_t(operands + result)});
}

//===----------------------------------------------------------------------===//
// Results that may share buffers of operands
//===----------------------------------------------------------------------===//

LogicalResult KernelMemory::checkAliases(const KernelNeeds &needs) const {
  auto list = [](ArrayRef<unsigned> operands) {
    std::string text;
    llvm::raw_string_ostream out(text);
    llvm::interleaveComma(operands, out << "[");
    out << "]";
    return text;
  };
  SmallVector<SmallVector<unsigned>> found = e.accesses.findAliases(e, graph, plan);
  for (auto [result, planned] : llvm::enumerate(needs.mayAlias))
    // Code that keeps an element in a register reads it fewer times than its plan says.
    if (!llvm::all_of(planned,
                      [&](unsigned each) { return llvm::is_contained(found[result], each); }))
      return emitError(e.loc) << "result " << result << " may share the buffers of operands "
                              << list(found[result]) << " in the code of the kernel and "
                              << list(planned) << " in its plan";
  return success();
}

void KernelMemory::declareUnaliased(const KernelNeeds &needs, LLVM::LLVMFuncOp function) const {
  llvm::BitVector shared(operands + results + 1);
  for (auto [result, aliases] : llvm::enumerate(needs.mayAlias))
    for (unsigned operand : aliases) {
      shared.set(operand);
      shared.set(operands + result);
    }
  for (unsigned i = 0; i < shared.size(); ++i)
    if (!shared.test(i))
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), e.builder.getUnitAttr());
}
