// Visits the memory accesses of the launches of a kernel in the order in which
// GridEmitter emits them.

#include "targets/CUDA/Grids/GridWalk.h"

#include "targets/CUDA/Grids/GridFill.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace dpc;

using Index = IndexSpace::Index;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void GridWalk::inLaunch(const Launch &newLaunch, function_ref<void()> body) {
  launch = &newLaunch;
  level = Level::grid;
  thread = variable(0, launch->threads - 1);
  block = variable(0, launch->blocks - 1);
  scoped(body);
}

void GridWalk::visitLaunch(const Launch &newLaunch, unsigned ordinal) {
  inLaunch(newLaunch, [&] {
    if (launch->kind == Launch::Kind::sums)
      return visitFillsOf(launch->group.getRoots(), ordinal);
    if (launch->kind == Launch::Kind::joint) {
      llvm::SaveAndRestore whole(launch);
      for (const Launch &joined : newLaunch.joined) {
        launch = &joined;
        scoped([&] {
          block = variable(0, joined.blocks - 1);
          visitGroup(joined.group, ordinal);
        });
        ++part;
      }
      part = 0;
      return;
    }
    // The last launch of a fill rule computes the ops that use elements of the
    // result.
    LoopGroup group = launch->group;
    if (!launch->phase.isLast())
      group.stages.truncate(1);
    // A fill rule decides which threads compute which elements. The loops of other ops of
    // the group are then plain loops, because one thread runs all iterations for an
    // element.
    if (group.isFilled)
      level = Level::thread;
    visitGroup(group, ordinal);
  });
}

void GridWalk::visitCopyLaunch(Value value, unsigned ordinal) {
  const Launch copy = copyLaunch(value);
  inLaunch(copy, [&] { visitCopy(value, ordinal); });
}

void GridWalk::visitFill(Operation *op) {
  GridFillOpInterface tiles = payingGridFill(op);
  if (!tiles || tiles.readsOperands(launch->phase))
    visitFillReads(op);
  if (launch->phase.isLast())
    visitFillWrites(op);
}

int64_t GridWalk::countFinishes(Operation *op) const {
  return cast<GridFillOpInterface>(op).countFinalElements(launch->phase);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Index> GridWalk::positionsOf(Index number, ArrayRef<int64_t> shape) {
  SmallVector<Index> positions(shape.size(), constant(0));
  int64_t outer = ShapedType::getNumElements(shape);
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t extent = shape[d];
    outer /= std::max<int64_t>(1, extent);
    if (extent == 1)
      continue;
    positions[d] = outer == 1 ? number : asVariable(mod(number, extent), 0, extent - 1);
    if (outer == 1)
      break;
    number = asVariable(floorDiv(number, extent), 0, outer - 1);
  }
  return positions;
}

void GridWalk::dealToBlock(int64_t count, function_ref<void(Index)> body) {
  int64_t threads = launch->getThreadsOfTeam(), rounds = llvm::divideCeil(count, threads);
  auto iteration = [&](Index round) {
    Index number = asVariable(round * threads + thread, 0, count - 1);
    llvm::SaveAndRestore inside(level, Level::thread);
    body(number);
  };
  if (count % threads == 0)
    loops({rounds}, [&](ArrayRef<Index> round) { iteration(round[0]); });
  else
    scoped([&] { iteration(variable(0, std::max<int64_t>(0, rounds - 1))); });
}

void GridWalk::dealToGrid(int64_t count, function_ref<void(Index)> body) {
  Index place = block * launch->threads + thread;
  Index number = asVariable(place, 0, count - 1);
  inBranch(!isInRange(place, 0, count), [&] {
    llvm::SaveAndRestore inside(level, Level::thread);
    body(number);
  });
}

void GridWalk::forEach(ArrayRef<int64_t> shape, Body body) {
  int64_t total = ShapedType::getNumElements(shape);
  if (total == 0)
    return;
  switch (level) {
  case Level::thread:
    return loops(shape, body);
  case Level::block:
    return dealToBlock(total, [&](Index number) { body(positionsOf(number, shape)); });
  case Level::grid:
    if (launch->kind == Launch::Kind::results) {
      llvm::SaveAndRestore inside(level, Level::block);
      if (launch->teams == 1)
        return body(positionsOf(block, shape));
      return scoped([&] {
        llvm::SaveAndRestore ofTeam(thread, variable(0, launch->getThreadsOfTeam() - 1));
        const Index element = block * launch->teams + variable(0, launch->teams - 1);
        body(positionsOf(asVariable(element, 0, total - 1), shape));
      });
    }
    return dealToGrid(total, [&](Index number) { body(positionsOf(number, shape)); });
  }
}

void GridWalk::forEachRow(int64_t rows, function_ref<void(Index)> body) {
  if (level == Level::thread)
    return AccessWalk::forEachRow(rows, body);
  if (rows == 1)
    return body(constant(0));
  if (launch->kind == Launch::Kind::elements)
    return dealToGrid(rows, body);
  llvm::SaveAndRestore inside(level, Level::block);
  if (!launch->sums)
    return body(block);
  const int64_t count = launch->sums->rowsPerBlock;
  scoped([&] { body(asVariable(block * count + variable(0, count - 1), 0, rows - 1)); });
}

void GridWalk::visitUses(Index number) {
  if (!launch->sums || getStage() != launch->sums->stage)
    return;
  for (nn::ReduceOp sum : launch->sums->sums)
    read(sum.getInput(), ElementIndex(*this, nn::typeOf(sum.getInput()).getShape(), number));
}

void GridWalk::forEachElement(const LoopNest &nest, Body body) {
  if (level == Level::block && launch->together[getStage()])
    return loops(nest.extents, body);
  if (launch->kind == Launch::Kind::boxes)
    return forEachOfBox(nest, body);
  forEach(nest.extents, body);
}

/// The elements that a block gathers are those that its results need, so no access is missing here.
void GridWalk::forEachOfBox(const LoopNest &nest, Body body) {
  llvm::SaveAndRestore inside(level, Level::thread);
  loops(nest.extents, body);
}

void GridWalk::inLoops(ArrayRef<int64_t> shape, Body body) {
  int64_t total = ShapedType::getNumElements(shape);
  if (orderedSums || level != Level::block || total < kShortReduction)
    return loops(shape, body);
  dealToBlock(total, [&](Index number) { body(positionsOf(number, shape)); });
}
