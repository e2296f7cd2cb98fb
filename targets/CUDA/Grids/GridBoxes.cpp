// Emits launches that transpose values in boxes (BoxPlan).

#include "targets/CUDA/Grids/GridEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// Deals the pieces of box number `box` to the threads of the block. `body` gets the position of a
/// piece in the nest, in which all loops of the run are 0, the number of its first element in the
/// complete run, and the position of each of its elements in the box.
void GridEmitter::dealBox(
    const BoxPlan::Sweep &sweep, ArrayRef<Index> box,
    function_ref<void(ArrayRef<Index>, Index, ArrayRef<SmallVector<Index>>)> body) {
  const BoxPlan &plan = *launch->boxes;
  const int64_t lanes = sweep.lanes, run = plan.getRun(sweep) / lanes,
                wholeRun = plan.getWholeRun(sweep) / lanes;
  const ArrayRef<unsigned> order(sweep.order), inner = order.drop_front(sweep.outer);
  SmallVector<int64_t> shape, runShape;
  for (unsigned loop : order.take_front(sweep.outer))
    shape.push_back(plan.box[loop]);
  shape.push_back(run);
  for (unsigned loop : inner)
    runShape.push_back(plan.box[loop]);
  dealToBlock(plan.countPieces(sweep), {}, [&](Index piece, ValueRange) {
    const SmallVector<Index> at = positionsOf(piece, shape);
    SmallVector<Index> position(box.size(), constant(0));
    Value isThere;
    for (auto [place, loop] : llvm::enumerate(order.take_front(sweep.outer))) {
      position[loop] = box[loop] * plan.box[loop] + at[place];
      isThere = both(isThere, inRange(position[loop], 0, plan.extents[loop]));
    }
    Index pieceOfRun = box[inner.front()] * run + at.back();
    isThere = both(isThere, inRange(pieceOfRun, 0, wholeRun));
    SmallVector<SmallVector<Index>> inBox;
    for (int64_t n = 0; n < lanes; ++n) {
      inBox.emplace_back(box.size(), constant(0));
      for (auto [place, loop] : llvm::enumerate(order.take_front(sweep.outer)))
        inBox.back()[loop] = at[place];
      for (auto [place, loop] :
           llvm::zip_equal(delinearize(at.back() * lanes + n, runShape), inner))
        inBox.back()[loop] = place;
    }
    when(isThere, [&] {
      for (unsigned loop : order.take_front(sweep.outer))
        position[loop] = bind(materialize(position[loop]), 0, plan.extents[loop] - 1);
      body(position, bind(materialize(pieceOfRun), 0, wholeRun - 1) * lanes, inBox);
    });
    return Values();
  });
}

/// The type that elements of `tensor` have in a box. LLVM joins more accesses to 16-bit integers
/// than to 16-bit floats.
static Type typeInBox(Value tensor) {
  const Type type = registerType(nn::typeOf(tensor).getElementType());
  const unsigned bits = type.getIntOrFloatBitWidth();
  return bits <= 16 ? IntegerType::get(type.getContext(), std::max(8u, bits)) : type;
}

/// Reads the elements of box number `box` of `value` in the order of the operand, and stores them
/// in shared memory. Returns its address.
Value GridEmitter::gather(const BoxPlan::Gathered &value, ArrayRef<Index> box) {
  nn::TransposeOp op = value.op;
  const Value operand = op.getInput();
  Value memory = allocateInSharedSpace(launch->boxes->getBytes(value));
  llvm::SaveAndRestore inOwnOrder(filling, true);
  dealBox(value.sweep, box,
          [&](ArrayRef<Index> position, Index inRun, ArrayRef<SmallVector<Index>> inBox) {
            const Type type = typeInBox(operand);
            Index number = inRun;
            for (auto [at, stride] : llvm::zip_equal(position, value.strides))
              number = number + at * stride;
            const auto [variable, constant] = splitConstant(number);
            SmallVector<Value> elements;
            for (size_t n = 0; n < inBox.size(); ++n)
              elements.push_back(
                  read(operand, ElementIndex(*this, nn::typeOf(operand).getShape(),
                                             variable + (constant + static_cast<int64_t>(n)))));
            for (auto [element, at] : llvm::zip_equal(elements, inBox)) {
              if (element.getType().isInteger(1))
                element = make<arith::ExtUIOp>(type, element);
              else if (element.getType() != type)
                element = make<arith::BitcastOp>(type, element);
              storeAt(memory, element, placeOf(value, at, type));
            }
          });
  return memory;
}

/// The number of the element at `at` in a box, among elements of type `type` that lie together.
Index GridEmitter::placeOf(const BoxPlan::Gathered &value, ArrayRef<Index> at, Type type) {
  Index slot = constant(0);
  for (auto [place, step] : llvm::zip_equal(at, value.steps))
    slot = slot + place * step;
  if (value.skew)
    slot = slot + floorDiv(slot, value.period) * value.skew;
  const int64_t bytes = std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
  return slot * (value.slotBytes / bytes);
}

void GridEmitter::forEachPieceOfBox(const LoopNest &nest,
                                    function_ref<void(ArrayRef<Index>, int64_t)> body) {
  const BoxPlan &plan = *launch->boxes;
  llvm::SaveAndRestore inside(level, Level::block);
  const SmallVector<Index> box = positionsOf(block, plan.getCounts());
  SmallVector<Value> memories;
  for (const BoxPlan::Gathered &value : plan.gathered)
    memories.push_back(gather(value, box));
  barrier();
  dealBox(
      plan.stores, box,
      [&](ArrayRef<Index> position, Index inRun, ArrayRef<SmallVector<Index>> inBox) {
        SmallVector<Index> first(position);
        first.back() = first.back() + inRun;
        for (auto [value, memory] : llvm::zip_equal(plan.gathered, memories)) {
          nn::TransposeOp op = value.op;
          const Value result = op.getResult();
          const Type type = typeInBox(result);
          for (auto [n, at] : llvm::enumerate(inBox))
            gathered[{result, keyOf(linearize(first, nest.extents) + static_cast<int64_t>(n))}] = {
                memory, placeOf(value, at, type)};
        }
        body(first, static_cast<int64_t>(inBox.size()));
        gathered.clear();
      });
}

/// An element that the block has gathered is in shared memory.
Value GridEmitter::compute(Value tensor, const ElementIndex &index) {
  const auto found = gathered.find({tensor, keyOf(index.number())});
  if (found == gathered.end())
    return KernelEmitter::compute(tensor, index);
  const auto [memory, place] = found->second;
  const Type type = registerType(nn::typeOf(tensor).getElementType());
  Value stored = loadAt(memory, typeInBox(tensor), place);
  if (type.isInteger(1))
    return make<arith::CmpIOp>(arith::CmpIPredicate::ne, stored, constantLike(stored.getType(), 0));
  return type == stored.getType() ? stored : make<arith::BitcastOp>(type, stored);
}
