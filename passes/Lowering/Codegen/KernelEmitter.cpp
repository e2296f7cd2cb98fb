#include "passes/Lowering/Codegen/KernelEmitter.h"

#include "dialects/Interfaces/TiledOpInterface.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

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

std::optional<SmallVector<int64_t>> dpc::nestExtents(int64_t count,
                                                     ArrayRef<int64_t> cuts) {
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
  parallelLoop =
      LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                    {}, {}, {}, {}, {}, accessGroup);
  auto vectorize = LLVM::LoopVectorizeAttr::get(
      context, /*disable=*/builder.getBoolAttr(false), {}, {}, {}, {}, {}, {});
  vectorLoop =
      LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, {}, {}, {}, {},
                                    {}, {}, {}, {}, {}, {}, {}, accessGroup);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LoopEmitter::Index KernelEmitter::inBuffer(const Buffer &buffer, Index number) {
  return buffer.rowElements ? number - row * buffer.rowElements : number;
}

Value KernelEmitter::loadFrom(const Buffer &buffer, Index number) {
  return loadAt(buffer.address, buffer.elementType, inBuffer(buffer, number));
}

void KernelEmitter::storeTo(const Buffer &buffer, Value element, Index number) {
  if (element.getType().isInteger(1))
    element = make<arith::ExtUIOp>(buffer.elementType, element);
  storeAt(buffer.address, element, inBuffer(buffer, number));
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
  auto buffer = buffers.find(result);
  if (buffer == buffers.end()) {
    // For whoever reads it where it is made.
    remember(result.getAsOpaquePointer(), number.getAsOpaquePointer(), element);
    return;
  }
  writes[result].push_back(here(number));
  if (finished)
    streams.insert(result);
  storeTo(buffer->second, element, number);
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
               floorDiv(number, count / rows) != row ||
               (finished && number != finished);
  }
  Value element;
  auto buffer = buffers.find(tensor);
  if (buffer != buffers.end()) {
    reads[tensor].push_back(here(number));
    if (finished && number == finished)
      streams.insert(tensor);
    element = fromStorage(*this, tensor, loadFrom(buffer->second, number));
  } else if (registerValues.contains(tensor)) {
    illegal = true;
    element =
        constantLike(registerType(nn::typeOf(tensor).getElementType()), 0);
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
  llvm::SaveAndRestore ordered(orderedSums,
                               keepsOrder || !graph.isComputedOnce(tensor));
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
  if (!loops.isPushed() || loops.stages.size() > 1)
    for (auto [number, operations] : llvm::enumerate(loops.stages))
      for (Operation *op : operations)
        for (Value result : op->getResults())
          madeInStage[result] = number + 1;
  if (loops.isPushed()) {
    pushing = true;
    orderedSums = keepsOrder;
    LogicalResult result = emitPushed(loops);
    pushing = false;
    return result;
  }
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

/// Asks for what the next tile, below this one, will read and write: the rows
/// of tiles are too short and too far apart for the machine to foresee.
void KernelEmitter::prefetchStreams(
    ArrayRef<int64_t> shape, function_ref<Index(ArrayRef<Index>)> number) {
  if (shape.size() != 2)
    return;
  sequence(shape[0], [&](Index row) {
    for (Value stream : streams) {
      const Buffer &buffer = buffers.find(stream)->second;
      int64_t perLine = 512 / buffer.elementType.getIntOrFloatBitWidth();
      for (int64_t column = 0; column < shape[1]; column += perLine) {
        Index next = number({row + shape[0], constant(column)});
        // Below the last tile the address leaves the memory: not inbounds.
        Value address = make<LLVM::GEPOp>(
            LLVM::LLVMPointerType::get(builder.getContext()),
            buffer.elementType, buffer.address, ValueRange(materialize(next)));
        make<LLVM::Prefetch>(address, /*write=*/0, /*locality=*/3, /*data=*/1);
      }
    }
  });
}

LogicalResult KernelEmitter::emitPushed(const LoopGroup &loops) {
  Operation *op = loops.stages[0][0];
  if (loops.stages.size() == 1)
    return cast<LoopOpInterface>(op).emitLoops(*this);
  auto finish = [&](ArrayRef<int64_t> shape,
                    function_ref<Index(ArrayRef<Index>)> number) {
    pushing = false;
    stage = 2;
    forEach(shape, [&](ArrayRef<Index> index) {
      finished = number(index);
      emitElements(loops.stages[1], finished);
    });
    finished = Index();
    prefetchStreams(shape, number);
    streams.clear();
    stage = 1;
    pushing = true;
  };
  return cast<TiledOpInterface>(op).emitTiles(*this, finish);
}

/// The largest power of two from 4 to `most` that divides `extent`; 1 if none.
static int64_t tileOf(int64_t extent, int64_t most) {
  for (int64_t tile = most; tile >= 4; tile /= 2)
    if (extent % tile == 0)
      return tile;
  return 1;
}

/// Dimension of `extents` along which a transposition, in the tree of what is
/// computed where `op` is, reads memory in order; nullopt when all is read in
/// the order it is written in.
std::optional<unsigned>
KernelEmitter::transposedDimension(Operation *op, ArrayRef<int64_t> extents) {
  if (auto transpose = dyn_cast<nn::TransposeOp>(op)) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    int64_t last = int64_t(permutation.size()) - 1;
    if (nn::typeOf(transpose.getResult()).getShape() == extents &&
        permutation[last] != last)
      return llvm::find(permutation, last) - permutation.begin();
    return std::nullopt;
  }
  if (!keepsNumbers(op))
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      if (!buffers.contains(operand))
        if (auto dimension = transposedDimension(producer, extents))
          return dimension;
  return std::nullopt;
}

void KernelEmitter::forEachTiled(ArrayRef<int64_t> extents,
                                 std::optional<unsigned> strided,
                                 function_ref<void(ArrayRef<Index>)> body) {
  if (!strided)
    return forEach(extents, body);
  // Both sides of a tile stay in the first cache.
  unsigned last = extents.size() - 1;
  int64_t rows = tileOf(extents[*strided], 16),
          columns = tileOf(extents[last], 64);
  SmallVector<int64_t> loops(extents);
  loops[*strided] /= rows;
  loops[last] /= columns;
  loops.append({rows, columns});
  forEach(loops, [&](ArrayRef<Index> i) {
    SmallVector<Index> index(i.drop_back(2));
    index[*strided] = index[*strided] * rows + i[last + 1];
    index[last] = index[last] * columns + i[last + 2];
    body(index);
  });
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
  std::optional<unsigned> strided;
  for (Operation *op : operations)
    if (!strided && rows == 1)
      strided = transposedDimension(op, *extents);
  forEachTiled(*extents, strided, [&](ArrayRef<Index> index) {
    emitElements(operations, row * count + linearize(index, *extents));
  });
}

/// Element `number` of each result of `operations`.
void KernelEmitter::emitElements(ArrayRef<Operation *> operations,
                                 Index number) {
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
