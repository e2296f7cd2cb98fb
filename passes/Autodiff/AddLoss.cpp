// Makes @step and @eval from @forward: adds the loss to both, and the metrics to @eval. Replaces
// each op whose meaning differs between training and evaluation: by its training form in @step,
// and by its evaluation form in @eval.

#include "passes/Autodiff/FunctionForms.h"
#include "passes/Autodiff/Metrics.h"
#include "passes/Autodiff/Passes.h"
#include "passes/Autodiff/SampleDim.h"

#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Normalization.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ADDLOSS
#include "passes/Autodiff/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

struct AddLossPass : dpc::impl::AddLossBase<AddLossPass> {
  using AddLossBase::AddLossBase;

  void runOnOperation() override {
    auto forward = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!forward) {
      getOperation().emitError("has no function @forward");
      return signalPassFailure();
    }
    if (failed(build(forward, "step", /*training=*/true)) ||
        failed(build(forward, "eval", /*training=*/false)))
      return signalPassFailure();
    forward.erase();
  }

  /// Clones `forward` under the name `name`, in its training or evaluation form, and adds the loss.
  /// The evaluation form also gets the metrics.
  LogicalResult build(func::FuncOp forward, StringRef name, bool training) {
    func::FuncOp function = forward.clone();
    function.setName(name);
    getOperation().insert(forward, function);
    if (training) {
      TrainingContext training;
      training.batchGroups = batchGroups;
      training.seed = addControl(function, "seed");
      training.step = addControl(function, "step");
      auto toTraining = [&](TrainingModeOpInterface op, OpBuilder &b) {
        return op.buildTraining(b, training);
      };
      if (failed(replaceModeOps(function, toTraining)))
        return failure();
    } else {
      auto toInference = [](TrainingModeOpInterface op, OpBuilder &b) {
        return op.buildInference(b);
      };
      if (failed(replaceModeOps(function, toInference)))
        return failure();
      replaceGradientForms(function);
    }

    Operation *terminator = function.front().getTerminator();
    OpBuilder builder(terminator);
    FunctionResults results;
    FailureOr<EvaluatedLoss> loss = buildLoss(function, builder, training);
    if (failed(loss))
      return failure();
    results.add(ResultKind::metric, "loss", loss->value.loss);
    SmallVector<MetricMean> means = {MetricMean::labels};
    if (!training) {
      if (loss->value.count) {
        results.add(ResultKind::metric, "count", loss->value.count);
        means.push_back(MetricMean::labels);
      }
      for (StringRef name : metricsOf(*loss)) {
        FailureOr<MetricValue> metric = buildMetric(function, builder, name, *loss);
        if (failed(metric))
          return failure();
        results.add(ResultKind::metric, metric->name, metric->value);
        means.push_back(metric->mean);
      }
    }
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      ResultAttr attr = nn::getResult(function, index);
      if (training && attr && attr.getKind() == ResultKind::state)
        results.add(ResultKind::state, attr.getName(), value);
    }
    results.setOn(function);
    for (auto [index, mean] : llvm::enumerate(means))
      setMean(function, index, mean);
    return success();
  }

  /// Returns the names of the metrics: first `accuracy` if the loss is a cross-entropy, then the
  /// names in the option `metrics`.
  SmallVector<StringRef> metricsOf(const EvaluatedLoss &loss) {
    SmallVector<StringRef> names;
    if (findMetricDefect("accuracy", loss.kind).empty())
      names.push_back("accuracy");
    for (const std::string &name : metrics)
      if (!llvm::is_contained(names, name))
        names.push_back(name);
    return names;
  }

  Value addControl(func::FuncOp function, StringRef name) {
    return addArgument(function, ArgKind::control, name,
                       RankedTensorType::get({}, IntegerType::get(&getContext(), 64)));
  }

  Value addArgument(func::FuncOp function, ArgKind kind, StringRef name, RankedTensorType type,
                    int64_t batch = -1) {
    unsigned index = function.getNumArguments();
    auto attr = ArgAttr::get(&getContext(), kind, name, batch, "");
    function.insertArgument(
        index, type,
        DictionaryAttr::get(&getContext(),
                            {{StringAttr::get(&getContext(), NNDialect::kArgAttrName), attr}}),
        function.getLoc());
    return function.getArgument(index);
  }

  /// Returns the index of the function result that the loss reads.
  FailureOr<unsigned> findOutput(func::FuncOp function) {
    StringRef wanted = lossOutput;
    const bool isInGraph = StringRef(loss).starts_with("output:");
    if (isInGraph)
      wanted = StringRef(loss).substr(7);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (ResultAttr attr = nn::getResult(function, i);
          attr && attr.getKind() == ResultKind::output &&
          ((wanted.empty() && !isInGraph) || attr.getName() == wanted))
        return i;
    return function.emitError("loss ")
               << loss << (lossOutput.empty() ? "" : ",of=") << lossOutput
               << ": the graph has no such output; it has " << getOutputNames(function),
           failure();
  }

  FailureOr<EvaluatedLoss> buildLoss(func::FuncOp function, OpBuilder &builder, bool training) {
    Operation *terminator = function.front().getTerminator();
    StringRef name = loss;
    FailureOr<unsigned> chosen = findOutput(function);
    if (failed(chosen))
      return failure();
    Value output = terminator->getOperand(*chosen);
    StringRef outputName = nn::getResult(function, *chosen).getName();
    RankedTensorType type = typeOf(output);
    if (!isa<FloatType>(type.getElementType()))
      return function.emitError("loss ") << name << ": output " << outputName << " has type "
                                         << type << ", which is not a float",
             failure();
    Expressions e{builder, output.getLoc()};
    if (name.starts_with("output:")) {
      if (type.getNumElements() != 1)
        return function.emitError("loss ")
                   << name << ": output has type " << type << ", which is not a scalar",
               failure();
      recordLoss("in graph", outputName, type, -1);
      return EvaluatedLoss{name, output, outputName, -1, {e.reshape(output, {}), {}, {}, {}},
                           {},   {}};
    }

    std::string known;
    std::unique_ptr<LossFunction> kind = LossFunction::create(name, known);
    if (!kind)
      return function.emitError("unknown loss '") << name << "'; known: " << known, failure();
    LossFunction::Options options;
    options.labelSmoothing = labelSmoothing;
    options.ignoreIndex = ignoreIndex;
    if (!labelShape.empty())
      options.labelShape = ArrayRef<int64_t>(*labelShape);
    if (!classAxis.empty())
      options.classAxis = classAxis[0];
    if (!labelType.empty()) {
      // Silence the parser: its message is about the grammar of MLIR, which users need not know.
      ScopedDiagnosticHandler silent(&getContext(), [](Diagnostic &) { return success(); });
      options.labelType = parseType(labelType, &getContext());
    }
    if (!labelType.empty()) {
      if (!options.labelType || !options.labelType.isIntOrFloat())
        return function.emitError("label type '")
                   << labelType << "' is not a type such as i64 or f32",
               failure();
    }
    FailureOr<LossFunction::Labels> label = kind->getLabels(output.getLoc(), type, options);
    if (failed(label))
      return failure();
    recordLoss(name, outputName, type, label->classAxis);
    if (training && label->classAxis >= 0)
      noteLogits(output, label->classAxis);
    FailureOr<int64_t> samples = findSamples(function, output, outputName, *label, training);
    if (failed(samples))
      return failure();
    options.sampleDim = *samples;
    Value labels = addArgument(function, ArgKind::label, "label", label->type, *samples);
    Value validRows = training ? Value() : addControl(function, "valid_rows");
    LossValue value = kind->build(builder, lossLocation(output.getLoc()), output, labels,
                                  label->classAxis, validRows, options);
    return EvaluatedLoss{name, output, outputName, label->classAxis, value, options, validRows};
  }

  /// Emits a remark if `output` is unlikely to be the logits of a cross-entropy: because it has
  /// only one class, or because it is already a softmax.
  static void noteLogits(Value output, int64_t classAxis) {
    if (typeOf(output).getDimSize(classAxis) == 1)
      emitRemark(output.getLoc()) << "a cross-entropy of one class is always 0: labels that are 0 "
                                     "or 1 go with --loss=bce-with-logits";
    auto softmax = output.getDefiningOp<SoftmaxOp>();
    if (softmax && int64_t(softmax.getDimension()) == classAxis)
      emitRemark(output.getLoc()) << "the output is a softmax, and a cross-entropy takes the "
                                     "softmax of its logits: export the model without its last "
                                     "softmax";
  }

  /// Returns the batch dimension of the labels: the option `label-batch-dim`; without it the
  /// dimension that corresponds to the batch dimension of the output; if that is unknown, the
  /// first dimension. -1 for labels of rank 0 without the option.
  FailureOr<int64_t> findSamples(func::FuncOp function, Value output, StringRef outputName,
                                 const LossFunction::Labels &label, bool training) {
    ArrayRef<int64_t> shape = label.type.getShape();
    const int64_t rank = shape.size();
    if (rank == 0 && labelBatchDim.empty())
      return -1;
    int64_t dim = 0;
    bool isGuess = false;
    if (!labelBatchDim.empty()) {
      dim = labelBatchDim[0];
      if (dim < 0 || dim >= rank)
        return emitError(output.getLoc())
                   << "--batch-dim=label:" << dim << ": the labels have rank " << rank,
               failure();
    } else if (std::optional<int64_t> own = findSampleDim(function, output, label.classAxis)) {
      dim = label.classAxis >= 0 && label.classAxis < *own ? *own - 1 : *own;
    } else {
      isGuess = true;
    }
    const std::optional<int64_t> batch = getBatch(function);
    if (batch && shape[dim] != *batch) {
      ArgAttr arg = nn::getArg(function, findBatchedInput(function).getArgNumber());
      return emitError(output.getLoc())
                 << "dimension " << dim << " of the labels, of type " << label.type
                 << ", has extent " << shape[dim] << ", but input '" << arg.getName() << "' has "
                 << *batch << " samples along dimension " << arg.getBatch()
                 << ": --batch-dim=" << arg.getName()
                 << ":K or --batch-dim=label:K says which dimension counts them",
             failure();
    }
    // With one sample per batch a wrong guess has no effect, so the remark is not needed.
    if (isGuess && training && batch && *batch > 1)
      noteLostSamples(function, output, outputName);
    return dim;
  }

  /// Emits a remark that dimension 0 of the labels was only guessed to be their batch
  /// dimension. The extent of this dimension equals the number of samples, but the dimension might
  /// count something else, e.g. the time steps of a recurrent layer.
  static void noteLostSamples(func::FuncOp function, Value output, StringRef outputName) {
    ArgAttr arg = nn::getArg(function, findBatchedInput(function).getArgNumber());
    InFlightDiagnostic remark = emitRemark(output.getLoc());
    remark << "no dimension of output '" << outputName << "', of shape [";
    llvm::interleaveComma(typeOf(output).getShape(), remark);
    remark << "], is known to count the samples along dimension " << arg.getBatch() << " of input '"
           << arg.getName()
           << "', so dimension 0 of the labels is taken to; --batch-dim=" << arg.getName()
           << ":K takes another dimension of the input, --batch-dim=label:K of the labels";
  }

  /// Records the kind of the loss, its output and the axis of its classes on the module, for
  /// reports and for the host.
  void recordLoss(StringRef name, StringRef output, RankedTensorType type, int64_t classAxis) {
    getOperation()->setAttr(NNDialect::kLossAttrName,
                            LossAttr::get(&getContext(), name, output, type, classAxis));
  }
};

} // namespace
