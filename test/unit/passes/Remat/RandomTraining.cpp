// Random networks with a loss, as text.

#include "test/unit/passes/Remat/RandomTraining.h"

using namespace dpc::test;

RandomTraining TrainingGenerator::run() {
  makeMesh();
  program.text = makeStep();
  if (chance(40))
    program.text += makeEval();
  // Epsilons are large: directions are quotients, and their rounding must not grow.
  static const char *const optimizers[] = {"sgd,lr=0.1", "momentum,lr=0.1,momentum=0.9",
                                           "adamw,lr=0.1,eps=0.1", "lamb,lr=0.1,eps=0.1"};
  RandomTraining training;
  training.optimizer = optimizers[below(std::size(optimizers))];
  training.clipGradNorm = chance(35) ? 0.5 : 0;
  training.program = std::move(program);
  return training;
}

std::optional<TrainingGenerator::Activation> TrainingGenerator::pick(int64_t rank, int64_t most) {
  std::vector<Activation> fitting;
  for (const Activation &value : values)
    if (value.rank() >= rank && value.rank() <= most)
      fitting.push_back(value);
  if (fitting.empty())
    return std::nullopt;
  // Networks should be deep, with a few values that are read far behind.
  return chance(70) ? fitting.back() : fitting[below(fitting.size())];
}

TrainingGenerator::Activation TrainingGenerator::pickLike(const Activation &x) {
  std::vector<Activation> fitting;
  for (const Activation &value : values)
    if (value.shape == x.shape)
      fitting.push_back(value);
  return fitting[below(fitting.size())];
}

TrainingGenerator::Activation TrainingGenerator::add(const std::string &op, const Shape &shape) {
  values.push_back({emit(op), shape});
  return values.back();
}

std::string TrainingGenerator::labels(const Shape &shape, int64_t limit) {
  const std::string name = "i" + std::to_string(next++);
  addArgument(name, typeText(shape, "i64"), "nn.arg = #nn.arg<input \"" + name + "\", batch = 0>");
  RandomArgument argument;
  argument.name = name;
  argument.limit = limit;
  program.arguments.push_back(argument);
  return "%" + name;
}

std::string TrainingGenerator::parameter(const Shape &shape, bool isTrained) {
  for (const Parameter &other : parameters)
    if (other.shape == shape && (!isTrained || other.kind == "parameter") && chance(25)) // tied
      return other.value();
  Parameter made;
  made.name = "p" + std::to_string(next++);
  made.shape = shape;
  made.kind = isTrained ? "parameter" : "buffer";
  made.layout = randomLayout(shape);
  addParameter(made);
  parameters.push_back(made);
  return made.value();
}

std::string TrainingGenerator::parameterLike(const Activation &x) {
  return emit(
      broadcastText(parameter({x.last()}, chance(85)), {x.last()}, {x.rank() - 1}, x.shape));
}

std::string TrainingGenerator::mean(const Activation &x) {
  const std::string sum = sumAll(x.name, x.shape);
  return binary("mul", sum, scalar(std::to_string(1.0 / dpc::test::product(x.shape))), {});
}

std::string TrainingGenerator::loss() {
  const Activation y = values.back();
  if (y.last() > 1 && chance(40)) {
    const Shape rest(y.shape.begin(), y.shape.end() - 1);
    const std::string stat = typeText(rest, "f64"), name = "%v" + std::to_string(next++);
    const std::string classes = labels(rest, y.last());
    body += "  " + name + ":2 = nn.cross_entropy " + y.name + ", " + classes + " dim " +
            std::to_string(y.rank() - 1) + " {labelSmoothing = 0.1 : f64} : " + y.type() + ", " +
            typeText(rest, "i64") + " -> " + stat + ", " + stat + "\n";
    return mean({name + "#0", rest});
  }
  const Shape features(y.shape.begin() + 1, y.shape.end());
  const std::string error = binary("sub", y.name, input(features), y.shape);
  return mean({binary("mul", error, error, y.shape), y.shape});
}

std::string TrainingGenerator::makeStep() {
  node = "first";
  start();
  node.clear();
  for (int64_t made = 0, layers = 4 + below(16); made < layers;)
    made += makeLayer();
  std::string total = loss();
  if (chance(30)) { // of something in the middle, too
    const Activation x = *pick();
    total = binary("add", total, mean({binary("mul", x.name, x.name, x.shape), x.shape}), {});
  }
  if (chance(20)) { // a penalty on weights
    const Parameter &weights = parameters[below(parameters.size())];
    total = binary("add", total, sumSquares(weights.value(), weights.shape), {});
  }
  addResult(total, {}, "metric", "loss");
  if (chance(30))
    addResult(mean(*pick()), {}, "metric", "mean");
  if (chance(15)) {
    const Activation x = *pick();
    addResult(x.name, x.shape, "output", "y");
  }
  if (chance(20)) { // a running mean
    const Activation x = *pick();
    Parameter running;
    running.name = "mean";
    running.shape = Shape(x.shape.begin() + 1, x.shape.end());
    running.kind = "buffer";
    addParameter(running);
    addResult(binary("add", running.value(), emit(sumText(x.name, x.shape, {0})), running.shape),
              running.shape, "state", "mean");
  }
  return finishFunction("step");
}

std::string TrainingGenerator::makeEval() {
  for (const Parameter &own : parameters)
    if (chance(60)) {
      addParameter(own);
      samples = forward(samples, own);
    }
  if (samples.empty())
    samples = unary("tanh", input({}), {batch});
  addResult(samples, {batch}, "output", "y");
  return finishFunction("eval");
}

RandomTraining dpc::test::makeRandomTraining(uint32_t seed) {
  return TrainingGenerator(seed).run();
}
