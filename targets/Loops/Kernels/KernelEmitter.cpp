// Emits the loops of a kernel. The elements of an op's result are computed in the loops
// of the readers, or loops of the op store them in a buffer.

#include "targets/Loops/Kernels/KernelEmitter.h"

#include "targets/Loops/Kernels/RowIndex.h"
#include "targets/Loops/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <numeric>

using namespace mlir;
using namespace dpc;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LoopEmitter::Index KernelEmitter::inBuffer(const Buffer &buffer, Index number) {
  if (!buffer.rowElements)
    return number;
  Index inRow = RowIndex(*this, rows, buffer.rowElements * rows.count).inRow(row, number);
  // Without the terms of the row, LLVM sees which elements are neighbours.
  return joinsNeighbours ? flattened(inRow) : inRow;
}

/// The alignment of element `number` of a buffer in bytes, up to that of the widest access.
static int64_t alignmentAt(LoopEmitter::Index number, int64_t elementBytes) {
  const int64_t kMost = 16; // all buffers have it
  const auto [variable, constant] = IndexSpace::splitConstant(number);
  const int64_t divisor = isa<AffineConstantExpr>(variable)
                              ? kMost
                              : static_cast<int64_t>(variable.getLargestKnownDivisor());
  return std::gcd(kMost, std::gcd(divisor * elementBytes, constant * elementBytes));
}

Value KernelEmitter::loadFrom(const Buffer &buffer, Index number) {
  Index place = inBuffer(buffer, number);
  Value element = loadAt(buffer.address, buffer.elementType, place);
  // LLVM does not find the alignment of shared memory, and joins only aligned accesses.
  const int64_t bytes = buffer.elementType.getIntOrFloatBitWidth() / 8;
  if (joinsNeighbours && buffer.rowElements && bytes)
    if (const int64_t alignment = alignmentAt(place, bytes); alignment > bytes)
      element.getDefiningOp<LLVM::LoadOp>().setAlignment(alignment);
  return element;
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

/// Rules write the number of an element in different ways.
KernelAccesses::Access KernelEmitter::here(Index number) {
  const bool isOwn = own && (number == own || flattened(number) == flattened(own));
  return {group, part, stage, isOwn ? recorded : number, row, rows, filling};
}

void KernelEmitter::store(Value result, Value element, Index number) {
  auto buffer = buffers.find(result);
  if (buffer == buffers.end()) {
    // Keep the element for its readers in the same iteration.
    rememberElement(result, number, element);
    return;
  }
  accesses.writes[result].push_back(here(number));
  if (finished)
    streams.insert(result);
  storeTo(buffer->second, element, number);
}

Value KernelEmitter::load(Value result, Index number) {
  return fromStorage(*this, result, loadFrom(buffers.find(result)->second, number));
}

bool KernelEmitter::isInMemory(Value value) const {
  auto buffer = buffers.find(value);
  return buffer != buffers.end() && !buffer->second.rowElements;
}

Value KernelEmitter::getBuffer(Value value) {
  if (!isInMemory(value))
    return Value();
  // The caller may read and write any element of the buffer, so record both.
  accesses.reads[value].push_back(here(constant(0)));
  accesses.writes[value].push_back(here(constant(0)));
  return buffers.find(value)->second.address;
}

KernelEmitter::Buffer KernelEmitter::bufferToRead(Value value, Index number) {
  checkRead(value, number);
  accesses.reads[value].push_back(here(number));
  return buffers.find(value)->second;
}

Value KernelEmitter::getScratch(int64_t bytes) {
  size_t number = taken.size();
  taken.push_back(bytes);
  int64_t offset = number < pieces.size() ? pieces[number].offset : 0;
  return make<LLVM::GEPOp>(LLVM::LLVMPointerType::get(builder.getContext()), builder.getI8Type(),
                           scratch, ValueRange(materialize(constant(offset))),
                           /*inbounds=*/true);
}

/// Checks that the fill rule of `op` has taken exactly the pieces of scratch
/// memory that were planned for it.
LogicalResult KernelEmitter::checkPieces(Operation *op) {
  for (size_t i = 0; i < std::max(taken.size(), pieces.size()); ++i) {
    int64_t used = i < taken.size() ? taken[i] : 0,
            planned = i < pieces.size() ? pieces[i].bytes : 0;
    if (used != planned)
      return op->emitOpError() << "takes " << used << " bytes as piece " << i
                               << " of its scratch memory where its plan has " << planned;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The key of an element among those in registers. Rules write the numbers of neighbours in
/// different ways. If neighbours are computed together, the key is the same for all of these.
const void *KernelEmitter::keyOf(Index number) const {
  if (joinsNeighbours) {
    const auto [variable, constant] = splitConstant(number);
    number = variable + constant;
  }
  return number.getAsOpaquePointer();
}

Value KernelEmitter::read(Value tensor, const ElementIndex &index) {
  Index number = index.number();
  if (Value known = lookup(tensor.getAsOpaquePointer(), keyOf(number)))
    return known;
  checkRead(tensor, number);
  Value element;
  auto buffer = buffers.find(tensor);
  if (buffer != buffers.end()) {
    accesses.reads[tensor].push_back(here(number));
    if (finished && number == finished)
      streams.insert(tensor);
    element = fromStorage(*this, tensor, loadFrom(buffer->second, number));
  } else if (registerValues.contains(tensor)) {
    element = constantLike(registerType(nn::typeOf(tensor).getElementType()), 0);
  } else {
    element = compute(tensor, index);
  }
  rememberElement(tensor, number, element);
  return element;
}

/// Sets `missing` to `tensor` if this group computes `tensor`, but reads the
/// element before computing it. `canShareLoops` must prevent this.
void KernelEmitter::checkRead(Value tensor, Index number) {
  auto made = madeInStage.find(tensor);
  if (made == madeInStage.end())
    return;
  int64_t count = nn::typeOf(tensor).getNumElements();
  if (made->second >= stage || registerValues.contains(tensor) ||
      RowIndex(*this, rows, count).rowOf(number) != row || (finished && number != finished))
    missing = tensor;
}

Value KernelEmitter::compute(Value tensor, const ElementIndex &index) {
  Operation *op = tensor.getDefiningOp();
  if (auto constantOp = dyn_cast<nn::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constantOp.getValue());
    Type type = registerType(dense.getElementType());
    if (isa<FloatType>(type))
      return make<arith::ConstantOp>(builder.getFloatAttr(type, dense.getSplatValue<APFloat>()));
    return constantInt(type, dense.getSplatValue<APInt>());
  }
  if (auto elementwise = dyn_cast<FormulaOpInterface>(op)) {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(read(operand, index));
    return elementwise.emitFormula(builder, loc, operands);
  }
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  llvm::SaveAndRestore ordered(orderedSums, keepsOrder || !graph.isComputedOnce(tensor));
  return cast<ElementOpInterface>(op).emitElementAt(*this, result, index);
}

/// Says that code for element `number` of the loops follows.
void KernelEmitter::begin(Index number) {
  own = number;
  if (finished)
    finished = number;
}

/// Whether elements with these numbers are neighbours along the last dimension, of `extent`.
static bool areNeighbours(ArrayRef<LoopEmitter::Index> numbers, int64_t extent) {
  const auto count = static_cast<int64_t>(numbers.size());
  const auto [variable, first] = IndexSpace::splitConstant(IndexSpace::flattened(numbers[0]));
  for (auto [n, number] : llvm::enumerate(numbers))
    if (IndexSpace::splitConstant(IndexSpace::flattened(number)) !=
        std::pair(variable, first + static_cast<int64_t>(n)))
      return false;
  const bool isAligned = isa<AffineConstantExpr>(variable) ||
                         static_cast<int64_t>(variable.getLargestKnownDivisor()) % count == 0;
  return extent % count == 0 && first % count == 0 && isAligned;
}

/// Computes the elements `numbers`, in the same loops and branches if they are neighbours and rules
/// permit it.
KernelEmitter::Values KernelEmitter::computeNeighbours(Value tensor, ArrayRef<Index> numbers) {
  const ArrayRef<int64_t> shape = nn::typeOf(tensor).getShape();
  Operation *op = tensor.getDefiningOp();
  Values made;
  if (numbers.size() > 1 && !graph.getNeighboursRules(op).empty()) {
    if (auto formula = dyn_cast<FormulaOpInterface>(op)) {
      SmallVector<Values> operands;
      for (Value operand : op->getOperands())
        operands.push_back(readNeighbours(operand, numbers));
      for (size_t n = 0; n < numbers.size(); ++n) {
        Values own;
        for (const Values &operand : operands)
          own.push_back(operand[n]);
        made.push_back(formula.emitFormula(builder, loc, own));
      }
      return made;
    }
    if (areNeighbours(numbers, shape.back())) {
      SmallVector<ElementIndex> indices;
      for (Index number : numbers)
        indices.emplace_back(*this, shape, number);
      llvm::SaveAndRestore joint(neighbours, numbers);
      turnTo(0);
      llvm::SaveAndRestore ordered(orderedSums, keepsOrder || !graph.isComputedOnce(tensor));
      auto rule = cast<ElementOpInterface>(op);
      return rule.emitNeighboursAt(*this, cast<OpResult>(tensor).getResultNumber(), indices);
    }
  }
  for (Index number : numbers) {
    begin(number);
    made.push_back(compute(tensor, ElementIndex(*this, shape, number)));
  }
  return made;
}

/// As `read`, for several elements.
KernelEmitter::Values KernelEmitter::readNeighbours(Value tensor, ArrayRef<Index> numbers) {
  const bool isInlined = !buffers.contains(tensor) && !registerValues.contains(tensor) &&
                         !lookup(tensor.getAsOpaquePointer(), keyOf(numbers[0]));
  Values elements;
  if (isInlined) {
    for (Index number : numbers) {
      begin(number);
      checkRead(tensor, number);
    }
    elements = computeNeighbours(tensor, numbers);
    for (auto [number, element] : llvm::zip_equal(numbers, elements))
      rememberElement(tensor, number, element);
    return elements;
  }
  for (Index number : numbers) {
    begin(number);
    elements.push_back(read(tensor, ElementIndex(*this, nn::typeOf(tensor).getShape(), number)));
  }
  return elements;
}

SmallVector<int64_t> KernelEmitter::splitStrides(Value tensor) {
  return dpc::splitStrides(graph, tensor);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::emitGroup(const LoopGroup &loops, unsigned groupOrdinal) {
  group = groupOrdinal;
  stage = 1;
  rows = loops.rows;
  row = constant(0);
  taken.clear();
  madeInStage.clear();
  if (!loops.isFilled || loops.stages.size() > 1)
    for (auto [number, roots] : llvm::enumerate(loops.stages))
      for (Operation *op : roots.roots)
        for (Value result : op->getResults())
          madeInStage[result] = number + 1;
  if (loops.isFilled) {
    emitFilled(loops);
  } else {
    forEachRow(rows.count, [&](Index i) {
      row = i;
      for (auto [number, roots] : llvm::enumerate(loops.stages)) {
        stage = number + 1;
        emitStage(roots);
        if (stage < loops.stages.size())
          endStage();
      }
    });
  }
  row = constant(0);
  rows = {};
  if (missing)
    return missing.getDefiningOp()->emitOpError(
        "is read by a kernel's loops where they have not made it");
  return checkPieces(loops.stages[0].roots[0]);
}

void KernelEmitter::emitFilled(const LoopGroup &loops) {
  Operation *op = loops.stages[0].roots[0];
  filling = true;
  orderedSums = keepsOrder;
  if (loops.stages.size() == 1) {
    emitFill(op);
  } else {
    emitTiles(op, [&](ArrayRef<int64_t> shape, function_ref<Index(ArrayRef<Index>)> number) {
      filling = false;
      stage = 2;
      forEachPieceOfTile(shape, [&](ArrayRef<SmallVector<Index>> places) {
        SmallVector<Index> numbers;
        for (ArrayRef<Index> place : places)
          numbers.push_back(number(place));
        finished = numbers.front();
        recorded = Index();
        emitElements(loops.stages[1].roots, numbers);
      });
      finished = Index();
      SmallVector<Buffer> used;
      for (Value stream : streams)
        used.push_back(buffers.find(stream)->second);
      endTile(shape, number, used);
      streams.clear();
      stage = 1;
      filling = true;
    });
  }
  filling = false;
}

void KernelEmitter::emitStage(const LoopGroup::Stage &roots) {
  const LoopNest &nest = roots.nest;
  recorded = Index();
  auto numberAt = [&](ArrayRef<Index> index) {
    return RowIndex(*this, rows, roots.getElements()).numberOf(row, linearize(index, nest.extents));
  };
  if (!nest.around)
    return forEachPiece(nest, [&](ArrayRef<Index> first, int64_t count) {
      SmallVector<Index> numbers;
      for (int64_t n = 0; n < count; ++n)
        numbers.push_back(numberAt(first) + n);
      emitElements(roots.roots, numbers);
    });
  ArrayRef<int64_t> extents = nest.extents;
  forEach(extents.take_front(nest.around), [&](ArrayRef<Index> piece) {
    SmallVector<Index> index(piece);
    index.append(extents.size() - nest.around, constant(0));
    beginPiece(numberAt(index), rows, roots.getElements(), findStreams(roots));
    forEach(extents.drop_front(nest.around), [&](ArrayRef<Index> inner) {
      llvm::copy(inner, index.begin() + nest.around);
      emitElements(roots.roots, numberAt(index));
    });
  });
}

/// The buffers of all elements of values that have as many elements as the roots of a stage, if the
/// stage reads or writes them.
SmallVector<KernelEmitter::Buffer> KernelEmitter::findStreams(const LoopGroup::Stage &roots) const {
  llvm::SetVector<Value> values;
  for (Operation *root : roots.roots) {
    values.insert(root->result_begin(), root->result_end());
    for (Value value : graph.getReads(root))
      values.insert(value);
  }
  SmallVector<Buffer> found;
  for (Value value : values)
    if (isInMemory(value) && nn::typeOf(value).getNumElements() == roots.getElements())
      found.push_back(buffers.find(value)->second);
  return found;
}

/// Computes and stores the elements `numbers` of each result of `roots`.
void KernelEmitter::emitElements(ArrayRef<Operation *> roots, ArrayRef<Index> numbers) {
  // Compute all elements before storing any of them, because a result may share
  // the buffer of an operand.
  if (!recorded)
    recorded = numbers.front();
  SmallVector<std::pair<Value, SmallVector<Value>>> elements;
  for (Operation *op : roots)
    for (Value result : op->getResults())
      elements.push_back({result, {}});
  const bool areJoint = llvm::any_of(roots, [&](Operation *op) {
    return numbers.size() > 1 && !graph.getNeighboursRules(op).empty();
  });
  if (areJoint) {
    for (auto &[result, made] : elements) {
      llvm::append_range(made, computeNeighbours(result, numbers));
      for (auto [number, element] : llvm::zip_equal(numbers, made))
        rememberElement(result, number, element);
    }
  } else {
    for (Index number : numbers) {
      begin(number);
      for (auto &[result, made] : elements) {
        ElementIndex at(*this, nn::typeOf(result).getShape(), number);
        made.push_back(compute(result, at));
        rememberElement(result, number, made.back());
      }
    }
  }
  useElements(numbers, [&](Value value, size_t n) {
    own = numbers[n];
    return read(value, ElementIndex(*this, nn::typeOf(value).getShape(), numbers[n]));
  });
  for (auto &[result, made] : elements)
    for (size_t n = 0; n < numbers.size() && buffers.contains(result); ++n) {
      begin(numbers[n]);
      store(result, made[n], numbers[n]);
    }
  own = Index();
}

void KernelEmitter::fillAs(unsigned groupOrdinal, function_ref<void()> body) {
  group = groupOrdinal;
  stage = 1;
  rows = {};
  row = constant(0);
  madeInStage.clear();
  filling = true;
  body();
  filling = false;
}

void KernelEmitter::emitCopy(Value from, Buffer to, unsigned groupOrdinal) {
  group = groupOrdinal;
  stage = 1;
  SmallVector<int64_t> extents = readingExtents(graph, from);
  forEach(extents, [&](ArrayRef<Index> index) {
    Index number = linearize(index, extents);
    ElementIndex at(*this, nn::typeOf(from).getShape(), number);
    storeTo(to, read(from, at), number);
  });
}

//===----------------------------------------------------------------------===//
// Hooks that targets override
//===----------------------------------------------------------------------===//

void KernelEmitter::emitFill(Operation *op) {
  auto rule = cast<FillOpInterface>(op);
  rule.emitFill(*this, rule.getParts(1));
}

void KernelEmitter::emitTiles(Operation *, FinishTile) {
  llvm_unreachable("no rule of these loops makes tiles");
}

void KernelEmitter::forEachRow(int64_t rows, function_ref<void(Index)> body) {
  // A sequence and not a parallel loop, because rows may share scratch memory.
  sequence(rows, body);
}

void KernelEmitter::forEachPieceOfTile(ArrayRef<int64_t> shape,
                                       function_ref<void(ArrayRef<SmallVector<Index>>)> body) {
  forEach(shape, [&](ArrayRef<Index> index) { body(SmallVector<Index>(index)); });
}

void KernelEmitter::forEachElement(const LoopNest &nest, function_ref<void(ArrayRef<Index>)> body) {
  forEach(nest.extents, body);
}

void KernelEmitter::forEachPiece(const LoopNest &nest,
                                 function_ref<void(ArrayRef<Index>, int64_t)> body) {
  forEachElement(nest, [&](ArrayRef<Index> index) { body(index, 1); });
}

void KernelEmitter::endTile(ArrayRef<int64_t>, function_ref<Index(ArrayRef<Index>)>,
                            ArrayRef<Buffer>) {}
