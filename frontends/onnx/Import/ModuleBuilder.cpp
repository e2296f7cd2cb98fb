// Builds the IR of a graph, given the role of each initializer: arguments, variables and
// the ops of every node.

#include "frontends/onnx/Import/ModuleBuilder.h"

#include "frontends/onnx/Import/Constants.h"
#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Model/Schema.h"

#include "dialects/Interfaces/CurrentWork.h"
#include "dialects/NN/IR/HostFacts.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace dpc::onnx {
namespace {

/// Watches the inserted ops for a result with more elements than the compiler can count
/// (kMaxElements).
class SizeListener : public OpBuilder::Listener {
public:
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
    for (Value result : op->getResults())
      if (!tooLarge && !hasCountableElements(result.getType()))
        tooLarge = dyn_cast<RankedTensorType>(result.getType());
  }
  /// The type of the first result that is too large; null if no result is.
  RankedTensorType tooLarge;
};

class ModuleBuilder : public ImportState {
public:
  ModuleBuilder(const Graph &graph, ArrayRef<Classified> roles, const ImportOptions &options,
                MLIRContext *context)
      : graph(graph), roles(roles), options(options), builder(context, &sizes),
        values(graph.values.size()) {}

  OwningOpRef<ModuleOp> build();

  Value valueOf(ValueId id) override;
  const Graph &getGraph() const override { return graph; }
  ElementType computedType(ElementType type) const override {
    return options.widensHalves ? widenHalf(type) : type;
  }
  const SmallVector<Value> *sequenceOf(ValueId id) const override {
    auto found = sequences.find(id);
    return found == sequences.end() ? nullptr : &found->second;
  }
  void setNextState(ValueId id, Value value) override {
    for (auto &[known, next] : nextState)
      if (known == id) {
        next = value;
        return;
      }
    nextState.push_back({id, value});
  }
  Value getNextState(ValueId id) const override {
    auto found = llvm::find_if(nextState, [&](const auto &each) { return each.first == id; });
    return found == nextState.end() ? Value() : found->second;
  }
  int64_t randomStream() override { return nextStream++; }
  LogicalResult convertSubgraph(const Subgraph &subgraph, ArrayRef<Imported> inputs,
                                SmallVectorImpl<Imported> &outputs) override;
  LogicalResult convertNode(const Node &node, ArrayRef<Value> operands,
                            SmallVectorImpl<Value> &nodeResults) override;
  const Tensor *constantOf(ValueId id) const override {
    const Initializer *initializer = graph.initializerOf(id);
    bool isConstant = initializer && roles[graph.values[id].index].role == Role::Constant;
    return isConstant ? &initializer->tensor : nullptr;
  }
  int64_t convertedNodes() const override { return converted; }

private:
  Location named(StringRef name) { return NameLoc::get(builder.getStringAttr(name)); }
  Location locationOf(const Node &node);
  void addArguments();
  void addInitializer(const Initializer &initializer, const Classified &classified);
  LogicalResult checkTypes(Conversion &conversion) const;
  LogicalResult convert(const Node &node);
  void dropUnusedArguments();
  LogicalResult checkElements();
  /// The element type of the output in the MLIR module, as ONNX's number; 0 if the
  /// file declares none.
  int32_t declaredType(const GraphOutput &output) const {
    return int32_t(computedType(ElementType(output.declaredType)));
  }
  LogicalResult finish();

  const Graph &graph;
  ArrayRef<Classified> roles;
  const ImportOptions &options;
  SizeListener sizes;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Block *body = nullptr;
  std::vector<Value> values;
  std::map<ValueId, SmallVector<Value>> sequences;
  SmallVector<nn::ArgAttr> arguments;
  SmallVector<nn::VariableOp> variables;
  SmallVector<std::pair<ValueId, Value>> nextState;
  int64_t nextStream = 0;
  int64_t converted = 0;
};

/// The path of the PyTorch module that made the node, e.g. "m.h.0"; empty if unknown. The
/// default exporter records "['', 'm', 'm.h.0', 'linear']": the modules from the
/// outermost to the innermost, then the call itself.
std::string modulePath(const Node &node) {
  std::vector<std::string> scopes = parsePythonList(node.metadata(kNameScopes));
  if (scopes.size() >= 2)
    return scopes[scopes.size() - 2];
  StringRef name = node.name; // TorchScript: "/conv1/Conv"
  if (!name.consume_front("/"))
    return {};
  std::string path = name.rsplit('/').first.str();
  if (path.size() == name.size())
    return {};
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

Location ModuleBuilder::locationOf(const Node &node) {
  std::string path = modulePath(node);
  if (path.empty())
    return named(node.name);
  return FusedLoc::get(builder.getContext(), {named(node.name)}, builder.getStringAttr(path));
}

/// A small constant (see kMaxInlineElements) stays in the function. All other initializers
/// that a node or an output reads become arguments. A tensor of the PyTorch module's
/// state_dict becomes an argument even if no node reads it, because files of the module's
/// parameters contain it.
void ModuleBuilder::addInitializer(const Initializer &initializer, const Classified &classified) {
  const Role role = classified.role;
  bool used = !graph.values[initializer.value].uses.empty() ||
              llvm::any_of(graph.outputs, [&](const GraphOutput &output) {
                return output.value == initializer.value;
              });
  const bool isParameter = role == Role::Parameter || role == Role::Frozen;
  const Tensor &tensor = initializer.tensor;
  const Type element = convertElementType(builder.getContext(), computedType(tensor.type));
  const bool isKept = isParameter || (classified.isOfModule && tensor.numElements() != 0);
  if (!used && !isKept)
    return;
  Value inlined;
  if (!isParameter && role != Role::Buffer) {
    Value constant;
    if (tensor.numElements() <= kMaxFoldedElements)
      constant = emitConstant(builder, named(initializer.name), toHostTensor(element, tensor));
    if (constant) {
      Operation *op = constant.getDefiningOp();
      auto source = isa<nn::BroadcastOp>(op) ? op->getOperand(0).getDefiningOp<nn::ConstantOp>()
                                             : cast<nn::ConstantOp>(op);
      auto dense = dyn_cast<DenseElementsAttr>(source.getValue());
      if ((dense && dense.isSplat()) || source.getValue().getNumElements() <= kMaxInlineElements) {
        inlined = constant;
      } else {
        op->erase();
        if (op != source)
          source.erase();
      }
    }
    values[initializer.value] = inlined;
    if (inlined && !isKept)
      return;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  ElementsAttr attribute =
      options.skipsValues && isParameter
          ? zeros(element, tensor)
          : toAttribute(builder.getContext(), options.widensHalves ? widenHalves(tensor) : tensor,
                        initializer.name);
  auto variable =
      builder.create<nn::VariableOp>(named(initializer.name), initializer.name, attribute);
  nn::ArgKind kind = role == Role::Parameter  ? nn::ArgKind::parameter
                     : role == Role::Constant ? nn::ArgKind::constant
                                              : nn::ArgKind::buffer;
  if (role == Role::Frozen)
    variable->setAttr(nn::kFrozenAttrName, builder.getUnitAttr());
  if (!classified.isOfModule)
    variable->setAttr(nn::kUnsavedAttrName, builder.getUnitAttr());
  variables.push_back(variable);
  arguments.push_back(nn::ArgAttr::get(builder.getContext(), kind, initializer.name, -1, ""));
  Value argument = body->addArgument(variable.getType(), named(initializer.name));
  if (!inlined)
    values[initializer.value] = argument;
}

void ModuleBuilder::addArguments() {
  for (Role role : {Role::Parameter, Role::Frozen, Role::Buffer, Role::Constant})
    for (auto [initializer, classified] : llvm::zip(graph.initializers, roles))
      if (classified.role == role)
        addInitializer(initializer, classified);
  for (const GraphInput &input : graph.inputs) {
    auto type = RankedTensorType::get(
        input.shape, convertElementType(builder.getContext(), computedType(input.type)));
    variables.push_back({});
    arguments.push_back(
        nn::ArgAttr::get(builder.getContext(), nn::ArgKind::input, input.name, input.batchDim, ""));
    values[input.value] = body->addArgument(type, named(input.name));
  }
}

Value ModuleBuilder::valueOf(ValueId id) { return values[id]; }

/// The type of a tensor or of a sequence, as a set with one element. A sequence without
/// elements may have any sequence type.
static TypeSet typeSetOf(Value tensor, const SmallVector<Value> *sequence) {
  auto single = [](Value value) {
    return TypeSet(1) << int32_t(onnxElementType(nn::typeOf(value).getElementType()));
  };
  if (!sequence)
    return tensor ? single(tensor) : 0;
  return sequence->empty() ? kAnySequence : single(sequence->front()) << 32;
}

/// Checks the types of a node's values against its schema. The types of the inputs are
/// known before the node is converted, the types of the results only afterwards. So the
/// check runs twice.
LogicalResult ModuleBuilder::checkTypes(Conversion &conversion) const {
  SmallVector<TypeSet> inputs, outputs;
  for (ValueId id : conversion.node.inputs)
    inputs.push_back(id == kNoValue ? 0 : typeSetOf(values[id], sequenceOf(id)));
  for (auto [i, value] : llvm::enumerate(conversion.results)) {
    auto sequence = conversion.sequenceResults.find(unsigned(i));
    outputs.push_back(typeSetOf(
        value, sequence == conversion.sequenceResults.end() ? nullptr : &sequence->second));
  }
  std::string problem = typeProblem(conversion.schema, inputs, outputs);
  if (problem.empty())
    return success();
  // Exporters write 16-bit floats even for operators that ONNX does not define for
  // them.
  constexpr TypeSet halves =
      TypeSet(1) << int32_t(ElementType::F16) | TypeSet(1) << int32_t(ElementType::BF16);
  auto isHalf = [](TypeSet type) { return (type & halves) != 0; };
  if (llvm::any_of(inputs, isHalf) || llvm::any_of(outputs, isHalf))
    problem += " (--precision=f32 computes in f32)";
  return conversion.error(problem);
}

LogicalResult ModuleBuilder::convert(const Node &node) {
  ++converted;
  CurrentWork work("node", node.name, node.opType);
  ConvertFn convertNode = Registry::get().find(node.opType);
  const Schema *schema = Schema::find(node.opType, node.opset);
  Block::iterator before = body->empty() ? body->end() : std::prev(body->end());
  Conversion conversion(node, *schema, builder, locationOf(node), *this);
  if (failed(checkTypes(conversion)))
    return failure();
  LogicalResult converted = convertNode(conversion);
  if (conversion.failed)
    return failure();
  if (RankedTensorType type = sizes.tooLarge)
    return conversion.error("computes a tensor of shape " + printed(type.getShape()) +
                            ", of more than " + Twine(kMaxElements) + " elements");
  if (failed(converted))
    return conversion.error("cannot be converted");
  if (failed(checkTypes(conversion)))
    return failure();
  for (auto [i, output] : llvm::enumerate(node.outputs))
    if (output != kNoValue && !conversion.results[i] &&
        !conversion.sequenceResults.count(unsigned(i)) && !graph.values[output].uses.empty())
      return conversion.error("output '" + graph.values[output].name +
                              "' is used but not supported");
  Block::iterator begin = before == body->end() ? body->begin() : std::next(before);
  // If an element of a sequence folds to a constant, foldConstants must replace it too.
  SmallVector<Value> made(conversion.results);
  for (auto &[i, elements] : conversion.sequenceResults)
    llvm::append_range(made, elements);
  foldConstants(builder, begin, body->end(), made);
  ArrayRef<Value> left(made);
  for (auto [i, output] : llvm::enumerate(node.outputs))
    if (output != kNoValue)
      values[output] = left[i];
  left = left.drop_front(conversion.results.size());
  for (auto &[i, elements] : conversion.sequenceResults) {
    if (node.output(i) != kNoValue)
      sequences[node.output(i)].assign(left.begin(), left.begin() + elements.size());
    left = left.drop_front(elements.size());
  }
  return success();
}

LogicalResult ModuleBuilder::convertSubgraph(const Subgraph &subgraph, ArrayRef<Imported> inputs,
                                             SmallVectorImpl<Imported> &outputs) {
  for (auto [id, value] : llvm::zip_equal(subgraph.inputs, inputs)) {
    values[id] = value.tensor;
    if (!value.tensor)
      sequences[id] = value.sequence;
  }
  for (const Node &node : subgraph.nodes)
    if (failed(convert(node)))
      return failure();
  for (ValueId id : subgraph.outputs) {
    const SmallVector<Value> *elements = sequenceOf(id);
    outputs.push_back(elements ? Imported{{}, *elements} : Imported{values[id], {}});
  }
  return success();
}

LogicalResult ModuleBuilder::convertNode(const Node &node, ArrayRef<Value> operands,
                                         SmallVectorImpl<Value> &nodeResults) {
  SmallVector<std::pair<ValueId, Value>> own;
  for (auto [id, value] : llvm::zip_equal(node.inputs, operands)) {
    if (id == kNoValue)
      continue;
    own.push_back({id, values[id]});
    values[id] = value;
  }
  LogicalResult done = convert(node);
  for (auto [id, value] : llvm::reverse(own))
    values[id] = value;
  for (ValueId id : node.outputs)
    nodeResults.push_back(succeeded(done) && id != kNoValue ? values[id] : Value());
  return done;
}

void ModuleBuilder::dropUnusedArguments() {
  for (unsigned i = body->getNumArguments(); i-- > 0;) {
    if (arguments[i].getKind() != nn::ArgKind::constant || !body->getArgument(i).use_empty() ||
        !variables[i]->hasAttr(nn::kUnsavedAttrName))
      continue;
    body->eraseArgument(i);
    variables[i].erase();
    variables.erase(variables.begin() + i);
    arguments.erase(arguments.begin() + i);
  }
}

/// Fails if a tensor has no elements, because layouts and kernels need at least one
/// element per tensor. Shape arithmetic may use such tensors, but it has been folded
/// before.
LogicalResult ModuleBuilder::checkElements() {
  auto check = [](Value value, const Twine &what) -> LogicalResult {
    if (nn::typeOf(value).getNumElements() != 0)
      return success();
    return emitError(value.getLoc()) << what << " has shape " << printed(shapeOf(value))
                                     << ": tensors without elements are not supported";
  };
  for (auto [value, argument] : llvm::zip(body->getArguments(), arguments))
    if (failed(check(value, "'" + argument.getName() + "'")))
      return failure();
  for (Operation &op : body->without_terminator())
    for (Value result : op.getResults())
      if (failed(check(result, "a result")))
        return failure();
  return success();
}

LogicalResult ModuleBuilder::finish() {
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttrs;
  auto addResult = [&](Value value, nn::ResultKind kind, StringRef name) {
    results.push_back(value);
    resultAttrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        nn::NNDialect::kResultAttrName, nn::ResultAttr::get(builder.getContext(), kind, name))));
  };
  for (const GraphOutput &output : graph.outputs) {
    if (!values[output.value])
      return emitError(named(output.name)) << "output '" << output.name << "' is not supported";
    auto type = int32_t(onnxElementType(nn::typeOf(values[output.value]).getElementType()));
    if (output.declaredType && declaredType(output) != type)
      return emitError(named(output.name))
             << "output '" << output.name << "' is declared " << dataTypeName(output.declaredType)
             << " but is " << dataTypeName(type);
    addResult(values[output.value], nn::ResultKind::output, output.name);
  }
  for (const BufferUpdate &update : graph.updates) {
    nn::Expressions e{builder, named(graph.values[update.buffer].name)};
    Value next = values[update.value], buffer = values[update.buffer];
    if (roles[graph.values[update.buffer].index].role != Role::Buffer)
      return emitError(buffer.getLoc()) << "buffer '" << graph.values[update.buffer].name
                                        << "' is updated by forward() and cannot be trained";
    if (!next || shapeOf(next) != shapeOf(buffer))
      return emitError(buffer.getLoc())
             << "buffer '" << graph.values[update.buffer].name << "' has shape "
             << printed(shapeOf(buffer)) << ", but its next value '"
             << graph.values[update.value].name << "' "
             << (next ? "has shape " + printed(shapeOf(next)) : "is no tensor");
    nextState.push_back({update.buffer, e.convert(next, nn::typeOf(buffer).getElementType())});
  }
  llvm::SmallDenseSet<ValueId> updated;
  for (auto [id, value] : nextState) {
    StringRef name = graph.values[id].name;
    if (roles[graph.values[id].index].role != Role::Buffer || !updated.insert(id).second)
      return emitError(named(name))
             << "initializer '" << name
             << "' is a running statistic and something else too; where the export merged it with "
                "an equal tensor, torch.onnx.export(..., do_constant_folding=False) keeps them "
                "apart";
    addResult(value, nn::ResultKind::state, name);
  }
  builder.create<func::ReturnOp>(function.getLoc(), results);
  if (failed(tidy(function)))
    return failure();
  dropUnusedArguments();
  if (failed(checkElements()))
    return failure();

  SmallVector<DictionaryAttr> argumentAttrs;
  for (nn::ArgAttr argument : arguments)
    argumentAttrs.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr(nn::NNDialect::kArgAttrName, argument)));
  function.setType(
      builder.getFunctionType(body->getArgumentTypes(), body->getTerminator()->getOperandTypes()));
  function.setAllArgAttrs(argumentAttrs);
  function.setAllResultAttrs(resultAttrs);
  return success();
}

OwningOpRef<ModuleOp> ModuleBuilder::build() {
  // Errors about the entire graph belong to no node, so they have this location.
  Location loc =
      FileLineColLoc::get(builder.getStringAttr(graph.name.empty() ? "graph" : graph.name), 0, 0);
  module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  function = builder.create<func::FuncOp>(loc, "forward", builder.getFunctionType({}, {}));
  body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  addArguments();
  for (const Node &node : graph.nodes)
    if (failed(convert(node)))
      return {};
  if (failed(finish()))
    return {};
  return std::move(module);
}

} // namespace

OwningOpRef<ModuleOp> buildModule(const Graph &graph, ArrayRef<Classified> roles,
                                  const ImportOptions &options, MLIRContext *context) {
  return ModuleBuilder(graph, roles, options, context).build();
}

} // namespace dpc::onnx
