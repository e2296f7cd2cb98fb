// Reconstructs the module's tensors from the tensors that the exporter computed from them
// by constant folding.
//
// The exporter records the names of the intermediate values (`folded_from`), and these
// names tell which operators ran.

#include "frontends/onnx/Restore/MetadataFinder.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace dpc::onnx {
namespace {

bool isKernel(const Node &node) { return node.is("Conv") || node.is("ConvTranspose"); }

/// Whether `name` belongs to a value that the exporter added itself.
bool isExporters(StringRef name) { return name.starts_with("val_") || name.starts_with("scalar"); }

const llvm::StringSet<> &repeats() {
  static const llvm::StringSet<> names = {"expand", "repeat", "tile", "expand_as",
                                          "repeat_interleave"};
  return names;
}

/// Operators that read rows of a table.
const llvm::StringSet<> &lookups() {
  static const llvm::StringSet<> names = {"embedding", "index", "index_select", "gather"};
  return names;
}

/// Operators whose results are floats that depend on the values of their operands. Such
/// an operator cannot be undone, and its result is never an index.
const llvm::StringSet<> &arithmetic() {
  static const llvm::StringSet<> names = {
      "linear",       "addmm",    "matmul", "mm",         "bmm",
      "einsum",       "sigmoid",  "tanh",   "exp",        "softmax",
      "relu",         "gelu",     "silu",   "layer_norm", "rsqrt",
      "softplus",     "conv1d",   "conv2d", "_softmax",   "sin",
      "cos",          "rms_norm", "sqrt",   "cat",        "linalg_vector_norm",
      "_weight_norm", "norm",     "stack"};
  return names;
}

/// Reconstructs the tensor to which the exporter added `addend` to compute `value`.
std::optional<Undone> undoAddition(const Tensor &value, double addend) {
  Derivation minus(1), plus(1);
  minus[0].kind = plus[0].kind = DerivationStep::Kind::Add;
  minus[0].addend = -addend;
  plus[0].addend = addend;
  std::optional<Tensor> parameter = derive(value, minus);
  if (!parameter)
    return std::nullopt;
  return Undone{{std::move(*parameter), std::move(plus)}, Doubt::None};
}

/// The exporter applied views to the module's tensor and then repeated the result.
/// `after` has this result (`parameter`) and the steps that repeat it. Undoes the views as
/// well, so that the returned steps lead from the module's tensor to the initializer.
Undone behind(Derived after, llvm::ArrayRef<View> lastOnes, llvm::ArrayRef<View> others,
              bool isKernel) {
  Undone undone = undoViews(after.parameter, lastOnes, others, isKernel);
  undone.derived.steps.insert(undone.derived.steps.end(), after.steps.begin(), after.steps.end());
  // A repetition may also have added leading dimensions.
  llvm::ArrayRef<int64_t> shape(undone.derived.parameter.shape);
  if (shape.size() > 1 && shape.front() == 1)
    undone.doubt = std::max(undone.doubt, Doubt::Shape);
  return undone;
}

} // namespace

/// Reconstructs the module's tensor from which the operand in `found` was computed. The
/// names of the intermediate values tell the operators between the two.
std::optional<Undone> MetadataFinder::invertFolded(const Identified &found) const {
  const Initializer &initializer = *found.at.initializer;
  const Tensor &value = initializer.tensor;
  const Node &node = graph.nodes[found.at.node];
  // `last` is the argument that the call takes. `lastOnes` are the views by which the
  // exporter adapted this argument to its nodes.
  std::string last = initializer.name;
  std::vector<std::string> names = foldedFrom(initializer);
  std::vector<View> lastOnes;
  const FxCall call = parseFxCall(node.metadata(kFxNode)).value_or(FxCall());
  const bool isState = isRecurrent(call);
  if (llvm::is_contained(names, found.argument)) {
    bool isProduct = call.op == "linear" && node.is("MatMul");
    if (isProduct)
      lastOnes.push_back({ViewKind::Swap, 0});
    else if (!isState)
      return std::nullopt;
    last = found.argument;
  } else if (!found.argument.empty() && (isState || signature.findTarget(last))) {
    last = found.argument; // the argument was merged with an equal tensor
  }
  StringRef stem = stemOf(last);
  bool looksUp = lookups().contains(stem), repeatsIt = false, computes = false;
  size_t others = 0, scalars = 0;
  double addend = 1;
  std::vector<View> before;
  for (const std::string &name : names) {
    if (isParameter(name) || name == last)
      continue;                           // the parameter itself, or the equal tensor that the
                                          // exporter kept
    others += stemOf(name) != "_to_copy"; // a cast, such as weight.float()
    scalars += isExporters(name);
    if (const Initializer *scalar = inFile(name); scalar && scalar->tensor.numElements() == 1)
      addend = scalar->tensor.asDouble(0);
    StringRef each = stemOf(name);
    looksUp |= lookups().contains(each);
    repeatsIt |= repeats().contains(each);
    if (arithmetic().contains(each))
      return std::nullopt;
    if (StringRef(name).starts_with("val_") || inFile(name) || signature.findTarget(name) ||
        repeats().contains(each) || lookups().contains(each))
      continue;
    before.push_back(asView(name));
    computes |= before.back().kind == ViewKind::None;
  }
  if (stem == "add" && others == 1 && scalars == 1)
    return undoAddition(value, addend);
  if (stem == "embedding" && !value.shape.empty()) {
    if (isSplat(value))
      return std::nullopt;
    return Undone{distinctRows(value, 1), Doubt::None};
  }
  if (repeats().contains(stem) && !looksUp && !computes)
    return behind(collapseRepeated(value, isState ? 1 : 0), lastOnes, before, isKernel(node));
  View final = asView(last);
  if (final.kind == ViewKind::None && !lookups().contains(stem) && !repeats().contains(stem))
    return std::nullopt;
  if (looksUp || repeatsIt) {
    std::optional<Derived> table = distinctRowsAnywhere(value);
    return table ? std::optional(Undone{std::move(*table), Doubt::None}) : std::nullopt;
  }
  if (computes)
    return std::nullopt;
  lastOnes.push_back(final);
  return undoViews(value, lastOnes, before, isKernel(node));
}

/// Reconstructs the weight W of a bilinear layer, `y = x1^T W x2`. The exporter writes W
/// as [in1, out * in2]. The shape to which the product is reshaped gives the extents out
/// and in2.
std::optional<Undone> MetadataFinder::invertBilinear(const Identified &found) const {
  const Tensor &value = found.at.initializer->tensor;
  for (const Use &use : graph.values[graph.nodes[found.at.node].output(0)].uses) {
    const Node &reshape = graph.nodes[use.node];
    const Initializer *shape =
        reshape.is("Reshape") ? graph.initializerOf(reshape.input(1)) : nullptr;
    if (!shape || shape->tensor.type != ElementType::I64 || shape->tensor.numElements() < 2 ||
        value.shape.size() != 2)
      continue;
    llvm::ArrayRef<int64_t> extents = shape->tensor.as<int64_t>();
    int64_t out = extents[extents.size() - 2], second = extents.back();
    if (out < 1 || second < 1 || out * second != value.shape[1])
      continue;
    Derivation undo(2), steps(2);
    undo[0].kind = steps[1].kind = DerivationStep::Kind::Reshape;
    undo[0].dims = {value.shape[0], out, second};
    steps[1].dims = value.shape;
    undo[1].kind = steps[0].kind = DerivationStep::Kind::Transpose;
    undo[1].dims = steps[0].dims = {1, 0, 2};
    if (std::optional<Tensor> parameter = derive(value, undo))
      return Undone{{std::move(*parameter), std::move(steps)}, Doubt::None};
  }
  return Undone{{value, {}}, Doubt::Order};
}

/// Whether the call multiplies an operand with a number in its arguments: add(x, w,
/// alpha=0.1), addcmul(.., value=0.5), lerp(x, w, 0.25).
static bool scalesOperands(StringRef op, StringRef text) {
  return op == "lerp" || text.contains("{alpha: ") || text.contains(", alpha: ") ||
         text.contains("beta: ") || text.contains("{value: ");
}

/// Reconstructs the tensor if it is an argument of the call itself. The operand of the
/// ONNX node may be a view of the tensor, e.g. the transpose.
std::optional<Undone> MetadataFinder::invertArgument(const Identified &found) const {
  const Tensor &value = found.at.initializer->tensor;
  const Node &node = graph.nodes[found.at.node];
  const FxCall call = parseFxCall(node.metadata(kFxNode)).value_or(FxCall());
  StringRef op = call.op;
  Derivation steps(1);
  if (op == "linear" && node.is("MatMul") && value.shape.size() == 2) {
    steps[0].kind = DerivationStep::Kind::Transpose;
    steps[0].dims = {1, 0};
    return Undone{{*derive(value, steps), steps}, Doubt::None};
  }
  bool isPerChannel = op == "prelu" || op.ends_with("_norm");
  if (isPerChannel && value.shape.size() > 1 &&
      llvm::count_if(value.shape, [](int64_t each) { return each != 1; }) <= 1) {
    Derivation flat(1);
    flat[0].kind = steps[0].kind = DerivationStep::Kind::Reshape;
    flat[0].dims = {value.numElements()};
    steps[0].dims = value.shape;
    return Undone{{*derive(value, flat), steps}, Doubt::None};
  }
  bool isFolded = !foldedFrom(*found.at.initializer).empty();
  if (isFolded && scalesOperands(op, node.metadata(kFxNode)))
    return std::nullopt;
  if (op == "bilinear" && isFolded)
    return invertBilinear(found);
  // The exporter's decomposition exchanges dimensions of the keys.
  if (op.starts_with("scaled_dot_product") && isFolded)
    return Undone{{value, {}}, Doubt::Order};
  return Undone{{value, {}}, Doubt::None};
}

std::optional<Undone> MetadataFinder::invert(const Identified &found) const {
  return found.isArgument ? invertArgument(found) : invertFolded(found);
}

/// Whether the exporter merged a transposed matrix with another matrix of equal values.
/// The call names the transposed matrix (`permute_1`), but the node reads the other one.
bool MetadataFinder::isMovedView(const Identified &found) const {
  const Tensor &value = found.at.initializer->tensor;
  ViewKind kind = viewKindOf(found.argument);
  Derivation exchange(1);
  exchange[0].kind = DerivationStep::Kind::Transpose;
  exchange[0].dims = {1, 0};
  return !found.isArgument && found.at.initializer->name != found.argument &&
         signature.findTarget(found.at.initializer->name) && value.shape.size() == 2 &&
         (kind == ViewKind::Swap || kind == ViewKind::Exchange || kind == ViewKind::Permute) &&
         isSame(*derive(value, exchange), value);
}

} // namespace dpc::onnx
