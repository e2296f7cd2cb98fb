// Numbers the ops of a forward pass that a cut into chunks assigns, and prices them.

#include "passes/Stages/ForwardCut.h"

#include "dialects/Dist/IR/Messages.h"

#include "passes/Forward/ForwardPass.h"
#include "passes/Prices/OpPrices.h"

#include "dialects/NN/IR/Program.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;

/// Bytes that a stage holds per byte of a parameter in a training step: the parameter, its gradient
/// and the two moments of Adam.
static constexpr int64_t kCopiesOfParameter = 4;

/// The seconds of all ops in `block`, once.
static double secondsOf(Block &block, const MeshPrices &prices) {
  double seconds = 0;
  for (Operation &op : block)
    seconds += workSeconds(prices.device(), workBeforeFusion(&op));
  return seconds;
}

/// The loop of `forward` that computes the most; null if there is none.
static dist::MicroOp findMainLoop(func::FuncOp function, const Ancestors &forward,
                                  const MeshPrices &prices) {
  dist::MicroOp main;
  double most = -1;
  for (auto loop : function.front().getOps<dist::MicroOp>())
    if (forward.ops.contains(loop))
      if (const double seconds = secondsOf(loop.getBodyBlock(), prices); seconds > most) {
        most = seconds;
        main = loop;
      }
  return main;
}

ForwardCut::ForwardCut(func::FuncOp function, ArrayRef<Value> roots, bool trains,
                       const MeshPrices &prices)
    : function(function), trains(trains), prices(prices) {
  for (BlockArgument argument : function.getArguments()) {
    const nn::ArgKind kind = nn::getArg(function, argument.getArgNumber()).getKind();
    if (nn::isState(kind))
      origins[argument].states = {argument.getArgNumber()};
    else
      origins[argument].readsInput = kind != nn::ArgKind::control;
  }
  const Ancestors outside(roots);
  dist::MicroOp main = findMainLoop(function, outside, prices);
  Block *block = &function.front();
  if (main) {
    for (Operation &op : *block) {
      if (&op == main)
        break;
      Origin origin = joinOperands(&op);
      // The result is a value of the model, and not a form of the states.
      if (origin.readsInput)
        origin.states.clear();
      for (Value result : op.getResults())
        origins[result] = origin;
    }
    block = &main.getBodyBlock();
    for (auto [argument, operand] : llvm::zip_equal(block->getArguments(), main.getInputs()))
      origins[argument] = Origin(origins.lookup(operand));
    addForward(*block, Ancestors(main, outside).ops);
  } else {
    addForward(*block, outside.ops);
  }
  if (trains)
    addBackward(*block);
  if (main)
    addAccumulations(main);
  addStates();
  problem.secondsPerByte =
      prices.message(1, dist::kPipeAxis).seconds - prices.message(0, dist::kPipeAxis).seconds;
  problem.inFlight = {1};
}

ForwardCut::Origin ForwardCut::joinOperands(Operation *op) const {
  Origin joined;
  for (Value operand : op->getOperands()) {
    const Origin origin = origins.lookup(operand);
    joined.readsInput |= origin.readsInput;
    for (unsigned state : origin.states)
      if (!llvm::is_contained(joined.states, state))
        joined.states.push_back(state);
  }
  return joined;
}

/// Appends `number` to the increasing list `numbers`, unless it is the last entry.
static void addReader(std::vector<unsigned> &numbers, unsigned number) {
  if (numbers.empty() || numbers.back() != number)
    numbers.push_back(number);
}

void ForwardCut::addForward(Block &block, const llvm::DenseSet<Operation *> &forward) {
  for (Operation &op : block.without_terminator()) {
    if (!forward.contains(&op))
      continue;
    const Origin origin = joinOperands(&op);
    const bool readsNumbered = llvm::any_of(
        op.getOperands(), [&](Value operand) { return origins.lookup(operand).op >= 0; });
    if (readsNumbered || (origin.readsInput && !origin.states.empty()))
      addOp(&op, origin);
    else
      for (Value result : op.getResults())
        origins[result] = origin;
  }
}

void ForwardCut::addOp(Operation *op, const Origin &origin) {
  const unsigned number = ops.size();
  ops.push_back(op);
  problem.ops.push_back({workSeconds(prices.device(), workBeforeFusion(op)), 0});
  for (unsigned state : origin.states)
    addReader(readers[nn::getArg(function, state).getName().str()], number);
  for (Value operand : op->getOperands()) {
    if (auto value = valueNumbers.find(operand); value != valueNumbers.end())
      addReader(problem.values[value->second].readers, number);
    else if (const Origin source = origins.lookup(operand);
             source.readsInput && source.states.empty())
      addReader(inputReaders[operand], number);
  }
  for (Value result : op->getResults()) {
    origins[result].op = number;
    valueNumbers[result] = problem.values.size();
    // The gradient of a value goes back the same way.
    const bool hasGradient = trains && isa<FloatType>(getElementTypeOrSelf(result.getType()));
    problem.values.push_back({number, {}, tensorBytes(result.getType()) * (hasGradient ? 2 : 1)});
  }
}

/// Returns the highest entry of the increasing list `numbers` that is at most `number`; the first
/// entry if there is none.
static int64_t nearest(ArrayRef<unsigned> numbers, int64_t number) {
  const auto *after = llvm::upper_bound(numbers, number);
  return after == numbers.begin() ? numbers.front() : *std::prev(after);
}

/// Returns the number of the forward op next to which `op`, an op of the backward pass, runs; -1 if
/// it depends on no numbered op. This is the rule of ValueChunks for chunks of one op.
int64_t ForwardCut::findPlace(Operation *op, ArrayRef<unsigned> states) const {
  int64_t lowest = -1, highest = -1;
  for (Value operand : op->getOperands()) {
    const int64_t number = origins.lookup(operand).op;
    highest = std::max(highest, number);
    if (number >= 0 && !valueNumbers.contains(operand))
      lowest = lowest < 0 ? number : std::min(lowest, number);
  }
  if (lowest < 0)
    lowest = highest;
  if (lowest < 0)
    return -1;
  for (Value operand : op->getOperands())
    if (auto value = valueNumbers.find(operand); value != valueNumbers.end()) {
      SmallVector<unsigned> numbers = {problem.values[value->second].op};
      llvm::append_range(numbers, problem.values[value->second].readers);
      lowest = std::min(lowest, nearest(numbers, lowest));
    }
  for (Value operand : op->getOperands())
    if (auto own = inputReaders.find(operand); own != inputReaders.end())
      lowest = std::min(lowest, nearest(own->second, lowest));
  for (unsigned state : states) {
    auto own = readers.find(nn::getArg(function, state).getName().str());
    if (own != readers.end())
      lowest = std::min(lowest, nearest(own->second, lowest));
  }
  return lowest;
}

void ForwardCut::addBackward(Block &block) {
  llvm::DenseSet<Value> kept; // looked up by key only
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() == 0 || valueNumbers.contains(op.getResult(0)))
      continue;
    for (Value operand : op.getOperands())
      if (valueNumbers.contains(operand) && kept.insert(operand).second)
        problem.ops[origins.lookup(operand).op].keptBytes += tensorBytes(operand.getType());
    Origin origin = joinOperands(&op);
    origin.op = findPlace(&op, origin.states);
    if (origin.op >= 0) {
      problem.ops[origin.op].seconds += workSeconds(prices.device(), workBeforeFusion(&op));
      origin.states.clear();
      origin.readsInput = false;
    }
    for (Value result : op.getResults())
      origins[result] = origin;
  }
}

/// Adds the time in which the iterations of `loop` add up what they yield, e.g. gradients of
/// weights.
void ForwardCut::addAccumulations(dist::MicroOp loop) {
  for (OpOperand &yielded : loop.getBodyBlock().getTerminator()->getOpOperands()) {
    const Origin origin = origins.lookup(yielded.get());
    if (origin.op >= 0 && loop.getResultKind(yielded.getOperandNumber()) == dist::MicroKind::summed)
      problem.ops[origin.op].seconds += workSeconds(prices.device(), workOfSum(yielded.get()));
  }
}

void ForwardCut::addStates() {
  for (BlockArgument argument : function.getArguments()) {
    auto own = readers.find(nn::getArg(function, argument.getArgNumber()).getName().str());
    if (own != readers.end())
      problem.states.push_back(
          {own->second, tensorBytes(argument.getType()) * (trains ? kCopiesOfParameter : 1)});
  }
}
