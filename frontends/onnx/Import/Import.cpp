// Imports an ONNX file: loads it, restores and classifies its tensors, and converts it to
// an MLIR module of the `nn` dialect.

#include "frontends/onnx/Import/Import.h"

#include "frontends/onnx/Import/BatchDims.h"
#include "frontends/onnx/Import/ModuleBuilder.h"
#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Import/ReplacedShapes.h"
#include "frontends/onnx/Model/Check.h"
#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Model/Failure.h"
#include "frontends/onnx/Model/Load.h"
#include "frontends/onnx/Model/ValuePatterns.h"
#include "frontends/onnx/Restore/BufferUpdates.h"
#include "frontends/onnx/Restore/FileViews.h"
#include "frontends/onnx/Restore/RewriteModel.h"
#include "frontends/onnx/Restore/TiedNames.h"

#include "dialects/Interfaces/CurrentWork.h"
#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;

namespace dpc::onnx {
namespace {

/// Gives every input a static shape. The shape is that of --shape, or else that of the
/// file. If the file leaves a dimension open, its extent is that of the dimension with
/// the same name in an input that --shape lists.
llvm::Error resolveShapes(Graph &graph, const ImportOptions &options) {
  std::map<std::string, int64_t> known;
  for (const auto &[name, shape] : options.shapes) {
    auto input = llvm::find_if(
        graph.inputs, [&, &name = name](const GraphInput &each) { return each.name == name; });
    if (input == graph.inputs.end())
      return fail(llvm::formatv("--shape={0}: the model has no input of this name", name));
    if (input->hasRank && input->shape.size() != shape.size())
      return fail(llvm::formatv("--shape={0}: {1} has rank {2} but the input has rank {3}", name,
                                printed(shape), shape.size(), input->shape.size()));
    for (auto [i, size] : llvm::enumerate(shape)) {
      if (i >= input->dimNames.size() || input->dimNames[i].empty())
        continue;
      auto [bound, isNew] = known.try_emplace(input->dimNames[i], size);
      if (!isNew && bound->second != size)
        return fail(llvm::formatv("--shape: dimension '{0}' is {1} in one input and {2} in '{3}'",
                                  bound->first, bound->second, size, name));
    }
  }
  for (GraphInput &input : graph.inputs) {
    auto given = options.shapes.find(input.name);
    if (given != options.shapes.end()) {
      input.shape.assign(given->second.begin(), given->second.end());
      continue;
    }
    if (!input.hasRank)
      return fail(llvm::formatv("input '{0}' has no shape: give it by --shape={0}:..", input.name));
    for (auto [i, size] : llvm::enumerate(input.shape)) {
      if (size >= 0)
        continue;
      auto bound = known.find(input.dimNames[i]);
      if (bound == known.end())
        return fail(llvm::formatv(
            "input '{0}' has a dynamic dimension {1}{2}: give its shape by "
            "--shape={0}:..",
            input.name, i, input.dimNames[i].empty() ? "" : " ('" + input.dimNames[i] + "')"));
      size = bound->second;
    }
  }
  for (const GraphInput &input : graph.inputs)
    if (!countElements(input.shape))
      return fail(llvm::formatv("input '{0}' of shape {1} has more than {2} "
                                "elements",
                                input.name, printed(input.shape), kMaxElements));
  return llvm::Error::success();
}

/// The restored tensors, and for each of them the tensors of the file that contain it.
/// A restored tensor has the name that the PyTorch module gives it.
struct Restored {
  std::vector<std::array<std::string, 4>> rows;
  std::map<std::string, std::vector<nn::FileTensor>> fileTensors;
  /// Restored tables whose rows are in the order in which the file looks them up, because
  /// the order in the module is unknown.
  std::set<std::string> reordered;
  /// The name of one restored tensor, for messages; empty if no tensor is restored.
  std::string firstTensor;
};

struct Prepared {
  std::unique_ptr<OnnxModel> model;
  Graph graph;
  Restored restored;
  std::vector<Classified> roles;
  /// Messages about batch dimensions.
  std::vector<std::string> batchNotes;
  std::vector<ReplacedShape> replaced;
};

/// Excludes tables of sinusoids from training. PyTorch modules have them as parameters,
/// but never train them (requires_grad=False, which no export records).
void fixSinusoids(Graph &graph, llvm::raw_ostream &notes) {
  for (Initializer &initializer : graph.initializers) {
    if (recordedKind(initializer) != "PARAMETER" || initializer.tensor.isMissing ||
        !isFloat(initializer.tensor.type) || !looksLikeSinusoids(initializer.tensor))
      continue;
    initializer.metadata[kInputKind.str()] = kFixedKind.str();
    notes << "note: '" << initializer.name
          << "' is a table of sinusoids and not trained, as in PyTorch; "
             "--trainable="
          << initializer.name << " trains it\n";
  }
}

/// Marks the buffers that forward() updates, so that they become state.
void findUpdates(Graph &graph) {
  if (graphSignature(graph).empty())
    return;
  graph.updates = findUpdatedBuffers(graph, CallComparison(graph)).updates;
  for (const BufferUpdate &update : graph.updates)
    graph.initializers[graph.values[update.buffer].index].metadata[kInputKind.str()] =
        kUpdatedKind.str();
}

/// Restores `model` and `graph` as the plan says, and reports the plan in `notes`.
llvm::Error apply(const RestorationPlan &plan, OnnxModel &model, Graph &graph, Restored &restored,
                  const ImportOptions &options, llvm::raw_ostream &notes) {
  if (llvm::Error error = plan.check(graph))
    return error;
  if (llvm::Error error = plan.verify(graph))
    return error;
  if (options.explain)
    plan.print(graph, notes);
  else if (std::string summary = plan.summary(graph); !summary.empty())
    notes << "note: parameters of the module restored: " << summary
          << "; --explain lists them, --as-exported leaves them\n";
  if (std::string detached = plan.detachedSummary(); !detached.empty())
    notes << "note: no gradient passes " << detached << ", as in PyTorch\n";
  const std::vector<std::string> tables = plan.reorderedTables();
  // If the module has no name for a table, the table is called NAME/rows. This name
  // already says that it is a table of rows, so it needs no mark.
  llvm::copy_if(tables, std::inserter(restored.reordered, restored.reordered.end()),
                [](StringRef name) { return !name.ends_with("/rows"); });
  if (!tables.empty())
    notes << "note: rows of '" << tables.front() << "'"
          << (tables.size() > 1 ? " and " + std::to_string(tables.size() - 1) +
                                      (tables.size() > 2 ? " other tables" : " other table")
                                : "")
          << " are in the order in which the file looks them up, which need not be the module's: "
             "--save-params writes them as NAME/rows; torch.onnx.export(..., optimize=False) keeps "
             "the module's order\n";
  for (const std::string &line : plan.doubtLines())
    notes << "note: " << line << '\n';
  std::vector<std::vector<nn::FileTensor>> views = findFileViews(plan, graph);
  restored.rows = plan.rows(graph);
  if (!plan.tensors.empty())
    restored.firstTensor = plan.tensors.front().name;
  restoreModel(model, graph, plan);
  auto rebuilt = buildGraph(model);
  if (!rebuilt)
    return rebuilt.takeError();
  graph = std::move(*rebuilt);
  for (auto [tensor, tensorViews] : llvm::zip_equal(plan.tensors, views))
    for (Initializer &initializer : graph.initializers)
      if (initializer.name == tensor.name) {
        initializer.aliases.insert(initializer.aliases.end(), tensor.aliases.begin(),
                                   tensor.aliases.end());
        restored.fileTensors[tensor.name] = std::move(tensorViews);
        break;
      }
  return llvm::Error::success();
}

/// Undoes the exporter's changes to the parameters of the PyTorch module, so that
/// `model` and `graph` have the parameters of that module.
llvm::Error restore(OnnxModel &model, Graph &graph, Restored &restored,
                    const ImportOptions &options, llvm::raw_ostream &notes) {
  RestorationPlan plan = planRestoration(graph);
  if (!plan.lost.empty() && options.trains)
    return fail(llvm::formatv(
        "{0}{1}; --as-exported trains the graph as it is", plan.lost.front(),
        plan.lost.size() > 1 ? llvm::formatv(" ({0} more are lost)", plan.lost.size() - 1).str()
                             : std::string()));
  if (!plan.empty())
    if (llvm::Error error = apply(plan, model, graph, restored, options, notes))
      return error;
  if (!plan.droppedCopies.empty())
    notes << "note: the export dropped '" << plan.droppedCopies.front()
          << "', and would drop a detach() before it: if the module has x.detach().clone(), write "
             "x.clone().detach(), or export with optimize=False\n";
  for (auto &[name, others] : findTiedNames(graph))
    for (Initializer &initializer : graph.initializers)
      if (initializer.name == name)
        for (const std::string &other : others) {
          initializer.aliases.push_back(other);
          nn::FileTensor tied;
          tied.name = other;
          tied.holds = nn::FileTensor::Holds::tied;
          restored.fileTensors[name].push_back(std::move(tied));
        }
  fixSinusoids(graph, notes);
  findUpdates(graph);
  return llvm::Error::success();
}

/// Turns every detach into a plain Identity, which passes gradients. Returns their
/// number.
size_t passGradients(std::vector<Node> &nodes) {
  size_t count = 0;
  for (Node &node : nodes) {
    count += node.stopsGradient;
    node.stopsGradient = false;
    for (Subgraph &subgraph : node.subgraphs)
      count += passGradients(subgraph.nodes);
  }
  return count;
}

/// Leaves the graph as ONNX defines it: gradients pass every Identity, and forward()
/// updates no buffer. `notes` gets lines about the values that the module detaches, and
/// one line for each buffer that the module updates, except counters of batches
/// (num_batches_tracked).
void takeAsExported(Graph &graph, llvm::raw_ostream &notes) {
  size_t count = passGradients(graph.nodes);
  std::string dropped = planRestoration(graph).detachedSummary();
  if (count)
    notes << "note: gradients pass " << count << " Identity node" << (count > 1 ? "s" : "")
          << " that stand for detach in the module\n";
  if (!dropped.empty())
    notes << "note: gradients pass " << dropped << '\n';
  for (const SignatureEntry &entry : graphSignature(graph).outputs)
    if (entry.kind == "BUFFER_MUTATION" &&
        !StringRef(entry.target).ends_with("num_batches_tracked") &&
        llvm::any_of(graph.initializers, [&](const Initializer &initializer) {
          return initializer.name == entry.target;
        }))
      notes << "note: buffer '" << entry.target << "' is updated by forward() and stays as it is\n";
}

/// Fails if a tensor has no values although no file of parameters can supply them. A
/// tensor has no values if the file with its external data is absent.
llvm::Error checkMissing(const Graph &graph, llvm::ArrayRef<Classified> roles) {
  for (auto [initializer, classified] : llvm::zip_equal(graph.initializers, roles)) {
    const bool isBrought = classified.role == Role::Parameter || classified.role == Role::Frozen ||
                           (classified.role == Role::Buffer && classified.isOfModule);
    if (initializer.tensor.isMissing && !isBrought)
      return fail(llvm::formatv("'{0}' is no parameter, and its values are in the file of external "
                                "data, which is not there: --params=none needs it too",
                                initializer.name));
  }
  return llvm::Error::success();
}

/// Runs all steps that come before IR is built. Its errors are about the file or the
/// options.
llvm::Expected<Prepared> prepare(StringRef path, const ImportOptions &options,
                                 llvm::raw_ostream &notes) {
  auto model = loadModel(path);
  if (!model)
    return model.takeError();
  if (options.skipsValues)
    (*model)->files.allowMissing();
  auto prefixed = [&](llvm::Error error) {
    return fail(llvm::formatv("{0}: {1}", path, llvm::toString(std::move(error))));
  };
  if (llvm::Error error = checkModel(*(*model)->proto))
    return prefixed(std::move(error));
  auto graph = buildGraph(**model);
  if (!graph)
    return prefixed(graph.takeError());
  const bool hasAll = llvm::none_of(graph->initializers, [](const Initializer &initializer) {
    return initializer.tensor.isMissing;
  });
  if (llvm::Error error = checkOperators(*graph, Registry::get()))
    return prefixed(std::move(error));
  if (options.trains && graph->initializers.empty())
    notes << "note: the file has no initializer, so all that it computes with are its inputs; "
             "torch.onnx.export(..., export_params=True) keeps the parameters\n";
  Restored restored;
  if (options.asExported)
    takeAsExported(*graph, notes);
  else if (llvm::Error error = restore(**model, *graph, restored, options, notes))
    return prefixed(std::move(error));
  if (!hasAll && !restored.firstTensor.empty())
    return prefixed(fail(llvm::formatv(
        "the file of its external data is not there, and '{0}' cannot be put back without values; "
        "torch.onnx.export(..., optimize=False) leaves nothing to be put back",
        restored.firstTensor)));
  const std::vector<GraphInput> inFile = graph->inputs;
  if (llvm::Error error = resolveShapes(*graph, options))
    return prefixed(std::move(error));
  std::vector<std::string> batchNotes;
  if (llvm::Error error = findBatchDims(inFile, options.batchDims, graph->inputs, batchNotes))
    return prefixed(std::move(error));
  std::vector<ReplacedShape> replaced = findReplacedShapes(inFile, graph->inputs);
  auto roles = classify(*graph, options.training);
  if (!roles)
    return prefixed(roles.takeError());
  if (llvm::Error error = checkMissing(*graph, *roles))
    return prefixed(std::move(error));
  return Prepared{std::move(*model), std::move(*graph),     std::move(restored),
                  std::move(*roles), std::move(batchNotes), std::move(replaced)};
}

ImportSummary summarize(const Prepared &prepared) {
  ImportSummary summary;
  summary.producer = prepared.graph.producer;
  summary.nodes = prepared.graph.nodes.size();
  summary.restored = prepared.restored.rows;
  summary.halves = findHalves(prepared.graph, prepared.roles);
  for (auto [initializer, classified] :
       llvm::zip_equal(prepared.graph.initializers, prepared.roles)) {
    ImportSummary::Count &count = classified.role == Role::Frozen      ? summary.frozen
                                  : classified.role == Role::Parameter ? summary.trained
                                  : classified.role == Role::Buffer    ? summary.buffers
                                                                       : summary.constants;
    ++count.tensors;
    count.elements += initializer.tensor.numElements();
  }
  return summary;
}

} // namespace

OwningOpRef<ModuleOp> importOnnx(StringRef path, MLIRContext *context, const ImportOptions &options,
                                 llvm::raw_ostream &notes, std::unique_ptr<OnnxModel> *outSource,
                                 ImportSummary *outSummary) {
  CurrentWork work("file", path);
  context->loadDialect<nn::NNDialect, func::FuncDialect>();
  auto prepared = prepare(path, options, notes);
  if (!prepared) {
    emitError(FileLineColLoc::get(context, path, 0, 0)) << llvm::toString(prepared.takeError());
    return {};
  }
  // Batch dimensions matter for inference too, so the notes are printed whether or not
  // the program trains.
  for (const std::string &note : prepared->batchNotes)
    emitRemark(FileLineColLoc::get(context, path, 0, 0)) << note;
  if (options.explain)
    printClassification(prepared->graph, prepared->roles, notes);
  if (options.asExported)
    for (const std::string &loss : describeExportLosses(prepared->graph, prepared->roles))
      notes << "note: " << loss << '\n';
  ReplacedShapeHandler handler(context, prepared->replaced);
  OwningOpRef<ModuleOp> module = buildModule(prepared->graph, prepared->roles, options, context);
  if (!module)
    return {};
  for (auto variable : module->getOps<nn::VariableOp>()) {
    if (prepared->restored.reordered.count(variable.getTensorName().str()))
      variable->setAttr(nn::kReorderedAttrName, UnitAttr::get(context));
    if (auto found = prepared->restored.fileTensors.find(variable.getTensorName().str());
        found != prepared->restored.fileTensors.end())
      nn::setFileTensors(variable, found->second);
  }
  if (failed(verify(*module)))
    return {};
  remarkReplaced(prepared->replaced, FileLineColLoc::get(context, path, 0, 0));
  if (outSummary)
    *outSummary = summarize(*prepared);
  if (outSource)
    *outSource = std::move(prepared->model);
  return module;
}

std::string parseShapeOption(StringRef text, ImportOptions &options) {
  auto [name, dims] = text.rsplit(':');
  if (name.empty() || name.size() == text.size())
    return ("'" + text + "' is not NAME:DxDx..").str();
  SmallVector<int64_t> shape;
  SmallVector<StringRef> parts;
  dims.split(parts, 'x', -1, /*KeepEmpty=*/!dims.empty());
  for (StringRef part : parts) {
    int64_t size;
    if (part.getAsInteger(10, size) || size <= 0)
      return ("'" + part + "' in '" + text + "' is not an extent of at least 1").str();
    shape.push_back(size);
  }
  if (!options.shapes.try_emplace(name.str(), std::move(shape)).second)
    return ("'" + name + "' is given twice").str();
  return {};
}

} // namespace dpc::onnx
