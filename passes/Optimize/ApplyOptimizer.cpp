// Replaces the gradients that @step returns by updated parameters. Also adds the state of the
// optimizer, loss scaling and clipping, and records the schedule of the learning rate.

#include "dialects/NN/IR/FileTensors.h"
#include "dialects/NN/IR/LossScale.h"
#include "passes/Optimize/LossScale.h"
#include "passes/Optimize/Optimizer.h"
#include "passes/Optimize/Passes.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_APPLYOPTIMIZER
#include "passes/Optimize/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

/// A group of parameters that has its own options, such as a weight decay.
struct Group {
  std::string pattern;
  llvm::GlobPattern glob;
  OptionSpec options;
  /// The number of trained parameters that the glob matches.
  int64_t members = 0;
};

/// A trained parameter: its argument number in @step, and its gradient.
struct Trained {
  unsigned argument;
  Value gradient;
};

struct ApplyOptimizerPass : dpc::impl::ApplyOptimizerBase<ApplyOptimizerPass> {
  using ApplyOptimizerBase::ApplyOptimizerBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    step = module.lookupSymbol<func::FuncOp>("step");
    std::string error;
    std::unique_ptr<Optimizer> algorithm = Optimizer::create(optimizer, options, error);
    if (!step)
      error = "has no function @step";
    if (error.empty())
      parseGroups(error);
    LearningRateAttr rate;
    if (error.empty())
      rate = parseSchedule(error);
    if (error.empty() && clipGradNorm < 0)
      error = "clip-grad-norm is negative";
    if (error.empty() && !gradientType.empty() && gradientType != "bf16")
      error = "unknown gradient-type '" + gradientType + "'; known: bf16";
    if (!error.empty()) {
      module.emitError(error);
      return signalPassFailure();
    }
    module->setAttr(NNDialect::kLearningRateAttrName, rate);
    apply(*algorithm);
    for (const Group &group : groups)
      if (group.members == 0) {
        module.emitError("parameter group ") << group.pattern << " matches no trained parameter";
        return signalPassFailure();
      }
    module->setAttr(NNDialect::kOptimizerAttrName, describe());
  }

private:
  /// Returns the attribute that describes the optimizer in reports: all options, and the groups.
  OptimizerAttr describe() {
    Builder builder(&getContext());
    NamedAttrList values;
    for (const auto &[name, value] : options.values)
      values.append(name, builder.getF64FloatAttr(value));
    if (clipGradNorm > 0)
      values.append("clip-grad-norm", builder.getF64FloatAttr(clipGradNorm));
    SmallVector<Attribute> lines;
    for (const Group &group : groups) {
      std::string line;
      llvm::raw_string_ostream os(line);
      os << group.pattern << ": " << group.members
         << (group.members == 1 ? " parameter" : " parameters");
      for (const auto &[name, value] : group.options.given)
        os << ", " << name << '=' << llvm::format("%g", value);
      lines.push_back(builder.getStringAttr(line));
    }
    return OptimizerAttr::get(&getContext(), options.name, values.getDictionary(&getContext()),
                              builder.getArrayAttr(lines));
  }

  void parseGroups(std::string &error) {
    static const OptionInfo known[] = {{"weight-decay", 0}, {"lr-scale", 1}};
    for (const std::string &text : ApplyOptimizerBase::groups) {
      std::optional<OptionSpec> spec =
          OptionSpec::parse(text, known, "parameter group", error, ';');
      if (!spec)
        return;
      // A glob keeps a reference to its text. Therefore use the text of the pass option, which
      // outlives the glob.
      llvm::Expected<llvm::GlobPattern> glob =
          llvm::GlobPattern::create(StringRef(text).split(';').first);
      if (!glob) {
        error = "parameter group '" + spec->name + "': " + llvm::toString(glob.takeError());
        return;
      }
      if (spec->given.empty()) {
        error = "parameter group '" + spec->name +
                "' changes nothing: give it weight-decay=X or lr-scale=X";
        return;
      }
      groups.push_back({spec->name, std::move(*glob), *spec});
    }
  }

  LearningRateAttr parseSchedule(std::string &error) {
    static const OptionInfo known[] = {
        {"warmup", 0, 0, 1e18, false, true, /*mayBePercentage=*/true},
        {"total", 0, 0, 1e18, false, true},
        {"min-lr", 0}};
    std::optional<OptionSpec> spec = OptionSpec::parse(schedule, known, "lr-schedule", error);
    if (!spec)
      return {};
    std::optional<DecayKind> decay = symbolizeDecayKind(spec->name);
    if (!decay) {
      error = "unknown lr-schedule '" + spec->name + "'; known: constant, linear, cosine";
      return {};
    }
    int64_t warmup = (*spec)["warmup"], total = (*spec)["total"], share = 0;
    if (auto given = spec->millionths.find("warmup"); given != spec->millionths.end())
      share = given->second;
    // Without a total, the decay ends at the last step of the run, which only the host knows.
    if (*decay != DecayKind::constant && total != 0 && total <= warmup) {
      error = "lr-schedule " + spec->name + ": total=" + std::to_string(total) +
              " is not above warmup=" + std::to_string(warmup);
      return {};
    }
    if (*decay != DecayKind::constant && share == 1000000) {
      error = "lr-schedule " + spec->name + ": warmup=100% leaves no step to fall in";
      return {};
    }
    const double lowest = (*spec)["min-lr"], base = options["lr"];
    if (lowest > base) {
      llvm::raw_string_ostream(error)
          << "lr-schedule " << spec->name << ": min-lr=" << llvm::format("%g", lowest)
          << " is above lr=" << llvm::format("%g", base);
      return {};
    }
    Builder builder(&getContext());
    return LearningRateAttr::get(&getContext(), builder.getF64FloatAttr(options["lr"]), *decay,
                                 warmup, total, builder.getF64FloatAttr((*spec)["min-lr"]), share);
  }

  void apply(const Optimizer &algorithm) {
    Operation *terminator = step.front().getTerminator();
    OpBuilder builder(terminator);
    Expressions e{builder, step.getLoc()};
    SmallVector<Trained> trained;
    SmallVector<Value> results;
    SmallVector<DictionaryAttr> attrs;
    collect(trained, results, attrs);
    if (!gradientType.empty())
      for (Trained &item : trained)
        item.gradient = Expressions{builder, item.gradient.getLoc()}.convert(
            item.gradient, BFloat16Type::get(&getContext()));

    Type f64 = builder.getF64Type();
    Value rate = addArgument(ArgKind::control, "learning_rate", RankedTensorType::get({}, f64));
    // The control `step` counts the steps before this one, but t in Adam's formula begins with 1.
    std::optional<LossScale> lossScale = openLossScale();
    Value done = getStepsDone();
    // Skipped steps do not count, because they did not change the moments.
    if (lossScale)
      done = e.sub(done, lossScale->stepsSkipped);
    Value count = e.add(e.convert(done, f64), 1.0);
    Value norm, scale;
    if (!trained.empty() && (clipGradNorm > 0 || logGradNorm || lossScale))
      norm = gradientNorm(e, trained);
    if (lossScale) {
      lossScale->finite = LossScale::isFinite(e, norm, findLoss(results, attrs));
      scale = lossScale->inverse(e);
      norm = e.mul(norm, e.convert(scale, typeOf(norm).getElementType()));
    }
    if (norm && clipGradNorm > 0) {
      Value clip = clipFactor(e, norm);
      scale = scale ? e.mul(scale, e.convert(clip, typeOf(scale).getElementType())) : clip;
    }
    if (lossScale)
      keepSkippedState(e, *lossScale, results, attrs);
    const VariableNames variables(getOperation());
    for (const Trained &item : trained) {
      ArgAttr arg = nn::getArg(step, item.argument);
      UpdateInputs inputs = makeInputs(e, item, count, rate, scale, variables);
      Expressions at{builder, inputs.gradient.getLoc()};
      SmallVector<std::string> names = {arg.getName().str()};
      for (StringRef slot : algorithm.getSlots()) {
        names.push_back((slot + "|" + arg.getName()).str());
        inputs.slots.push_back(addState(names.back(), arg.getName(), typeOf(inputs.parameter)));
      }
      SmallVector<Value> olds = {inputs.parameter};
      olds.append(inputs.slots);
      SmallVector<Value> news = algorithm.build(at, inputs);
      for (auto [name, value, old] : llvm::zip_equal(names, news, olds)) {
        results.push_back(lossScale ? lossScale->choose(at, value, old) : value);
        attrs.push_back(resultAttr(ResultKind::state, name));
      }
    }
    if (lossScale)
      closeLossScale(e, *lossScale, results, attrs);
    if (norm && (clipGradNorm > 0 || logGradNorm)) {
      results.push_back(norm);
      attrs.push_back(resultAttr(ResultKind::metric, "grad_norm"));
    }
    terminator->setOperands(results);
    SmallVector<DictionaryAttr> argAttrs;
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      argAttrs.push_back(step.getArgAttrDict(i));
    llvm::append_range(argAttrs, addedAttrs);
    step.setType(FunctionType::get(&getContext(), step.front().getArgumentTypes(),
                                   TypeRange(ValueRange(results))));
    step.setAllArgAttrs(argAttrs);
    step.setAllResultAttrs(attrs);
  }

  /// Returns the inputs of the update of the parameter `item`, except its slots of optimizer state.
  /// `scale` is the factor by which all gradients are multiplied; null if there is none. The groups
  /// that contain the parameter change its weight decay and its learning rate. Each of these groups
  /// counts the parameter as a member.
  UpdateInputs makeInputs(Expressions e, const Trained &item, Value count, Value rate, Value scale,
                          const VariableNames &variables) {
    UpdateInputs inputs;
    inputs.parameter = step.getArgument(item.argument);
    inputs.gradient = item.gradient;
    inputs.step = count;
    inputs.weightDecay = options["weight-decay"];
    inputs.learningRate = rate;
    if (scale)
      inputs.gradientScale = e.convert(scale, typeOf(inputs.parameter).getElementType());
    double factor = 1;
    for (Group &group : groups) {
      if (!variables.matches(nn::getArg(step, item.argument).getName(), group.glob))
        continue;
      ++group.members;
      // If a parameter is in several groups, a later group changes only the options that its text
      // contains.
      if (group.options.given.count("weight-decay"))
        inputs.weightDecay = group.options["weight-decay"];
      if (group.options.given.count("lr-scale"))
        factor = group.options["lr-scale"];
    }
    if (factor != 1)
      inputs.learningRate = e.mul(rate, factor);
    return inputs;
  }

  /// If the loss is scaled, adds the state of loss scaling. Otherwise returns nullopt.
  std::optional<LossScale> openLossScale() {
    Value scale = findOptimizerState(step, kLossScaleName);
    if (!scale)
      return std::nullopt;
    auto count = RankedTensorType::get({}, IntegerType::get(&getContext(), 64));
    return LossScale{scale, addState(kGoodStepsName, "", count),
                     addState(kStepsSkippedName, "", count), lossScaleInterval, nullptr};
  }

  /// Returns the metric `loss` of the step; null if the step has no such metric.
  static Value findLoss(ArrayRef<Value> results, ArrayRef<DictionaryAttr> attrs) {
    for (auto [value, dictionary] : llvm::zip_equal(results, attrs)) {
      auto attr = dictionary ? dictionary.getAs<ResultAttr>(NNDialect::kResultAttrName) : nullptr;
      if (attr && attr.getKind() == ResultKind::metric && attr.getName() == "loss")
        return value;
    }
    return {};
  }

  /// Makes a skipped step keep the old values of the state that `results` already has, such as
  /// running statistics.
  void keepSkippedState(Expressions e, const LossScale &lossScale, SmallVector<Value> &results,
                        ArrayRef<DictionaryAttr> attrs) {
    for (auto [value, dictionary] : llvm::zip_equal(results, attrs)) {
      auto attr = dictionary ? dictionary.getAs<ResultAttr>(NNDialect::kResultAttrName) : nullptr;
      if (!attr || attr.getKind() != ResultKind::state)
        continue;
      for (unsigned i = 0; i < step.getNumArguments(); ++i)
        if (ArgAttr arg = nn::getArg(step, i); arg && arg.getName() == attr.getName())
          if (step.getArgument(i) != value)
            value = lossScale.choose(e, value, step.getArgument(i));
    }
  }

  void closeLossScale(Expressions e, const LossScale &lossScale, SmallVector<Value> &results,
                      SmallVector<DictionaryAttr> &attrs) {
    SmallVector<Value> news = lossScale.advance(e);
    const StringRef names[] = {kLossScaleName, kGoodStepsName, kStepsSkippedName};
    for (auto [name, value] : llvm::zip_equal(names, news)) {
      results.push_back(value);
      attrs.push_back(resultAttr(ResultKind::state, name));
    }
    results.push_back(news[0]);
    attrs.push_back(resultAttr(ResultKind::metric, kLossScaleName));
  }

  /// Splits the results of @step into gradients (`trained`) and all other results.
  void collect(SmallVector<Trained> &trained, SmallVector<Value> &results,
               SmallVector<DictionaryAttr> &attrs) {
    llvm::StringMap<unsigned> arguments;
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (ArgAttr arg = nn::getArg(step, i))
        if (arg.getKind() == ArgKind::parameter)
          arguments[arg.getName()] = i;
    Operation *terminator = step.front().getTerminator();
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      ResultAttr attr = nn::getResult(step, index);
      if (attr && attr.getKind() == ResultKind::gradient) {
        trained.push_back({arguments.lookup(attr.getName()), value});
        continue;
      }
      results.push_back(value);
      attrs.push_back(step.getResultAttrDict(index));
    }
  }

  DictionaryAttr resultAttr(ResultKind kind, StringRef name) {
    Builder builder(&getContext());
    return builder.getDictionaryAttr(builder.getNamedAttr(
        NNDialect::kResultAttrName, ResultAttr::get(&getContext(), kind, name)));
  }

  /// Adds an argument to the block only. At the end, the signature of the function gets all new
  /// arguments together, because each change of the signature copies it completely.
  Value addArgument(ArgKind kind, StringRef name, RankedTensorType type, StringRef of = "") {
    Builder builder(&getContext());
    addedAttrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        NNDialect::kArgAttrName, ArgAttr::get(&getContext(), kind, name, -1, of))));
    return step.front().addArgument(type, step.getLoc());
  }

  /// Adds a variable whose initial value is zero, and returns the new argument that holds its
  /// value.
  Value addState(StringRef name, StringRef of, RankedTensorType type) {
    OpBuilder builder(step);
    auto zero = cast<DenseElementsAttr>(builder.getZeroAttr(type));
    builder.create<VariableOp>(step.getLoc(), name, zero);
    return addArgument(ArgKind::optimizer, name, type, of);
  }

  Value getStepsDone() {
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (ArgAttr arg = nn::getArg(step, i))
        if (arg.getKind() == ArgKind::control && arg.getName() == "step")
          return step.getArgument(i);
    return addArgument(ArgKind::control, "step",
                       RankedTensorType::get({}, IntegerType::get(&getContext(), 64)));
  }

  /// Builds the L2 norm of all gradients together, a rank-0 value.
  Value gradientNorm(Expressions e, ArrayRef<Trained> trained) {
    Value total;
    for (const Trained &item : trained) {
      Value g = e.convert(item.gradient, typeOf(step.getArgument(item.argument)).getElementType());
      Value squares =
          e.sum(e.mul(g, g), llvm::to_vector(llvm::seq<int64_t>(0, typeOf(g).getRank())));
      total = total ? e.add(total, squares) : squares;
    }
    return e.sqrt(total);
  }

  /// Builds the factor of clipping, min(1, X / (norm + 1e-6)) with X = `clipGradNorm`, a rank-0
  /// value.
  Value clipFactor(Expressions e, Value norm) {
    Value factor = e.div(e.splatLike(norm, clipGradNorm), e.add(norm, 1e-6));
    return e.make<MinOp>(factor, e.splatLike(factor, 1));
  }

  func::FuncOp step;
  /// The attributes of the arguments that addArgument() has added to the block. The signature of
  /// the function does not have these arguments yet.
  SmallVector<DictionaryAttr> addedAttrs;
  OptionSpec options;
  std::vector<Group> groups;
};

} // namespace
