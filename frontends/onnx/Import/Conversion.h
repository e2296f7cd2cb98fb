// The interface of converters: one ONNX node, its operands, and helpers to build
// `nn` ops.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_CONVERSION_H
#define DPC_FRONTENDS_ONNX_IMPORT_CONVERSION_H

#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/IR/Loss.h"
#include "dialects/NN/IR/Normalization.h"
#include "dialects/NN/IR/Pooling.h"
#include "dialects/NN/IR/Random.h"
#include "frontends/onnx/Model/Graph.h"
#include "frontends/onnx/Model/Schema.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <optional>

namespace dpc::onnx {

/// The nn form of an ONNX value: a tensor, or the tensors of a sequence.
struct Imported {
  mlir::Value tensor;
  llvm::SmallVector<mlir::Value> sequence;
};

/// The nn value of each ONNX value converted so far, and the import options that
/// converters need. Owned by the importer.
class ImportState {
public:
  virtual ~ImportState() = default;
  /// The nn value of `id`: a function argument, a constant or the result of a converted
  /// node. Null if `id` is a sequence.
  virtual mlir::Value valueOf(ValueId id) = 0;
  /// The graph that is imported. Converters read from it the metadata of nodes, the uses
  /// of values, and initializers.
  virtual const Graph &getGraph() const = 0;
  /// The element type in the MLIR module for ONNX type `type`. With
  /// ImportOptions::widensHalves it is F32 for a 16-bit float.
  virtual ElementType computedType(ElementType type) const = 0;
  /// The tensors of the sequence `id`, e.g. of the result of a SplitToSequence; nullptr
  /// if `id` is no sequence.
  virtual const llvm::SmallVector<mlir::Value> *sequenceOf(ValueId id) const = 0;
  /// Declares `value` to be the next value of the buffer that initializer `id`
  /// holds. A later call for the same buffer replaces an earlier one.
  virtual void setNextState(ValueId id, mlir::Value value) = 0;
  /// The next value of the buffer, if a node converted so far has set it; else null.
  virtual mlir::Value getNextState(ValueId id) const = 0;
  /// The stream number of the next random operator. Streams are numbered in the order of
  /// conversion, so the numbers do not depend on how many nodes for shapes the exporter
  /// wrote. A loop that is unrolled converts its operators once per iteration, and each
  /// time they get new numbers.
  virtual int64_t randomStream() = 0;
  /// Converts the nodes of `subgraph` with its inputs bound to `inputs`, and appends its
  /// outputs to `outputs`; fails after an error. An unrolled loop calls this once per
  /// iteration.
  virtual mlir::LogicalResult convertSubgraph(const Subgraph &subgraph,
                                              llvm::ArrayRef<Imported> inputs,
                                              llvm::SmallVectorImpl<Imported> &outputs) = 0;
  /// Converts `node` alone. `operands` replace its inputs (null for omitted
  /// inputs). Gives its results in `nodeResults`; fails after an error.
  virtual mlir::LogicalResult convertNode(const Node &node, llvm::ArrayRef<mlir::Value> operands,
                                          llvm::SmallVectorImpl<mlir::Value> &nodeResults) = 0;
  /// The tensor of the file's constant `id`; nullptr if `id` is not a constant. A large
  /// constant has a tensor too, although it is an argument of the function and not an
  /// nn.constant.
  virtual const Tensor *constantOf(ValueId id) const = 0;
  /// The number of nodes converted so far.
  virtual int64_t convertedNodes() const = 0;
};

/// The MLIR type of ONNX element type `type`.
mlir::Type convertElementType(mlir::MLIRContext *context, ElementType type);

/// Suffix of messages about shapes that do not fit each other. A static export fixes the
/// batch size in some shapes of the file. They no longer fit if --shape gives another
/// batch size.
inline constexpr llvm::StringLiteral bakedBatchHint =
    " (a batch size baked into the export? "
    "torch.onnx.export(..., dynamic_shapes=...) keeps it open)";

/// The context of one converter call: a node, its operands as nn values, and a
/// builder at the insertion point.
///
/// The node fits its schema: attributes have their types, and required inputs and
/// attributes are present. If an operand is not constant, the getters of constants report
/// an error themselves and return a default value. The importer then stops after the
/// node. So a converter need not check the result of each getter. It returns `failure()`
/// only for its own errors, which it reports by `error`.
class Conversion {
public:
  Conversion(const Node &node, const Schema &schema, mlir::OpBuilder &builder, mlir::Location loc,
             ImportState &state)
      : node(node), schema(schema), builder(builder), loc(loc), e{builder, loc},
        results(node.outputs.size()), state(state) {}

  const Node &node;
  /// The schema of the node's operator at its opset. The node has been checked
  /// against it.
  const Schema &schema;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  nn::Expressions e;

  /// Reports "node 'x' (Op, opset 17): message".
  mlir::LogicalResult error(const llvm::Twine &message);

  unsigned numOperands() const { return static_cast<unsigned>(node.inputs.size()); }
  bool has(unsigned operand) const { return node.input(operand) != kNoValue; }
  bool wantsResult(unsigned result) const { return node.output(result) != kNoValue; }
  /// Whether another node or an output of the model reads the result.
  bool isUsed(unsigned result) const;
  /// Operand `i`, which must be given (arity is checked before conversion).
  mlir::Value operand(unsigned i) { return state.valueOf(node.inputs[i]); }
  /// The elements of integer operand `i`; nullopt if they are not known at compile
  /// time.
  std::optional<llvm::SmallVector<int64_t>> tryInts(unsigned i);
  /// Like tryInts, but reports an error if the operand is not known at compile time. The
  /// message calls the operand `what`.
  llvm::SmallVector<int64_t> ints(unsigned i, llvm::StringRef what);
  int64_t scalarInt(unsigned i, llvm::StringRef what);
  /// The elements of a float (or integer) operand; nullopt if they are not known at
  /// compile time.
  std::optional<llvm::SmallVector<double>> tryDoubles(unsigned i);

  bool hasAttr(llvm::StringRef name) const { return node.attributes.count(name.str()) != 0; }
  /// An omitted attribute has the default of its schema, or `fallback` if the
  /// schema has no default or no such attribute.
  int64_t intAttr(llvm::StringRef name, int64_t fallback = 0) const;
  double floatAttr(llvm::StringRef name, double fallback = 0) const;
  std::string stringAttr(llvm::StringRef name, llvm::StringRef fallback = "") const;
  llvm::SmallVector<int64_t> intsAttr(llvm::StringRef name) const;
  llvm::SmallVector<double> floatsAttr(llvm::StringRef name) const;
  llvm::SmallVector<std::string> stringsAttr(llvm::StringRef name) const;
  /// The value of an attribute that the schema lists as optional but that this node
  /// needs. Reports an error if the attribute is absent.
  int64_t requiredInt(llvm::StringRef name);

  /// `axis` counted from the front, e.g. 2 for axis -1 of rank 3. Reports an error if
  /// `axis` is outside [-rank, rank).
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// `axes` counted from the front and sorted. Reports an error if an axis is out of
  /// range or is given twice.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);
  /// The axes of a reduction or squeeze. They are operand `i` in opsets in which axes are
  /// an input, else attribute "axes". nullopt if the node gives no axes.
  std::optional<llvm::SmallVector<int64_t>> axes(unsigned i);

  /// `values` broadcast to one shape by ONNX's (numpy's) rule; empty after an
  /// error.
  llvm::SmallVector<mlir::Value> broadcastTogether(llvm::ArrayRef<mlir::Value> values);
  /// `value` broadcast to `shape`; null after an error.
  mlir::Value broadcastTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Operands 0 and 1, broadcast to one shape; both null after an error.
  std::pair<mlir::Value, mlir::Value> binary();
  /// Elements [start, limit) of dimension `axis`; `value` itself if the range
  /// covers the dimension.
  mlir::Value sliceAlong(mlir::Value value, int64_t axis, int64_t start, int64_t limit);
  /// A float constant that keeps its precision if a later pass widens f32 to f64. If f32
  /// cannot hold a number exactly, a second constant adds the rounding error.
  mlir::Value exactConstant(const HostTensor &values);
  /// `value` broadcast to the shape of `like`, in the precision of exactConstant.
  mlir::Value exactLike(mlir::Value like, double value);
  /// A dense constant of int64 elements.
  mlir::Value intConstant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> elements);

  void setResult(unsigned i, mlir::Value value) {
    if (i < results.size())
      results[i] = value;
  }
  mlir::LogicalResult done(mlir::Value value) {
    setResult(0, value);
    return mlir::success(value != nullptr);
  }
  /// The tensors of operand `i`, a sequence; nullptr after an error.
  const llvm::SmallVector<mlir::Value> *sequence(unsigned i) {
    const llvm::SmallVector<mlir::Value> *elements = state.sequenceOf(node.inputs[i]);
    if (!elements)
      (void)error("input " + llvm::Twine(i) + " is not a sequence known at compile time");
    return elements;
  }
  /// Operand `i`, a tensor or a sequence.
  Imported imported(unsigned i) {
    const llvm::SmallVector<mlir::Value> *elements = state.sequenceOf(node.inputs[i]);
    return elements ? Imported{{}, *elements} : Imported{operand(i), {}};
  }
  void setResult(unsigned i, Imported value) {
    if (i >= results.size())
      return;
    results[i] = value.tensor;
    if (!value.tensor)
      sequenceResults[i] = std::move(value.sequence);
  }
  /// Makes result 0 a sequence.
  mlir::LogicalResult doneSequence(llvm::SmallVector<mlir::Value> elements) {
    sequenceResults[0] = std::move(elements);
    return mlir::success();
  }
  void setNextState(ValueId buffer, mlir::Value value) { state.setNextState(buffer, value); }
  mlir::Value getNextState(ValueId buffer) const { return state.getNextState(buffer); }
  const Graph &graph() const { return state.getGraph(); }
  /// The type in the MLIR module for elements of ONNX type `type`.
  mlir::Type elementType(ElementType type) const {
    return convertElementType(builder.getContext(), state.computedType(type));
  }
  int64_t randomStream() { return state.randomStream(); }
  /// The subgraph that `attribute` holds; nullptr after an error.
  const Subgraph *subgraph(llvm::StringRef attribute);
  /// See ImportState::convertSubgraph. An error in the subgraph names the inner
  /// node.
  mlir::LogicalResult convertSubgraph(const Subgraph &subgraph, llvm::ArrayRef<Imported> inputs,
                                      llvm::SmallVectorImpl<Imported> &outputs) {
    failed |= mlir::failed(state.convertSubgraph(subgraph, inputs, outputs));
    return mlir::failure(failed);
  }
  /// The context for converting `inner`, a node that computes a part of this node.
  Conversion inside(const Node &inner) {
    return Conversion(inner, *Schema::find(inner.opType, inner.opset), builder, loc, state);
  }
  /// See ImportState::convertNode.
  mlir::LogicalResult convertNode(const Node &inner, llvm::ArrayRef<mlir::Value> operands,
                                  llvm::SmallVectorImpl<mlir::Value> &nodeResults) {
    return state.convertNode(inner, operands, nodeResults);
  }
  mlir::Value valueOf(ValueId id) { return state.valueOf(id); }
  const llvm::SmallVector<mlir::Value> *sequenceOf(ValueId id) const {
    return state.sequenceOf(id);
  }
  const Tensor *constantOf(ValueId id) const { return state.constantOf(id); }
  int64_t convertedNodes() const { return state.convertedNodes(); }
  /// Calls `make` and returns whether it succeeds. If it fails, its ops and its
  /// diagnostics are discarded, so that the caller can convert the node in another way.
  bool attempt(llvm::function_ref<mlir::LogicalResult()> make);

  llvm::SmallVector<mlir::Value> results;
  std::map<unsigned, llvm::SmallVector<mlir::Value>> sequenceResults;
  /// Whether a getter has reported an error.
  bool failed = false;

private:
  const onnxpb::AttributeProto *attribute(llvm::StringRef name) const;
  /// The schema's default of type T, or `fallback`.
  template <typename T> T defaultOf(llvm::StringRef name, const T &fallback) const {
    const Schema::Attribute *formal = schema.attribute(name);
    const T *value = formal ? std::get_if<T>(&formal->fallback) : nullptr;
    return value ? *value : fallback;
  }
  ImportState &state;
};

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return nn::typeOf(value).getShape(); }
inline int64_t rankOf(mlir::Value value) { return nn::typeOf(value).getRank(); }
/// begin, begin + 1, .., end - 1.
llvm::SmallVector<int64_t> range(int64_t begin, int64_t end);
/// `shape` as text, e.g. "[8, 12]".
std::string printed(llvm::ArrayRef<int64_t> shape);
/// The inverse of convertElementType.
ElementType onnxElementType(mlir::Type type);
/// The elements of a constant integer tensor; nullopt if `value` is not the result
/// of nn.constant.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);

using ConvertFn = mlir::LogicalResult (*)(Conversion &);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_CONVERSION_H
