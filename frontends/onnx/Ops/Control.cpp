// Imports ONNX If, Loop and Scan.
//
// The MLIR modules that the importer makes have no control flow. Once shapes are known,
// most conditions and trip counts are constants. So the importer converts only the branch
// that is taken. It unrolls each loop that it cannot convert as one batch
// (BatchedLoop.h). A condition or trip count that depends on data is an error.

#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Ops/BatchedLoop.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// The largest number of nodes that one loop may be unrolled to.
constexpr int64_t kMaxUnrolledNodes = 100000;

Value boolConstant(Conversion &c, bool value) {
  return c.e.splat(RankedTensorType::get({}, c.builder.getI1Type()), value);
}

LogicalResult convertIf(Conversion &c) {
  bool holds = c.scalarInt(0, "the condition") != 0;
  if (c.failed)
    return failure();
  const Subgraph *branch = c.subgraph(holds ? "then_branch" : "else_branch");
  SmallVector<Imported> outputs;
  if (!branch || failed(c.convertSubgraph(*branch, {}, outputs)))
    return failure();
  if (outputs.size() != c.node.outputs.size())
    return c.error("its branch has " + Twine(outputs.size()) + " outputs but the node has " +
                   Twine(c.node.outputs.size()));
  for (auto [i, output] : llvm::enumerate(outputs))
    c.setResult(unsigned(i), output);
  return success();
}

/// Element `i` of `x` along `axis`, without that dimension.
Value elementAlong(Conversion &c, Value x, int64_t axis, int64_t i) {
  SmallVector<int64_t> shape(shapeOf(x));
  shape.erase(shape.begin() + axis);
  return c.e.reshape(c.sliceAlong(x, axis, i, i + 1), shape);
}

/// Stacks `elements` of one shape along a new dimension `axis`; null after an
/// error.
Value stackAlong(Conversion &c, ArrayRef<Value> elements, int64_t axis) {
  SmallVector<Value> parts;
  for (Value element : elements) {
    if (element.getType() != elements.front().getType()) {
      (void)c.error("iterations give results of different shapes, " +
                    printed(shapeOf(elements.front())) + " and " + printed(shapeOf(element)));
      return {};
    }
    SmallVector<int64_t> shape(shapeOf(element));
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(c.e.reshape(element, shape));
  }
  return parts.size() == 1 ? parts[0] : Value(c.e.make<nn::ConcatOp>(parts, axis));
}

/// Fails if the loop needs more than kMaxUnrolledNodes nodes. `before` is the number
/// of converted nodes when the loop began. The limit also counts the nodes of inner
/// loops.
LogicalResult checkUnrolled(Conversion &c, const Subgraph &body, int64_t before,
                            int64_t iterations) {
  int64_t nodes = std::max<int64_t>(int64_t(body.nodes.size()), 1);
  if (iterations <= kMaxUnrolledNodes / nodes &&
      c.convertedNodes() - before + nodes <= kMaxUnrolledNodes)
    return success();
  return c.error("unrolls to more than " + Twine(kMaxUnrolledNodes) + " nodes");
}

/// Whether the condition that `body` returns is its condition input or the constant true.
/// If so, only the trip count ends the loop.
bool alwaysGoesOn(Conversion &c, const Subgraph &body) {
  ValueId condition = body.outputs[0];
  for (const Node &node : llvm::reverse(body.nodes)) {
    if (node.output(0) != condition)
      continue;
    if (!node.is("Identity") && !node.is("Cast"))
      return false;
    condition = node.input(0);
  }
  if (condition == body.inputs[1])
    return true;
  const Tensor *constant = c.constantOf(condition);
  return constant && constant->numElements() == 1 && constant->asInt(0) != 0;
}

/// Converts a Loop. Its inputs are the trip count, the condition and the carried values.
/// The body takes (iteration, condition, carried values) and gives (condition, carried
/// values, elements to stack).
LogicalResult convertLoop(Conversion &c) {
  const Subgraph *body = c.subgraph("body");
  if (!body)
    return failure();
  size_t carriedCount = c.numOperands() > 2 ? c.numOperands() - 2 : 0;
  if (body->inputs.size() != carriedCount + 2 || body->outputs.size() < carriedCount + 1 ||
      c.node.outputs.size() != body->outputs.size() - 1)
    return c.error("carries " + Twine(carriedCount) + " values but its body has " +
                   Twine(body->inputs.size()) + " inputs and " + Twine(body->outputs.size()) +
                   " outputs");
  if (convertBatchedLoop(c, *body))
    return success();
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (c.has(0))
    trips = c.scalarInt(0, "the trip count");
  bool goes = !c.has(1) || c.scalarInt(1, "the condition") != 0;
  if (c.failed)
    return failure();
  SmallVector<Imported> carried;
  for (unsigned i = 2; i < c.numOperands(); ++i) {
    carried.push_back(c.imported(i));
  }
  SmallVector<SmallVector<Value>> stacked(body->outputs.size() - 1 - carriedCount);
  const int64_t before = c.convertedNodes();
  if (c.has(0) && goes && alwaysGoesOn(c, *body) && failed(checkUnrolled(c, *body, before, trips)))
    return failure();
  for (int64_t i = 0; i < trips && goes; ++i) {
    if (failed(checkUnrolled(c, *body, before, i + 1)))
      return failure();
    SmallVector<Imported> inputs{{c.intConstant({}, {i}), {}}, {boolConstant(c, true), {}}},
        outputs;
    inputs.append(carried);
    if (failed(c.convertSubgraph(*body, inputs, outputs)))
      return failure();
    std::optional<SmallVector<int64_t>> condition = constantInts(outputs[0].tensor);
    if (!condition || condition->size() != 1)
      return c.error("its condition is computed from data, which is not "
                     "supported");
    goes = condition->front() != 0;
    for (size_t k = 0; k < carriedCount; ++k)
      carried[k] = outputs[1 + k];
    for (size_t k = 0; k < stacked.size(); ++k) {
      if (!outputs[1 + carriedCount + k].tensor)
        return c.error("its body gives a sequence to stack, which is not "
                       "supported");
      stacked[k].push_back(outputs[1 + carriedCount + k].tensor);
    }
  }
  for (auto [i, value] : llvm::enumerate(carried))
    c.setResult(unsigned(i), value);
  for (auto [k, elements] : llvm::enumerate(stacked)) {
    unsigned result = unsigned(carriedCount + k);
    if (!c.wantsResult(result))
      continue;
    if (elements.empty())
      return c.error("output " + Twine(result) + " has no elements: the loop never runs");
    c.setResult(result, stackAlong(c, elements, 0));
  }
  return c.failed ? failure() : success();
}

/// The form of a Scan node: how many states, sequences to scan and stacked results it
/// has, and its trip count. Each sequence and each result has an axis and a direction
/// (forwards or backwards).
struct ScanShape {
  int64_t states, scans, results, trips = -1;
  SmallVector<int64_t> inAxes, inReversed, outAxes, outReversed;
};

/// The `count` integers of attribute `name`; zeros if the attribute is absent.
SmallVector<int64_t> readInts(Conversion &c, StringRef name, int64_t count) {
  SmallVector<int64_t> values = c.intsAttr(name);
  if (!c.hasAttr(name))
    values.assign(count, 0);
  if (int64_t(values.size()) != count && !c.failed)
    (void)c.error(name + " has " + Twine(values.size()) + " elements but must have " +
                  Twine(count));
  return values;
}

LogicalResult readScan(Conversion &c, const Subgraph &body, ScanShape &scan) {
  scan.scans = c.intAttr("num_scan_inputs");
  if (c.failed)
    return failure();
  scan.states = int64_t(c.numOperands()) - scan.scans;
  scan.results = int64_t(body.outputs.size()) - scan.states;
  if (scan.scans < 1 || scan.states < 0 || scan.results < 0 ||
      body.inputs.size() != c.numOperands() || c.node.outputs.size() != body.outputs.size())
    return c.error("has " + Twine(c.numOperands()) + " inputs and walks " + Twine(scan.scans) +
                   " but its body has " + Twine(body.inputs.size()) + " inputs and " +
                   Twine(body.outputs.size()) + " outputs");
  scan.inAxes = readInts(c, "scan_input_axes", scan.scans);
  scan.inReversed = readInts(c, "scan_input_directions", scan.scans);
  scan.outAxes = readInts(c, "scan_output_axes", scan.results);
  scan.outReversed = readInts(c, "scan_output_directions", scan.results);
  if (c.failed)
    return failure();
  for (int64_t k = 0; k < scan.scans; ++k) {
    Value sequence = c.operand(unsigned(scan.states + k));
    scan.inAxes[k] = c.normalizeAxis(scan.inAxes[k], rankOf(sequence));
    if (c.failed)
      return failure();
    int64_t extent = shapeOf(sequence)[scan.inAxes[k]];
    if (scan.trips >= 0 && scan.trips != extent)
      return c.error("walks extents " + Twine(scan.trips) + " and " + Twine(extent) + " together");
    scan.trips = extent;
  }
  return success();
}

/// Stacks the elements of result `k`. `elements` has one element per iteration, in
/// the order of the iterations.
LogicalResult stackResult(Conversion &c, const ScanShape &scan, int64_t k,
                          SmallVector<Value> &elements) {
  unsigned result = unsigned(scan.states + k);
  if (!c.wantsResult(result))
    return success();
  if (elements.empty())
    return c.error("walks no elements");
  if (scan.outReversed[k])
    std::reverse(elements.begin(), elements.end());
  int64_t axis = c.normalizeAxis(scan.outAxes[k], rankOf(elements.front()) + 1);
  if (c.failed)
    return failure();
  c.setResult(result, stackAlong(c, elements, axis));
  return success();
}

/// Converts a Scan. Its inputs are the state, and then the sequences to scan, each along
/// an axis. The body takes (state, one element of each sequence) and gives (state, one
/// element of each result).
LogicalResult convertScan(Conversion &c) {
  const Subgraph *body = c.subgraph("body");
  ScanShape scan;
  if (!body || failed(readScan(c, *body, scan)))
    return failure();
  SmallVector<Value> state;
  for (int64_t i = 0; i < scan.states; ++i)
    state.push_back(c.operand(unsigned(i)));
  SmallVector<SmallVector<Value>> stacked(scan.results);
  const int64_t before = c.convertedNodes();
  if (failed(checkUnrolled(c, *body, before, scan.trips)))
    return failure();
  for (int64_t i = 0; i < scan.trips; ++i) {
    if (failed(checkUnrolled(c, *body, before, i + 1)))
      return failure();
    SmallVector<Imported> inputs, outputs;
    for (Value each : state)
      inputs.push_back({each, {}});
    for (int64_t k = 0; k < scan.scans; ++k)
      inputs.push_back({elementAlong(c, c.operand(unsigned(scan.states + k)), scan.inAxes[k],
                                     scan.inReversed[k] ? scan.trips - 1 - i : i),
                        {}});
    if (failed(c.convertSubgraph(*body, inputs, outputs)))
      return failure();
    if (llvm::any_of(outputs, [](const Imported &each) { return !each.tensor; }))
      return c.error("its body gives a sequence, which is not supported");
    for (int64_t k = 0; k < scan.states; ++k)
      state[k] = outputs[k].tensor;
    for (int64_t k = 0; k < scan.results; ++k)
      stacked[k].push_back(outputs[scan.states + k].tensor);
  }
  for (auto [i, value] : llvm::enumerate(state))
    c.setResult(unsigned(i), value);
  for (int64_t k = 0; k < scan.results; ++k)
    if (failed(stackResult(c, scan, k, stacked[k])))
      return failure();
  return c.failed ? failure() : success();
}

} // namespace

void dpc::onnx::registerControlOps(Registry &registry) {
  registry.add("If", convertIf);
  registry.add("Loop", convertLoop);
  registry.add("Scan", convertScan);
}
