#include "passes/Lowering/Codegen/KernelEmitter.h"

#include "dialects/NN/IR/Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

int64_t ScratchAllocator::allocate(int64_t bytes, unsigned lastGroup) {
  bytes = llvm::alignTo(std::max<int64_t>(1, bytes), 64);
  int64_t offset = 0;
  auto at = pieces.begin();
  for (; at != pieces.end() && at->offset - offset < bytes; ++at)
    offset = at->offset + at->bytes;
  pieces.insert(at, {offset, bytes, lastGroup});
  peak = std::max(peak, offset + bytes);
  return offset;
}

void ScratchAllocator::startGroup(unsigned group) {
  llvm::erase_if(pieces,
                 [&](const Piece &piece) { return piece.lastGroup < group; });
}

std::optional<SmallVector<int64_t>>
dpc::nestExtents(int64_t count, ArrayRef<int64_t> cuts) {
  SmallVector<int64_t> sizes(cuts);
  sizes.push_back(count);
  llvm::sort(sizes);
  SmallVector<int64_t> extents;
  int64_t inner = 1;
  for (int64_t size : sizes) {
    if (size <= inner)
      continue;
    if (size % inner != 0 || size > count)
      return std::nullopt;
    extents.push_back(size / inner);
    inner = size;
  }
  std::reverse(extents.begin(), extents.end());
  return extents;
}

KernelEmitter::KernelEmitter(OpBuilder &builder, Location loc,
                             const KernelGraph &graph)
    : LoopEmitter(builder, loc), graph(graph) {
  MLIRContext *context = builder.getContext();
  auto accessGroup = LLVM::AccessGroupAttr::get(
      context, DistinctAttr::create(builder.getUnitAttr()));
  accessGroups = builder.getArrayAttr({accessGroup});
  parallelLoop = LLVM::LoopAnnotationAttr::get(
      context, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
      accessGroup);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LoopEmitter::Index KernelEmitter::inBuffer(const Buffer &buffer,
                                           Index number) {
  return buffer.rowElements ? number - row * buffer.rowElements : number;
}

Value KernelEmitter::loadFrom(const Buffer &buffer, Index number) {
  Value at = materialize(inBuffer(buffer, number));
  Value address = make<LLVM::GEPOp>(
      LLVM::LLVMPointerType::get(builder.getContext()), buffer.elementType,
      buffer.address, ValueRange(at), /*inbounds=*/true);
  auto element = make<LLVM::LoadOp>(buffer.elementType, address);
  element.setAccessGroupsAttr(accessGroups);
  return element;
}

void KernelEmitter::storeTo(const Buffer &buffer, Value element,
                            Index number) {
  if (element.getType().isInteger(1))
    element = make<arith::ExtUIOp>(buffer.elementType, element);
  Value at = materialize(inBuffer(buffer, number));
  Value address = make<LLVM::GEPOp>(
      LLVM::LLVMPointerType::get(builder.getContext()), buffer.elementType,
      buffer.address, ValueRange(at), /*inbounds=*/true);
  auto op = make<LLVM::StoreOp>(element, address);
  op.setAccessGroupsAttr(accessGroups);
}

static Value fromStorage(LoopEmitter &e, Value tensor, Value element) {
  if (!getElementTypeOrSelf(tensor.getType()).isInteger(1))
    return element;
  return e.make<arith::CmpIOp>(arith::CmpIPredicate::ne, element,
                               e.constantLike(element.getType(), 0));
}

KernelEmitter::Access KernelEmitter::here(Index number) {
  return {group, stage, number, row, rows, pushing};
}

void KernelEmitter::store(Value result, Value element, Index number) {
  writes[result].push_back(here(number));
  storeTo(buffers.find(result)->second, element, number);
}

Value KernelEmitter::load(Value result, Index number) {
  return fromStorage(*this, result,
                     loadFrom(buffers.find(result)->second, number));
}

Value KernelEmitter::getBuffer(Value value) {
  auto buffer = buffers.find(value);
  if (buffer == buffers.end() || buffer->second.rowElements)
    return Value();
  // Whoever asks may read or write any element.
  reads[value].push_back(here(constant(0)));
  writes[value].push_back(here(constant(0)));
  return buffer->second.address;
}

Value KernelEmitter::getScratch(int64_t bytes) {
  int64_t offset = allocator ? allocator->allocate(bytes, group) : 0;
  return make<LLVM::GEPOp>(LLVM::LLVMPointerType::get(builder.getContext()),
                           builder.getI8Type(), scratch,
                           ValueRange(materialize(constant(offset))),
                           /*inbounds=*/true);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value KernelEmitter::read(Value tensor, const ElementIndex &index) {
  Index number = index.number();
  const void *kind = tensor.getAsOpaquePointer(),
             *key = number.getAsOpaquePointer();
  if (Value known = lookup(kind, key))
    return known;
  auto made = madeInStage.find(tensor);
  if (made != madeInStage.end()) {
    // A value of this group, which is not at hand.
    int64_t count = nn::typeOf(tensor).getNumElements();
    illegal |= made->second >= stage || registerValues.contains(tensor) ||
               floorDiv(number, count / rows) != row;
  }
  Value element;
  auto buffer = buffers.find(tensor);
  if (buffer != buffers.end()) {
    reads[tensor].push_back(here(number));
    element = fromStorage(*this, tensor, loadFrom(buffer->second, number));
  } else if (registerValues.contains(tensor)) {
    illegal = true;
    element = constantLike(
        registerType(nn::typeOf(tensor).getElementType()), 0);
  } else {
    element = compute(tensor, index);
  }
  remember(kind, key, element);
  return element;
}

Value KernelEmitter::compute(Value tensor, const ElementIndex &index) {
  Operation *op = tensor.getDefiningOp();
  if (auto constantOp = dyn_cast<nn::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constantOp.getValue());
    Type type = registerType(dense.getElementType());
    if (isa<FloatType>(type))
      return make<arith::ConstantOp>(
          builder.getFloatAttr(type, dense.getSplatValue<APFloat>()));
    return constantInt(type, dense.getSplatValue<APInt>());
  }
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op)) {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(read(operand, index));
    return elementwise.emitElement(builder, loc, operands);
  }
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  return cast<LoopOpInterface>(op).emitElementAt(*this, result, index);
}

SmallVector<int64_t> KernelEmitter::cutsOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || buffers.contains(tensor) || isa<nn::ConstantOp>(op))
    return {};
  return cutsOfOp(op);
}

SmallVector<int64_t> KernelEmitter::cutsOfOp(Operation *op) {
  auto known = cuts.find(op->getResult(0));
  if (known != cuts.end())
    return known->second;
  SmallVector<int64_t> result;
  if (keepsNumbers(op)) {
    for (Value operand : op->getOperands())
      llvm::append_range(result, cutsOf(operand));
  } else {
    ArrayRef<int64_t> shape = nn::typeOf(op->getResult(0)).getShape();
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    auto broadcast = dyn_cast<nn::BroadcastOp>(op);
    bool flat = broadcast && cutsOf(broadcast.getInput()).empty();
    for (int64_t d = 0; d + 1 < int64_t(shape.size()); ++d) {
      // Neighbours that a broadcast repeats, or takes, together.
      bool isKept = flat && llvm::is_contained(broadcast.getDimensions(), d),
           nextKept =
               flat && llvm::is_contained(broadcast.getDimensions(), d + 1);
      if (!flat || isKept != nextKept)
        result.push_back(strides[d]);
    }
  }
  llvm::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  cuts[op->getResult(0)] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::emitGroup(const LoopGroup &loops,
                                       unsigned groupOrdinal) {
  group = groupOrdinal;
  stage = 1;
  rows = loops.rows;
  row = constant(0);
  madeInStage.clear();
  if (loops.isPushed()) {
    pushing = true;
    auto op = cast<LoopOpInterface>(loops.stages[0][0]);
    LogicalResult result = op.emitLoops(*this);
    pushing = false;
    return result;
  }
  for (auto [number, operations] : llvm::enumerate(loops.stages))
    for (Operation *op : operations)
      for (Value result : op->getResults())
        madeInStage[result] = number + 1;
  // Not marked parallel: rows may share scratch memory.
  sequence(rows, [&](Index i) {
    row = i;
    for (auto [number, operations] : llvm::enumerate(loops.stages)) {
      stage = number + 1;
      emitStage(operations, rows);
    }
  });
  row = constant(0);
  rows = 1;
  return success();
}

void KernelEmitter::emitStage(ArrayRef<Operation *> operations, int64_t rows) {
  int64_t count =
      nn::typeOf(operations[0]->getResult(0)).getNumElements() / rows;
  SmallVector<int64_t> inner;
  for (Operation *op : operations)
    for (int64_t cut : cutsOfOp(op)) {
      illegal |= cut > count && cut % count != 0;
      if (cut < count)
        inner.push_back(cut);
    }
  std::optional<SmallVector<int64_t>> extents = nestExtents(count, inner);
  if (!extents) {
    // Only one root is ever without a common nest; its own shape then does.
    illegal |= operations.size() > 1 || rows > 1;
    extents = SmallVector<int64_t>(
        nn::typeOf(operations[0]->getResult(0)).getShape());
  }
  forEach(*extents, [&](ArrayRef<Index> index) {
    Index number = row * count + linearize(index, *extents);
    // All values first: a result may lie where an operand does.
    SmallVector<std::pair<Value, Value>> elements;
    for (Operation *op : operations)
      for (Value result : op->getResults()) {
        ElementIndex at(*this, nn::typeOf(result).getShape(), number);
        Value element = compute(result, at);
        remember(result.getAsOpaquePointer(), number.getAsOpaquePointer(),
                 element);
        elements.push_back({result, element});
      }
    for (auto [result, element] : elements)
      if (buffers.contains(result))
        store(result, element, number);
  });
}

void KernelEmitter::emitCopy(Value from, Buffer to, unsigned groupOrdinal) {
  group = groupOrdinal;
  stage = 1;
  ArrayRef<int64_t> shape = nn::typeOf(from).getShape();
  SmallVector<int64_t> extents(shape);
  if (auto nest = nestExtents(nn::typeOf(from).getNumElements(), cutsOf(from)))
    extents = *nest;
  forEach(extents, [&](ArrayRef<Index> index) {
    Index number = linearize(index, extents);
    storeTo(to, read(from, ElementIndex(*this, shape, number)), number);
  });
}
