// Imports ONNX LSTM, GRU and RNN.
//
// The trip count of the loop over time is known at compile time, so the loop is
// unrolled. The products of the inputs with their weights do not depend on the
// state, so one contraction computes them for all steps.

#include "frontends/onnx/Import/Registry.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

constexpr int64_t kMaxSteps = 4096;

/// An activation function with its parameters.
struct Activation {
  std::string name;
  double alpha, beta;
};

/// The operands of one direction, and the extents that all directions share. In shapes, T
/// is the number of steps, B the batch size, and H the hidden size.
struct Cell {
  int64_t steps, batch, hidden, gates;
  /// x W^T + Wb for all steps, where Wb is the bias of the inputs: [T, B, gates * H].
  Value inputs;
  /// The weights R of the state as the file stores them, [gates * H, H], and their bias
  /// [gates * H] or null.
  Value recurrence, recurrenceBias;
  /// The weights of the cell state in the gates i, o, f: [3 * H], or null.
  Value peepholes;
  SmallVector<Activation> activations;
  /// Inputs of an activation are clamped to [-clip, clip]; 0: not clamped.
  double clip = 0;
  /// The forget gate is 1 - the input gate.
  bool coupled = false;
};

/// ONNX's default alpha and beta; nullopt if the activation function has no such
/// parameter.
struct Parameters {
  std::optional<double> alpha, beta;
};

Parameters parametersOf(StringRef name) {
  return llvm::StringSwitch<Parameters>(name)
      .Case("LeakyRelu", {0.01f, {}})
      .Cases("ThresholdedRelu", "Elu", {1, {}})
      .Case("HardSigmoid", {0.2f, 0.5})
      .Cases("Affine", "ScaledTanh", {1, 0})
      .Default({});
}

/// Applies activation function `which`, as the schemas of LSTM, GRU and RNN define
/// it.
Value activate(Conversion &c, const Cell &cell, unsigned which, Value x) {
  const auto &[name, alpha, beta] = cell.activations[which];
  auto number = [&](double value) { return c.e.splatLike(x, value); };
  auto wherePositive = [&](Value otherwise) {
    return c.e.select(c.e.compare(nn::Comparison::gt, x, 0.0), x, otherwise);
  };
  if (cell.clip > 0)
    x = c.e.make<nn::ClampOp>(x, number(-cell.clip), number(cell.clip));
  if (name == "Sigmoid")
    return c.e.make<nn::SigmoidOp>(x);
  if (name == "Tanh")
    return c.e.make<nn::TanhOp>(x);
  if (name == "Relu")
    return c.e.make<nn::ReluOp>(x);
  if (name == "Affine")
    return c.e.add(c.e.mul(x, alpha), beta);
  if (name == "LeakyRelu")
    return wherePositive(c.e.mul(x, alpha));
  if (name == "ThresholdedRelu")
    return c.e.select(c.e.compare(nn::Comparison::ge, x, alpha), x, number(0));
  if (name == "ScaledTanh")
    return c.e.mul(c.e.make<nn::TanhOp>(c.e.mul(x, beta)), alpha);
  if (name == "HardSigmoid")
    return c.e.make<nn::ClampOp>(c.e.add(c.e.mul(x, alpha), beta), number(0), number(1));
  if (name == "Elu") {
    // The exponential of a large x would overflow, so the exponent is 0 for positive x. A
    // select gives this exponent, because min(x, 0) would halve the gradient at x = 0.
    Value exponent = c.e.select(c.e.compare(nn::Comparison::gt, x, 0.0), number(0), x);
    return wherePositive(c.e.mul(c.e.add(c.e.exp(exponent), -1.0), alpha));
  }
  if (name == "Softsign")
    return c.e.div(x, c.e.add(c.e.make<nn::AbsOp>(x), 1.0));
  if (name == "Softplus")
    return c.e.make<nn::SoftplusOp>(x);
  (void)c.error("activation '" + name + "' is not known");
  return x;
}

/// The activation functions of all directions, one direction after the other; empty
/// after an error.
SmallVector<Activation> readActivations(Conversion &c, int64_t directions,
                                        ArrayRef<StringRef> usual) {
  SmallVector<std::string> names = c.stringsAttr("activations");
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d)
      for (StringRef name : usual)
        names.push_back(name.str());
  SmallVector<double> alphas = c.floatsAttr("activation_alpha"),
                      betas = c.floatsAttr("activation_beta");
  // RNN's default lists two directions, even if the node has only one.
  if (names.size() % usual.size() || names.size() < usual.size() * directions ||
      names.size() > usual.size() * 2) {
    (void)c.error("activations has " + Twine(names.size()) + " elements but must have " +
                  Twine(usual.size() * directions));
    return {};
  }
  names.resize(usual.size() * directions);
  SmallVector<Activation> read;
  // The values of alpha and beta are listed without gaps: each function that has the
  // parameter takes the next value.
  ArrayRef<double> nextAlphas = alphas, nextBetas = betas;
  auto consume = [](ArrayRef<double> &next, std::optional<double> usual) {
    if (!usual || next.empty())
      return usual.value_or(0);
    double value = next.front();
    next = next.drop_front();
    return value;
  };
  for (const std::string &name : names) {
    Parameters usual = parametersOf(name);
    double alpha = consume(nextAlphas, usual.alpha), beta = consume(nextBetas, usual.beta);
    read.push_back({name, alpha, beta});
  }
  return read;
}

/// Operand 4, the lengths of the sequences, if one of them may be shorter than
/// `steps`; null if all have full length. Known lengths must lie in [0, steps].
Value readLengths(Conversion &c, int64_t steps) {
  if (!c.has(4))
    return {};
  std::optional<SmallVector<int64_t>> known = c.tryInts(4);
  if (!known)
    return c.operand(4);
  for (int64_t length : *known)
    if (length < 0 || length > steps) {
      (void)c.error("sequence_lens has " + Twine(length) + " but X has " + Twine(steps) +
                    " time steps");
      return {};
    }
  return llvm::all_of(*known, [&](int64_t each) { return each == steps; }) ? Value() : c.operand(4);
}

/// Gate `i` of `x`, which has the gates side by side: [B, gates * H].
Value gateOf(Conversion &c, Value x, int64_t i, int64_t size) {
  return c.sliceAlong(x, 1, i * size, (i + 1) * size);
}

/// Element `i` of `x` along dimension 0, without that dimension.
Value row(Conversion &c, Value x, int64_t i) {
  return c.e.reshape(c.sliceAlong(x, 0, i, i + 1), shapeOf(x).drop_front());
}

Value addRow(Conversion &c, Value x, Value vector) {
  return c.e.add(x, c.e.broadcast(vector, shapeOf(x), {1}));
}

/// h R^T plus the bias, for `count` gates of R from gate `first` on; h is `state`.
Value recur(Conversion &c, const Cell &cell, Value state, int64_t first, int64_t count) {
  int64_t start = first * cell.hidden, limit = (first + count) * cell.hidden;
  Value weights = c.sliceAlong(cell.recurrence, 0, start, limit);
  Value product = c.e.dot(state, weights, {}, {}, {1}, {1});
  if (!cell.recurrenceBias)
    return product;
  return addRow(c, product, c.sliceAlong(cell.recurrenceBias, 0, start, limit));
}

/// One LSTM step with gates in ONNX's order i, o, f, c. Replaces `memory`, the cell
/// state, by its next value.
Value stepLstm(Conversion &c, const Cell &cell, Value x, Value state, Value &memory) {
  Value all = c.e.add(x, recur(c, cell, state, 0, 4));
  auto gate = [&](int64_t i, unsigned activation, Value seen) {
    Value sum = gateOf(c, all, i, cell.hidden);
    if (cell.peepholes && seen) {
      Value weights = c.sliceAlong(cell.peepholes, 0, i * cell.hidden, (i + 1) * cell.hidden);
      sum = c.e.add(sum, c.e.mul(seen, c.e.broadcast(weights, shapeOf(seen), {1})));
    }
    return activate(c, cell, activation, sum);
  };
  Value input = gate(0, 0, memory);
  Value forget = cell.coupled ? c.e.sub(c.e.splatLike(input, 1), input) : gate(2, 0, memory);
  Value candidate = gate(3, 1, {});
  memory = c.e.add(c.e.mul(forget, memory), c.e.mul(input, candidate));
  Value output = gate(1, 0, memory);
  return c.e.mul(output, activate(c, cell, 2, memory));
}

/// One GRU step with gates in ONNX's order z, r, h.
Value stepGru(Conversion &c, const Cell &cell, Value x, Value state, bool linearBeforeReset) {
  Value gates = c.e.add(gateOf(c, x, 0, cell.hidden), recur(c, cell, state, 0, 1));
  Value update = activate(c, cell, 0, gates);
  Value reset =
      activate(c, cell, 0, c.e.add(gateOf(c, x, 1, cell.hidden), recur(c, cell, state, 1, 1)));
  Value fromState = linearBeforeReset ? c.e.mul(reset, recur(c, cell, state, 2, 1))
                                      : recur(c, cell, c.e.mul(reset, state), 2, 1);
  Value candidate = activate(c, cell, 1, c.e.add(gateOf(c, x, 2, cell.hidden), fromState));
  // (1 - z) h~ + z h = h~ + z (h - h~)
  return c.e.add(candidate, c.e.mul(update, c.e.sub(state, candidate)));
}

/// Checks that operand `i` has `shape`. The error has a hint if only the extent of
/// the batch dimension `batchDim` differs, because a static export fixes it.
LogicalResult checkShape(Conversion &c, unsigned i, ArrayRef<int64_t> expected,
                         std::optional<size_t> batchDim = {}) {
  if (!c.has(i) || shapeOf(c.operand(i)) == expected)
    return success();
  SmallVector<int64_t> shape(shapeOf(c.operand(i)));
  std::string message = "input " + std::to_string(i) + " has shape " + printed(shape) +
                        " but must have " + printed(expected);
  if (batchDim && shape.size() == expected.size()) {
    shape[*batchDim] = expected[*batchDim];
    if (ArrayRef<int64_t>(shape) == expected)
      message += bakedBatchHint;
  }
  return c.error(message);
}

/// Converts one LSTM, GRU or RNN node.
class Recurrence {
public:
  explicit Recurrence(Conversion &c)
      : c(c), lstm(c.node.opType == "LSTM"), gru(c.node.opType == "GRU"), gates(lstm  ? 4
                                                                                : gru ? 3
                                                                                      : 1),
        batchFirst(c.intAttr("layout")) {}

  LogicalResult convert();

private:
  LogicalResult readShapes();
  LogicalResult readSettings();
  Cell makeCell(int64_t d);
  LogicalResult walk(int64_t d);
  void giveResults();

  /// `value` with its first two dimensions exchanged if the node has the batch
  /// dimension first.
  Value swapped(Value value) {
    SmallVector<int64_t> permutation = range(0, rankOf(value));
    if (batchFirst && permutation.size() > 1)
      std::swap(permutation[0], permutation[1]);
    return c.e.transpose(value, permutation);
  }
  /// Concatenates tensors along their first dimension.
  Value join(ArrayRef<Value> tensors) {
    return tensors.size() == 1 ? tensors[0] : Value(c.e.make<nn::ConcatOp>(tensors, int64_t(0)));
  }
  /// The states of all directions as [directions, B, H].
  Value stack(ArrayRef<Value> states) {
    SmallVector<Value> rows;
    for (Value state : states)
      rows.push_back(c.e.reshape(state, {1, batch, hidden}));
    return join(rows);
  }

  Conversion &c;
  const bool lstm, gru;
  const int64_t gates;
  /// Layout 1 has the batch dimension first in all operands; this class puts time
  /// first.
  const bool batchFirst;
  Value x;
  int64_t steps = 0, batch = 0, hidden = 0, directions = 0;
  std::string direction;
  /// The activations of all directions, one direction after the other.
  SmallVector<Activation> activations;
  double clip = 0;
  bool coupled = false, linearBeforeReset = false;
  /// Null if every sequence lasts until the last step.
  Value lengths;
  /// `outputs` has for every step one tensor [B, H] per direction. `lastStates` has the
  /// last state of each direction, and `lastMemories` the last cell state.
  SmallVector<SmallVector<Value>> outputs;
  SmallVector<Value> lastStates, lastMemories;
};

LogicalResult Recurrence::readShapes() {
  x = c.operand(0);
  if (rankOf(x) != 3)
    return c.error("X has rank " + Twine(rankOf(x)) + " but must have 3");
  x = swapped(x);
  steps = shapeOf(x)[0], batch = shapeOf(x)[1];
  int64_t width = shapeOf(x)[2];
  if (steps < 1 || steps > kMaxSteps)
    return c.error("has " + Twine(steps) + " time steps but may have 1 to " + Twine(kMaxSteps));
  direction = c.stringAttr("direction");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return c.error("direction '" + direction + "' is not known");
  directions = direction == "bidirectional" ? 2 : 1;
  hidden = rankOf(c.operand(2)) == 3 ? shapeOf(c.operand(2))[2] : 0;
  if (c.intAttr("hidden_size", hidden) != hidden || hidden == 0)
    return c.error("R " + printed(shapeOf(c.operand(2))) + " does not fit hidden_size " +
                   Twine(c.intAttr("hidden_size", hidden)));
  if (failed(checkShape(c, 1, {directions, gates * hidden, width})) ||
      failed(checkShape(c, 2, {directions, gates * hidden, hidden})) ||
      failed(checkShape(c, 3, {directions, 2 * gates * hidden})) ||
      failed(checkShape(c, 4, {batch}, 0)) || failed(checkShape(c, 7, {directions, 3 * hidden})))
    return failure();
  for (unsigned i : {5u, 6u})
    if (failed(batchFirst ? checkShape(c, i, {batch, directions, hidden}, 0)
                          : checkShape(c, i, {directions, batch, hidden}, 1)))
      return failure();
  return success();
}

LogicalResult Recurrence::readSettings() {
  SmallVector<StringRef> usual = lstm  ? SmallVector<StringRef>{"Sigmoid", "Tanh", "Tanh"}
                                 : gru ? SmallVector<StringRef>{"Sigmoid", "Tanh"}
                                       : SmallVector<StringRef>{"Tanh"};
  activations = readActivations(c, directions, usual);
  clip = c.floatAttr("clip");
  coupled = c.intAttr("input_forget");
  linearBeforeReset = c.intAttr("linear_before_reset");
  if (c.failed)
    return failure();
  lengths = readLengths(c, steps);
  return c.failed ? failure() : success();
}

Cell Recurrence::makeCell(int64_t d) {
  Cell cell{steps, batch, hidden, gates, {}, row(c, c.operand(2), d), {}, {}};
  cell.clip = clip;
  cell.coupled = coupled;
  if (c.has(7))
    cell.peepholes = row(c, c.operand(7), d);
  size_t count = activations.size() / directions;
  cell.activations.assign(activations.begin() + d * count, activations.begin() + (d + 1) * count);
  cell.inputs = c.e.dot(x, row(c, c.operand(1), d), {}, {}, {2}, {1});
  if (c.has(3)) {
    Value biases = c.e.reshape(row(c, c.operand(3), d), {2, gates * hidden});
    cell.inputs = c.e.add(cell.inputs, c.e.broadcast(row(c, biases, 0), shapeOf(cell.inputs), {2}));
    cell.recurrenceBias = row(c, biases, 1);
  }
  return cell;
}

/// Runs direction `d` over all steps. After the end of a sequence, its state stays as it
/// is and its outputs are zeros. A backward pass over a shorter sequence keeps the
/// initial state, and gives zeros, until it reaches the last step of the sequence.
LogicalResult Recurrence::walk(int64_t d) {
  Cell cell = makeCell(d);
  auto stateType = RankedTensorType::get({batch, hidden}, nn::typeOf(x).getElementType());
  auto initial = [&](unsigned i) {
    return c.has(i) ? row(c, swapped(c.operand(i)), d) : c.e.splat(stateType, 0);
  };
  Value state = initial(5), memory = initial(6);
  bool backwards = direction == "reverse" || d == 1;
  for (int64_t i = 0; i < steps; ++i) {
    int64_t t = backwards ? steps - 1 - i : i;
    Value input = row(c, cell.inputs, t), before = state, kept = memory;
    if (lstm)
      state = stepLstm(c, cell, input, state, memory);
    else if (gru)
      state = stepGru(c, cell, input, state, linearBeforeReset);
    else
      state = activate(c, cell, 0, c.e.add(input, recur(c, cell, state, 0, 1)));
    if (c.failed)
      return failure();
    Value output = state;
    if (lengths) {
      Value goesOn =
          c.e.broadcast(c.e.compare(nn::Comparison::gt, lengths, double(t)), {batch, hidden}, {0});
      output = c.e.select(goesOn, state, c.e.splatLike(state, 0));
      state = c.e.select(goesOn, state, before);
      memory = c.e.select(goesOn, memory, kept);
    }
    outputs[t].push_back(output);
  }
  lastStates.push_back(state);
  lastMemories.push_back(memory);
  return success();
}

/// Sets the results of the node. In layout 0, the outputs have shape [T, directions,
/// B, H] and the states have shape [directions, B, H].
void Recurrence::giveResults() {
  if (c.wantsResult(0)) {
    SmallVector<Value> all;
    for (const SmallVector<Value> &at : outputs)
      all.push_back(c.e.reshape(stack(at), {1, directions, batch, hidden}));
    Value sequence = join(all);
    c.setResult(0, batchFirst ? c.e.transpose(sequence, {2, 0, 1, 3}) : sequence);
  }
  if (c.wantsResult(1))
    c.setResult(1, swapped(stack(lastStates)));
  if (lstm && c.wantsResult(2))
    c.setResult(2, swapped(stack(lastMemories)));
}

LogicalResult Recurrence::convert() {
  if (failed(readShapes()) || failed(readSettings()))
    return failure();
  outputs.resize(steps);
  for (int64_t d = 0; d < directions; ++d)
    if (failed(walk(d)))
      return failure();
  giveResults();
  return success();
}

LogicalResult convertRecurrent(Conversion &c) { return Recurrence(c).convert(); }

} // namespace

void dpc::onnx::registerRecurrentOps(Registry &registry) {
  registry.add("LSTM", convertRecurrent);
  registry.add("GRU", convertRecurrent);
  registry.add("RNN", convertRecurrent);
}
