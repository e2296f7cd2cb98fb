//===- Recurrent.cpp - ONNX LSTM, GRU, RNN --------------------------------===//
//
// The loop over time has a length known at compile time, so it is unrolled. The
// products of the inputs with their weights do not depend on the state and are
// one contraction over all steps.

#include "frontends/onnx/Registry.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

constexpr int64_t kMaxSteps = 4096;

/// Operands of one direction, and the extents all share. B, H: batch, hidden
/// size.
struct Cell {
  int64_t steps, batch, hidden, gates;
  /// x W^T + Wb for all steps: [T, B, gates * H].
  Value inputs;
  /// R^T as stored, [gates * H, H], and its bias [gates * H] or null.
  Value recurrence, recurrenceBias;
  /// Weights of the cell state in gates i, o, f, [3 * H], or null.
  Value peepholes;
  SmallVector<std::string> activations;
};

Value activate(Conversion &c, StringRef name, Value x) {
  if (name == "Sigmoid")
    return c.e.make<nn::SigmoidOp>(x);
  if (name == "Tanh")
    return c.e.make<nn::TanhOp>(x);
  if (name == "Relu")
    return c.e.make<nn::ReluOp>(x);
  (void)c.error("activation '" + name + "' is not supported");
  return x;
}

/// Gate `i` of a row of gates, [B, gates * H].
Value gateOf(Conversion &c, Value x, int64_t i, int64_t size) {
  return c.sliceAlong(x, 1, i * size, (i + 1) * size);
}

/// Row `i` of dimension 0, which disappears.
Value row(Conversion &c, Value x, int64_t i) {
  return c.e.reshape(c.sliceAlong(x, 0, i, i + 1), shapeOf(x).drop_front());
}

Value addRow(Conversion &c, Value x, Value vector) {
  return c.e.add(x, c.e.broadcast(vector, shapeOf(x), {1}));
}

/// h R^T for gate rows [first, first + count) of R.
Value recur(Conversion &c, const Cell &cell, Value state, int64_t first,
            int64_t count) {
  int64_t start = first * cell.hidden, limit = (first + count) * cell.hidden;
  Value weights = c.sliceAlong(cell.recurrence, 0, start, limit);
  Value product = c.e.dot(state, weights, {}, {}, {1}, {1});
  if (!cell.recurrenceBias)
    return product;
  return addRow(c, product, c.sliceAlong(cell.recurrenceBias, 0, start, limit));
}

/// Gates in ONNX's order i, o, f, c. `memory` is the cell state, replaced by
/// its next value.
Value stepLstm(Conversion &c, const Cell &cell, Value x, Value state,
               Value &memory) {
  Value all = c.e.add(x, recur(c, cell, state, 0, 4));
  auto gate = [&](int64_t i, unsigned activation, Value seen) {
    Value sum = gateOf(c, all, i, cell.hidden);
    if (cell.peepholes && seen) {
      Value weights = c.sliceAlong(cell.peepholes, 0, i * cell.hidden,
                                   (i + 1) * cell.hidden);
      sum = c.e.add(sum,
                    c.e.mul(seen, c.e.broadcast(weights, shapeOf(seen), {1})));
    }
    return activate(c, cell.activations[activation], sum);
  };
  Value input = gate(0, 0, memory), forget = gate(2, 0, memory),
        candidate = gate(3, 1, {});
  memory = c.e.add(c.e.mul(forget, memory), c.e.mul(input, candidate));
  Value output = gate(1, 0, memory);
  return c.e.mul(output, activate(c, cell.activations[2], memory));
}

/// Gates in ONNX's order z, r, h.
Value stepGru(Conversion &c, const Cell &cell, Value x, Value state,
              bool linearBeforeReset) {
  Value gates =
      c.e.add(gateOf(c, x, 0, cell.hidden), recur(c, cell, state, 0, 1));
  Value update = activate(c, cell.activations[0], gates);
  Value reset = activate(
      c, cell.activations[0],
      c.e.add(gateOf(c, x, 1, cell.hidden), recur(c, cell, state, 1, 1)));
  Value fromState = linearBeforeReset
                        ? c.e.mul(reset, recur(c, cell, state, 2, 1))
                        : recur(c, cell, c.e.mul(reset, state), 2, 1);
  Value candidate = activate(c, cell.activations[1],
                             c.e.add(gateOf(c, x, 2, cell.hidden), fromState));
  // (1 - z) h~ + z h = h~ + z (h - h~)
  return c.e.add(candidate, c.e.mul(update, c.e.sub(state, candidate)));
}

/// Expects `shape` of operand `i`.
LogicalResult checkShape(Conversion &c, unsigned i,
                         ArrayRef<int64_t> expected) {
  if (!c.has(i) || shapeOf(c.operand(i)) == expected)
    return success();
  return c.error("input " + Twine(i) + " has shape " +
                 printed(shapeOf(c.operand(i))) + " but must have " +
                 printed(expected));
}

LogicalResult convertRecurrent(Conversion &c) {
  bool lstm = c.node.opType == "LSTM", gru = c.node.opType == "GRU";
  int64_t gates = lstm ? 4 : gru ? 3 : 1;
  Value x = c.operand(0);
  if (rankOf(x) != 3)
    return c.error("X has rank " + Twine(rankOf(x)) + " but must have 3");
  // Layout 1 has the batch first everywhere.
  bool batchFirst = c.intAttr("layout", 0);
  auto swapped = [&](Value value) {
    SmallVector<int64_t> permutation = range(0, rankOf(value));
    if (batchFirst && permutation.size() > 1)
      std::swap(permutation[0], permutation[1]);
    return c.e.transpose(value, permutation);
  };
  if (c.hasAttr("clip") || c.intAttr("input_forget", 0))
    return c.error("clip and input_forget are not supported");
  x = swapped(x);
  int64_t steps = shapeOf(x)[0], batch = shapeOf(x)[1], width = shapeOf(x)[2];
  if (c.has(4)) {
    auto lengths = c.tryInts(4);
    if (!lengths || !llvm::all_of(*lengths, [&](int64_t length) {
          return length == steps;
        }))
      return c.error(
          "sequence_lens other than the full length are not supported");
  }
  if (steps < 1 || steps > kMaxSteps)
    return c.error("has " + Twine(steps) + " time steps but may have 1 to " +
                   Twine(kMaxSteps));
  std::string direction = c.stringAttr("direction", "forward");
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    return c.error("direction '" + direction + "' is not known");
  int64_t directions = direction == "bidirectional" ? 2 : 1;
  int64_t hidden = rankOf(c.operand(2)) == 3 ? shapeOf(c.operand(2))[2] : 0;
  if (c.intAttr("hidden_size", hidden) != hidden || hidden == 0)
    return c.error("R " + printed(shapeOf(c.operand(2))) +
                   " does not fit hidden_size " +
                   Twine(c.intAttr("hidden_size", hidden)));
  if (failed(checkShape(c, 1, {directions, gates * hidden, width})) ||
      failed(checkShape(c, 2, {directions, gates * hidden, hidden})) ||
      failed(checkShape(c, 3, {directions, 2 * gates * hidden})) ||
      failed(checkShape(c, 7, {directions, 3 * hidden})))
    return failure();
  for (unsigned i : {5u, 6u})
    if (failed(batchFirst ? checkShape(c, i, {batch, directions, hidden})
                          : checkShape(c, i, {directions, batch, hidden})))
      return failure();

  SmallVector<std::string> activations =
      lstm  ? SmallVector<std::string>{"Sigmoid", "Tanh", "Tanh"}
      : gru ? SmallVector<std::string>{"Sigmoid", "Tanh"}
            : SmallVector<std::string>{"Tanh"};
  SmallVector<std::string> given = c.stringsAttr("activations");
  if (!given.empty() && given.size() != activations.size() * directions)
    return c.error("activations has " + Twine(given.size()) +
                   " elements but must have " +
                   Twine(activations.size() * directions));
  bool linearBeforeReset = c.intAttr("linear_before_reset", 0);
  if (c.failed)
    return failure();

  auto stateType =
      RankedTensorType::get({batch, hidden}, nn::typeOf(x).getElementType());
  SmallVector<SmallVector<Value>> outputs(steps);
  SmallVector<Value> lastStates, lastMemories;
  for (int64_t d = 0; d < directions; ++d) {
    Cell cell{steps, batch, hidden,     gates, {}, row(c, c.operand(2), d),
              {},    {},    activations};
    if (c.has(7))
      cell.peepholes = row(c, c.operand(7), d);
    if (!given.empty())
      cell.activations.assign(given.begin() + d * activations.size(),
                              given.begin() + (d + 1) * activations.size());
    cell.inputs = c.e.dot(x, row(c, c.operand(1), d), {}, {}, {2}, {1});
    if (c.has(3)) {
      Value biases = c.e.reshape(row(c, c.operand(3), d), {2, gates * hidden});
      cell.inputs =
          c.e.add(cell.inputs,
                  c.e.broadcast(row(c, biases, 0), shapeOf(cell.inputs), {2}));
      cell.recurrenceBias = row(c, biases, 1);
    }
    auto initial = [&](unsigned i) {
      return c.has(i) ? row(c, swapped(c.operand(i)), d)
                      : c.e.splat(stateType, 0);
    };
    Value state = initial(5), memory = initial(6);
    bool backwards = direction == "reverse" || d == 1;
    for (int64_t i = 0; i < steps; ++i) {
      int64_t t = backwards ? steps - 1 - i : i;
      Value input = row(c, cell.inputs, t);
      if (lstm)
        state = stepLstm(c, cell, input, state, memory);
      else if (gru)
        state = stepGru(c, cell, input, state, linearBeforeReset);
      else
        state = activate(c, cell.activations[0],
                         c.e.add(input, recur(c, cell, state, 0, 1)));
      if (c.failed)
        return failure();
      outputs[t].push_back(state);
    }
    lastStates.push_back(state);
    lastMemories.push_back(memory);
  }
  // [directions, B, H] of states, and [T, directions, B, H] of outputs.
  auto stack = [&](ArrayRef<Value> states) {
    SmallVector<Value> rows;
    for (Value state : states)
      rows.push_back(c.e.reshape(state, {1, batch, hidden}));
    return rows.size() == 1 ? rows[0]
                            : Value(c.e.make<nn::ConcatOp>(rows, int64_t(0)));
  };
  if (c.wantsResult(0)) {
    SmallVector<Value> all;
    for (const SmallVector<Value> &at : outputs)
      all.push_back(c.e.reshape(stack(at), {1, directions, batch, hidden}));
    Value sequence = all.size() == 1
                         ? all[0]
                         : Value(c.e.make<nn::ConcatOp>(all, int64_t(0)));
    c.setResult(0,
                batchFirst ? c.e.transpose(sequence, {2, 0, 1, 3}) : sequence);
  }
  if (c.wantsResult(1))
    c.setResult(1, swapped(stack(lastStates)));
  if (lstm && c.wantsResult(2))
    c.setResult(2, swapped(stack(lastMemories)));
  return success();
}

} // namespace

void dpc::onnx::registerRecurrentOps(Registry &registry) {
  registry.add({"LSTM", convertRecurrent, 3, 8, 3});
  registry.add({"GRU", convertRecurrent, 3, 6, 2});
  registry.add({"RNN", convertRecurrent, 3, 6, 2});
}
