// Finds what a tensor was before the exporter computed with it.
//
// The names of the values on the way (`folded_from`) say which operators ran.

#include "frontends/onnx/Restore/MetadataFinder.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace dpc::onnx {

/// The module's tensor behind a computed one, from the names of what was
/// computed on the way.
std::optional<Derived> MetadataFinder::invertFolded(const Initializer &initializer) const {
  static const llvm::StringSet<> views = {
      "_to_copy", "alias",   "detach",       "clone",   "contiguous",
      "view",     "reshape", "_unsafe_view", "permute", "transpose",
      "t",        "squeeze", "unsqueeze",    "flatten", "unflatten",
      "movedim",  "type_as", "to",           "slice",   "select",
      "narrow",   "split",   "getitem",      "chunk",   "split_with_sizes"};
  static const llvm::StringSet<> repeats = {"expand", "repeat", "tile", "expand_as",
                                            "repeat_interleave"};
  static const llvm::StringSet<> lookups = {"embedding", "index", "index_select", "gather"};
  // What only computes numbers that are differentiated, never places.
  static const llvm::StringSet<> arithmetic = {
      "linear",       "addmm",    "matmul", "mm",         "bmm",
      "einsum",       "sigmoid",  "tanh",   "exp",        "softmax",
      "relu",         "gelu",     "silu",   "layer_norm", "rsqrt",
      "softplus",     "conv1d",   "conv2d", "_softmax",   "sin",
      "cos",          "rms_norm", "sqrt",   "cat",        "linalg_vector_norm",
      "_weight_norm", "norm",     "stack"};
  const Tensor &value = initializer.tensor;
  StringRef stem = stemOf(initializer.name);
  bool looksUp = lookups.contains(stem), repeatsIt = false, computes = false;
  size_t others = 0, scalars = 0;
  double addend = 1;
  for (const std::string &name : foldedFrom(initializer)) {
    if (isParameter(name))
      continue; // The one parameter, or its equal that the exporter kept.
    ++others;
    scalars += StringRef(name).starts_with("val_") || StringRef(name).starts_with("scalar");
    if (const Initializer *scalar = inFile(name); scalar && scalar->tensor.numElements() == 1)
      addend = scalar->tensor.asDouble(0);
    StringRef each = stemOf(name);
    looksUp |= lookups.contains(each);
    repeatsIt |= repeats.contains(each);
    if (arithmetic.contains(each))
      return std::nullopt;
    computes |= !StringRef(name).starts_with("val_") && !inFile(name) &&
                !signature.findTarget(name) && !views.contains(each) && !repeats.contains(each) &&
                !lookups.contains(each);
  }
  if (stem == "add" && others == 1 && scalars == 1) {
    Derivation minus(1), plus(1);
    minus[0].kind = plus[0].kind = DerivationStep::Kind::Add;
    minus[0].addend = -addend;
    plus[0].addend = addend;
    std::optional<Tensor> parameter = derive(value, minus);
    if (!parameter)
      return std::nullopt;
    return Derived{std::move(*parameter), std::move(plus)};
  }
  if (stem == "embedding" && value.shape.size() > 0) {
    if (isSplat(value))
      return std::nullopt;
    return distinctRows(value, 1);
  }
  if (repeats.contains(stem) && !looksUp && !computes)
    return collapseRepeated(value);
  if (!views.contains(stem) && !lookups.contains(stem) && !repeats.contains(stem))
    return std::nullopt;
  if (looksUp || repeatsIt)
    return distinctRowsAnywhere(value);
  if (computes)
    return std::nullopt;
  return Derived{value, {}};
}

std::optional<Derived> MetadataFinder::invert(const Identified &found) const {
  const Tensor &value = found.at.initializer->tensor;
  if (!found.isArgument)
    return invertFolded(*found.at.initializer);
  // The call takes the tensor itself; ONNX's operand may be another view.
  const Node &node = graph.nodes[found.at.node];
  const FxCall call = parseFxCall(node.metadata(kFxNode)).value_or(FxCall());
  StringRef op = call.op;
  Derivation steps(1);
  if (op == "linear" && node.is("MatMul") && value.shape.size() == 2) {
    steps[0].kind = DerivationStep::Kind::Transpose;
    steps[0].dims = {1, 0};
    return Derived{*derive(value, steps), steps};
  }
  bool isPerChannel = op == "prelu" || op.ends_with("_norm");
  if (isPerChannel && value.shape.size() > 1 &&
      llvm::count_if(value.shape, [](int64_t each) { return each != 1; }) <= 1) {
    Derivation flat(1);
    flat[0].kind = steps[0].kind = DerivationStep::Kind::Reshape;
    flat[0].dims = {value.numElements()};
    steps[0].dims = value.shape;
    return Derived{*derive(value, flat), steps};
  }
  return Derived{value, {}};
}

} // namespace dpc::onnx
