// One ONNX node on its way to `nn` ops: what a converter is given and may ask.

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

/// What an ONNX value became: a tensor, or the tensors of a sequence.
struct Imported {
  mlir::Value tensor;
  llvm::SmallVector<mlir::Value> sequence;
};

/// The nn value of each ONNX value converted so far, and what was asked of the
/// whole module. Owned by the importer.
class ImportState {
public:
  virtual ~ImportState() = default;
  /// The value of `id`, made on first use when it is an initializer.
  virtual mlir::Value valueOf(ValueId id) = 0;
  /// The tensor of an initializer that is not a function argument and never
  /// will be, for attributes.
  virtual const Graph &getGraph() const = 0;
  /// What an element of `type` is in the module.
  virtual ElementType computedType(ElementType type) const = 0;
  /// The tensors of a sequence that SplitToSequence or SequenceConstruct made;
  /// nullptr for anything else.
  virtual const llvm::SmallVector<mlir::Value> *sequenceOf(ValueId id) const = 0;
  /// Declares that `value` is the next value of the buffer that initializer
  /// `id` holds; the last one said counts.
  virtual void setNextState(ValueId id, mlir::Value value) = 0;
  /// The next value of that buffer as far as nodes have moved it; null where none
  /// has.
  virtual mlir::Value getNextState(ValueId id) const = 0;
  /// The stream of the next random operator: they are numbered in the order of
  /// conversion (each time a loop converts one anew), so that it does not
  /// matter how many nodes an exporter wrote for shapes.
  virtual int64_t randomStream() = 0;
  /// Converts the nodes of `subgraph` with its inputs bound to `inputs`, and
  /// gives its outputs; fails after an error. May be called again for another
  /// iteration.
  virtual mlir::LogicalResult convertSubgraph(const Subgraph &subgraph,
                                              llvm::ArrayRef<Imported> inputs,
                                              llvm::SmallVectorImpl<Imported> &outputs) = 0;
  /// Converts `node` alone, with `operands` in the place of what its inputs are
  /// (null for those that are not given), and gives its results; fails after an
  /// error.
  virtual mlir::LogicalResult convertNode(const Node &node, llvm::ArrayRef<mlir::Value> operands,
                                          llvm::SmallVectorImpl<mlir::Value> &nodeResults) = 0;
  /// What the constant `id` of the file holds, also where it is so large that it
  /// is an argument; nullptr for anything else.
  virtual const Tensor *constantOf(ValueId id) const = 0;
  /// How many nodes were converted so far.
  virtual int64_t convertedNodes() const = 0;
};

/// The MLIR type of ONNX element type `type`.
mlir::Type convertElementType(mlir::MLIRContext *context, ElementType type);

/// Ends the message about a shape that a static export fixed, when --shape asks
/// for another batch.
inline constexpr llvm::StringLiteral bakedBatchHint =
    " (a batch size baked into the export? "
    "torch.onnx.export(..., dynamic_shapes=...) keeps it open)";

/// What a conversion function works with: one node, its operands as nn values,
/// a builder at the right place.
///
/// The node fits its schema: attributes have their types, and what must be
/// there is. Getters of constants report their own errors (not constant) and
/// return a default; the driver then stops after the node. So a function asks
/// for all it needs and returns `failure()` only for errors of its own, which
/// it words by `error`.
class Conversion {
public:
  Conversion(const Node &node, const Schema &schema, mlir::OpBuilder &builder, mlir::Location loc,
             ImportState &state)
      : node(node), schema(schema), builder(builder), loc(loc), e{builder, loc},
        results(node.outputs.size()), state(state) {}

  const Node &node;
  /// That of the node's operator at its opset, which the node fits.
  const Schema &schema;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  nn::Expressions e;

  /// Reports "node 'x' (Op, opset 17): message".
  mlir::LogicalResult error(const llvm::Twine &message);

  unsigned numOperands() const { return static_cast<unsigned>(node.inputs.size()); }
  bool has(unsigned operand) const { return node.input(operand) != kNoValue; }
  bool wantsResult(unsigned result) const { return node.output(result) != kNoValue; }
  /// Whether another node or the model's user reads the result.
  bool isUsed(unsigned result) const;
  /// Operand `i`, which must be given (arity is checked before conversion).
  mlir::Value operand(unsigned i) { return state.valueOf(node.inputs[i]); }
  /// The constant elements of an integer operand; nullopt when it is not known
  /// at compile time.
  std::optional<llvm::SmallVector<int64_t>> tryInts(unsigned i);
  /// The same, but an operand that is not known at compile time is an error
  /// naming it as `what`.
  llvm::SmallVector<int64_t> ints(unsigned i, llvm::StringRef what);
  int64_t scalarInt(unsigned i, llvm::StringRef what);
  /// The constant elements of a float (or integer) operand; nullopt when not
  /// known at compile time.
  std::optional<llvm::SmallVector<double>> tryDoubles(unsigned i);

  bool hasAttr(llvm::StringRef name) const { return node.attributes.count(name.str()) != 0; }
  /// An attribute that the node may leave out is its schema's default then, or
  /// `fallback` where the schema has none or lacks the attribute.
  int64_t intAttr(llvm::StringRef name, int64_t fallback = 0) const;
  double floatAttr(llvm::StringRef name, double fallback = 0) const;
  std::string stringAttr(llvm::StringRef name, llvm::StringRef fallback = "") const;
  llvm::SmallVector<int64_t> intsAttr(llvm::StringRef name) const;
  llvm::SmallVector<double> floatsAttr(llvm::StringRef name) const;
  llvm::SmallVector<std::string> stringsAttr(llvm::StringRef name) const;
  /// One that the schema leaves out but this node needs: absence is an error.
  int64_t requiredInt(llvm::StringRef name);

  /// `axis` counted from the front; an error outside [-rank, rank).
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// Axes counted from the front, sorted; an error when outside the rank or
  /// given twice.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);
  /// The axes of a reduction or squeeze: operand `i` where the opset has it as
  /// input, else attribute "axes".
  std::optional<llvm::SmallVector<int64_t>> axes(unsigned i);

  /// `values` broadcast to one shape by ONNX's (numpy's) rule; empty after an
  /// error.
  llvm::SmallVector<mlir::Value> broadcastTogether(llvm::ArrayRef<mlir::Value> values);
  /// `value` broadcast to `shape`; null after an error.
  mlir::Value broadcastTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Binary operands broadcast together; both null after an error.
  std::pair<mlir::Value, mlir::Value> binary();
  /// Elements [start, limit) of dimension `axis`; `value` itself when these are
  /// all.
  mlir::Value sliceAlong(mlir::Value value, int64_t axis, int64_t start, int64_t limit);
  /// `values`, of a float type. What importing computes keeps double precision
  /// in programs that are widened later: where f32 only holds the head of a
  /// number, a second constant adds what is left.
  mlir::Value exactConstant(const HostTensor &values);
  /// `value` at every element of `like`, as exact.
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
  /// The type that an element of ONNX type `type` has in the module.
  mlir::Type elementType(ElementType type) const {
    return convertElementType(builder.getContext(), state.computedType(type));
  }
  int64_t randomStream() { return state.randomStream(); }
  /// The subgraph that `attribute` holds; nullptr after an error.
  const Subgraph *subgraph(llvm::StringRef attribute);
  /// See ImportState; an error inside names the node inside.
  mlir::LogicalResult convertSubgraph(const Subgraph &subgraph, llvm::ArrayRef<Imported> inputs,
                                      llvm::SmallVectorImpl<Imported> &outputs) {
    failed |= mlir::failed(state.convertSubgraph(subgraph, inputs, outputs));
    return mlir::failure(failed);
  }
  /// What a conversion of `inner`, a node inside of this one, works with.
  Conversion inside(const Node &inner) {
    return Conversion(inner, *Schema::find(inner.opType, inner.opset), builder, loc, state);
  }
  /// See ImportState.
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
  /// Whether `make` succeeds. If not, what it made and what it said of errors is
  /// gone, and the node can be converted in another way.
  bool attempt(llvm::function_ref<mlir::LogicalResult()> make);

  llvm::SmallVector<mlir::Value> results;
  std::map<unsigned, llvm::SmallVector<mlir::Value>> sequenceResults;
  /// An error was reported by a getter.
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
/// begin, begin + 1, ... below end.
llvm::SmallVector<int64_t> range(int64_t begin, int64_t end);
/// "[8, 12]".
std::string printed(llvm::ArrayRef<int64_t> shape);
/// The ONNX element type that convertElementType makes `type` of.
ElementType onnxElementType(mlir::Type type);
/// The value of a constant integer tensor; nullopt when `value` is not made by
/// nn.constant.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);

using ConvertFn = mlir::LogicalResult (*)(Conversion &);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_CONVERSION_H
