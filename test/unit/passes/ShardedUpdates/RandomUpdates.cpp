// Random training steps as text: a forward pass that reads parameters one after another,
// gradients backwards, and optimizers as dpc-apply-optimizer builds them.

#include "test/unit/passes/ShardedUpdates/RandomUpdates.h"

using namespace dpc::test;

RandomProgram UpdateGenerator::run() {
  makeMesh();
  makeParameters();
  program.text = makeStep();
  if (chance(50))
    program.text += makeEval();
  return std::move(program);
}

void UpdateGenerator::makeParameters() {
  // Few rules a program, so that updates are alike.
  const Rule rules[] = {Rule(below(3)), Rule(below(3))};
  const bool hasOwnRates = chance(25), hasOwnDecay = chance(25), leavesOut = chance(10);
  for (int64_t i = 0, count = 1 + below(6), left = below(3); i < count + left; ++i) {
    Updated parameter;
    const bool isTrained = i < count;
    for (int64_t d = 0, rank = below(4); d < rank; ++d)
      parameter.shape.push_back(1 + below(7));
    if (isTrained && i > 0 && chance(20))
      parameter.shape = trained.front().shape;
    parameter.name = (isTrained ? "p" : "f") + std::to_string(i);
    parameter.kind = isTrained || chance(70) ? "parameter" : "buffer";
    parameter.layout = randomLayout(parameter.shape);
    parameter.rule = rules[below(2)];
    parameter.rate = hasOwnRates && chance(40) ? "%half" : "%lr";
    parameter.decay = hasOwnDecay && chance(40) ? "0.05" : "0.01";
    parameter.isClipped = !leavesOut || chance(60);
    (isTrained ? trained : frozen).push_back(parameter);
  }
}

std::string UpdateGenerator::gradientTerm(const Parameter &parameter) {
  Shape shape = parameter.shape;
  std::string value = parameter.value();
  const bool isFlat = chance(20);
  if (isFlat) {
    shape = {product(parameter.shape)};
    value =
        emit("nn.reshape " + value + " : " + parameter.type() + " -> " + typeText(shape, "f64"));
  }
  const Shape all = samplesOf(shape);
  std::string term = input(shape);
  const int64_t kind = below(samples.empty() ? 2 : 4);
  if (kind >= 2) { // of what the forward pass made
    term = binary("mul", term, emit(broadcastText(samples, {batch}, {0}, all)), all);
  } else {
    if (kind == 1)
      term = binary("mul", term, term, all);
    std::string own = emit(broadcastText(value, shape, dimensions(1, all.size()), all));
    term = binary("mul", term, unary("tanh", own, all), all);
  }
  if (chance(20)) { // cut over fewer devices: the sum of this term is over others
    std::string request = chance(50) ? "[]" : "[\"" + devices[below(devices.size())] + "\"]";
    for (size_t d = 1; d < all.size(); ++d)
      request += ", []";
    term =
        emit("nn.tanh " + term + " {dist.request = [" + request + "]} : " + typeText(all, "f64"));
  }
  term = emit(sumText(term, all, {0}));
  if (isFlat)
    term = emit("nn.reshape " + term + " : " + typeText(shape, "f64") + " -> " + parameter.type());
  return term;
}

std::string UpdateGenerator::gradient(const Parameter &parameter) {
  const Shape &shape = parameter.shape;
  std::vector<std::string> terms = {gradientTerm(parameter)};
  if (chance(30)) // tied
    terms.push_back(gradientTerm(parameter));
  if (chance(30)) { // what all ranks have
    std::string whole = parameter.value();
    for (const Parameter &other : frozen)
      if (other.shape == shape && chance(70))
        whole = binary("sub", whole, other.value(), shape);
    terms.push_back(unary("tanh", whole, shape));
  }
  std::shuffle(terms.begin(), terms.end(), random);
  std::string sum = terms.front();
  for (size_t i = 1; i < terms.size(); ++i)
    sum = chance(50) ? binary("add", sum, terms[i], shape) : binary("add", terms[i], sum, shape);
  if (chance(8)) // no sum any more
    sum = unary("tanh", sum, shape);
  if (chance(5)) // something else reads it
    addResult(sum, shape, "output", "gradient." + parameter.name);
  return sum;
}

std::string UpdateGenerator::clipFactor(const std::vector<std::string> &gradients) {
  std::string total;
  for (size_t i = 0; i < trained.size(); ++i)
    if (trained[i].isClipped) {
      const std::string own = sumSquares(gradients[i], trained[i].shape);
      total = total.empty() ? own : binary("add", total, own, {});
    }
  if (total.empty())
    return "";
  const std::string norm = unary("sqrt", total, {});
  if (chance(50))
    addResult(norm, {}, "metric", "grad_norm");
  const std::string factor =
      binary("div", scalar("1.0"), binary("add", norm, scalar("1.0e-6"), {}), {});
  return binary("min", factor, scalar("1.0"), {});
}

std::string UpdateGenerator::addSlot(const Parameter &parameter, const std::string &slot) {
  const std::string name = slot + "_" + parameter.name;
  // As the parameter: slots have no requests of their own.
  addArgument(name, parameter.type(),
              "nn.arg = #nn.arg<optimizer \"" + slot + "|" + parameter.name + "\", of = \"" +
                  parameter.name + "\">" +
                  (parameter.layout.empty()
                       ? ""
                       : ", dist.layout = #dist.layout<\"" + parameter.layout + "\">"));
  return "%" + name;
}

/// An update of tensors of type `type` by scalars, of `results` tensors.
static std::string updateText(const std::vector<std::string> &tensors,
                              const std::vector<std::string> &scalars, const std::string &type,
                              const std::string &region, int64_t results) {
  auto join = [](const std::vector<std::string> &items) {
    std::string text;
    for (const std::string &item : items)
      text += (text.empty() ? "" : ", ") + item;
    return text;
  };
  auto repeat = [&](const std::string &item, size_t count) {
    return join(std::vector<std::string>(count, item));
  };
  std::vector<std::string> elements;
  for (size_t i = 0; i < tensors.size() + scalars.size(); ++i)
    elements.push_back("%e" + std::to_string(i) + ": tensor<f64>");
  return "nn.update(" + join(tensors) + " : " + repeat(type, tensors.size()) + ") scalars(" +
         join(scalars) + (scalars.empty() ? "" : " : ") + repeat("tensor<f64>", scalars.size()) +
         ") {\n  ^bb0(" + join(elements) + "):\n" + region + "  } -> " + repeat(type, results);
}

/// A line of an update's region that makes `name`.
static std::string line(const std::string &name, const std::string &op) {
  return "    " + name + " = nn." + op + " : tensor<f64>\n";
}

static std::string yield(const std::vector<std::string> &names) {
  std::string values, types;
  for (const std::string &name : names) {
    values += (values.empty() ? "" : ", ") + name;
    types += types.empty() ? "tensor<f64>" : ", tensor<f64>";
  }
  return "    nn.yield " + values + " : " + types + "\n";
}

void UpdateGenerator::update(const Updated &parameter, const std::string &gradient,
                             const std::string &scale) {
  if (parameter.rule == lamb)
    return updateLamb(parameter, gradient, scale);
  const bool hasSlot = parameter.rule == momentum;
  std::vector<std::string> tensors = {parameter.value(), gradient}, scalars = {parameter.rate};
  if (hasSlot)
    tensors.push_back(addSlot(parameter, "m"));
  if (!scale.empty())
    scalars.push_back(scale);
  const std::string rate = "%e" + std::to_string(tensors.size());
  std::string region =
      line("%c", "constant dense<" + parameter.decay + ">") + line("%d", "mul %e0, %c") +
      line("%g",
           scale.empty() ? "add %e1, %d" : "mul %e1, %e" + std::to_string(tensors.size() + 1));
  if (hasSlot)
    region +=
        line("%k", "constant dense<0.9>") + line("%o", "mul %e2, %k") + line("%m", "add %o, %g");
  region += line("%s", "mul " + rate + (hasSlot ? ", %m" : ", %g")) + line("%w", "sub %e0, %s");
  region += hasSlot ? yield({"%w", "%m"}) : yield({"%w"});
  const std::string made = "%u" + std::to_string(next++);
  body += "  " + made + (hasSlot ? ":2 = " : " = ") +
          updateText(tensors, scalars, parameter.type(), region, hasSlot ? 2 : 1) + "\n";
  addResult(hasSlot ? made + "#0" : made, parameter.shape, "state", parameter.name);
  if (hasSlot)
    addResult(made + "#1", parameter.shape, "state", "m|" + parameter.name);
}

// The second moment starts positive and the epsilon is large: a direction is a quotient, and
// its rounding must not grow.
void UpdateGenerator::updateLamb(const Updated &parameter, const std::string &gradient,
                                 const std::string &scale) {
  const Shape &shape = parameter.shape;
  std::vector<std::string> tensors = {parameter.value(), gradient, addSlot(parameter, "m"),
                                      addSlot(parameter, "v")};
  std::vector<std::string> scalars;
  if (!scale.empty())
    scalars.push_back(scale);
  std::string region = line("%k", "constant dense<0.9>") + line("%l", "constant dense<0.1>") +
                       line("%c", "constant dense<" + parameter.decay + ">") +
                       (scale.empty() ? line("%g", "mul %e1, %l")
                                      : line("%y", "mul %e1, %e4") + line("%g", "mul %y, %l")) +
                       line("%a", "mul %e2, %k") + line("%m", "add %a, %g") +
                       line("%b", "mul %e3, %k") + line("%q", "mul %g, %g") +
                       line("%v", "add %b, %q") + line("%r", "sqrt %v") + line("%s", "add %r, %l") +
                       line("%t", "div %m, %s") + line("%d", "mul %e0, %c") +
                       line("%u", "add %t, %d") + yield({"%u", "%m", "%v"});
  const std::string made = "%u" + std::to_string(next++);
  body += "  " + made + ":3 = " + updateText(tensors, scalars, parameter.type(), region, 3) + "\n";
  const std::string direction = made + "#0";
  const std::string weights = unary("sqrt", sumSquares(parameter.value(), shape), {});
  const std::string steps = unary("sqrt", sumSquares(direction, shape), {});
  const std::string isUsable =
      emit("nn.compare gt " + steps + ", " + scalar("0.0") + " : tensor<f64> -> tensor<i1>");
  const std::string ratio =
      emit("nn.select " + isUsable + ", " + binary("div", weights, steps, {}) + ", " +
           scalar("1.0") + " : tensor<i1>, tensor<f64>");
  std::vector<std::string> factors;
  std::string follower;
  if (chance(70)) {
    factors = {binary("mul", parameter.rate, ratio, {})};
    follower = line("%s", "mul %e2, %e1");
  } else { // a number of its own beside one of all
    factors = {ratio, parameter.rate};
    if (chance(50))
      std::swap(factors.front(), factors.back());
    follower = line("%r", "mul %e2, %e3") + line("%s", "mul %r, %e1");
  }
  const std::string updated =
      emit(updateText({parameter.value(), direction}, factors, parameter.type(),
                      follower + line("%w", "sub %e0, %s") + yield({"%w"}), 1));
  addResult(updated, shape, "state", parameter.name);
  addResult(made + "#1", shape, "state", "m|" + parameter.name);
  addResult(made + "#2", shape, "state", "v|" + parameter.name);
}

std::string UpdateGenerator::makeStep() {
  for (const auto *list : {&trained, &frozen})
    for (const Parameter &parameter : *list)
      addParameter(parameter);
  addArgument("lr", "tensor<f64>", "nn.arg = #nn.arg<control \"lr\">");
  body = "  %h = nn.constant dense<0.5> : tensor<f64>\n"
         "  %half = nn.mul %lr, %h : tensor<f64>\n";
  for (const auto *list : {&trained, &frozen})
    for (const Parameter &parameter : *list)
      if (chance(70))
        samples = forward(samples, parameter);
  if (!samples.empty() && chance(90))
    addResult(sumSquares(samples, {batch}), {}, "metric", "loss");
  if (chance(20)) { // a running mean
    const Shape shape = {1 + below(5)};
    Parameter mean;
    mean.name = "mean";
    mean.shape = shape;
    mean.kind = "buffer";
    addParameter(mean);
    addResult(
        binary("add", mean.value(), emit(sumText(input(shape), samplesOf(shape), {0})), shape),
        shape, "state", "mean");
  }
  // Backwards, on the whole.
  std::vector<std::string> gradients(trained.size());
  for (size_t i = trained.size(); i-- > 0;)
    gradients[i] = gradient(trained[i]);
  const std::string scale = chance(35) ? clipFactor(gradients) : "";
  for (size_t i = 0; i < trained.size(); ++i)
    update(trained[i], gradients[i], trained[i].isClipped ? scale : "");
  return finishFunction("step");
}

std::string UpdateGenerator::makeEval() {
  for (const auto *list : {&trained, &frozen})
    for (const Parameter &parameter : *list)
      if (chance(60)) {
        addParameter(parameter);
        samples = forward(samples, parameter);
      }
  if (samples.empty())
    samples = unary("tanh", input({}), {batch});
  addResult(samples, {batch}, "output", "y");
  if (trained.front().rule != sgd && chance(15)) // state that is not the step's alone
    addResult(unary("tanh", addSlot(trained.front(), "m"), trained.front().shape),
              trained.front().shape, "output", "m");
  return finishFunction("eval");
}

RandomProgram dpc::test::makeRandomUpdates(uint32_t seed) { return UpdateGenerator(seed).run(); }
