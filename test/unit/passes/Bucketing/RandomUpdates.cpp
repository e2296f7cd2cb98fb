// Random training steps as text: a forward pass that reads parameters one after another,
// gradients backwards, and optimizers as dpc-apply-optimizer builds them.

#include "test/unit/passes/Bucketing/RandomUpdates.h"

using namespace dpc::test;

RandomProgram UpdateGenerator::run() {
  makeMesh();
  makeParameters();
  program.text = makeStep();
  if (chance(50))
    program.text += makeEval();
  return std::move(program);
}

void UpdateGenerator::makeMesh() {
  int64_t iterations = 1;
  auto addAxis = [&](const std::string &name, int64_t size) {
    program.mesh.axes.push_back(name + "=" + std::to_string(size));
  };
  auto addDevices = [&](const std::string &name, int64_t size) {
    addAxis(name, size);
    devices.push_back(name);
    if (name == "model" ? chance(80) : chance(10))
      program.mesh.autoAxes.push_back(name);
    if (name != "model" && chance(90))
      program.mesh.batchAxes.push_back(name);
  };
  if (chance(45)) {
    iterations = 2 + below(2);
    addAxis("micro", iterations);
    program.mesh.sequential = {"micro"};
    program.mesh.batchAxes = {"micro"};
  }
  const int64_t kind = below(10);
  if (kind < 4) {
    addDevices("data", 2 + below(3));
  } else {
    if (kind < 7 || kind == 9)
      addDevices("replica", 2);
    addDevices("data", kind == 9 ? 2 : 2 + below(2));
    if (kind >= 7)
      addDevices("model", kind == 9 ? 2 : 2 + below(2));
  }
  batch = iterations * (1 + below(6));
}

std::string UpdateGenerator::randomLayout(const Shape &shape) {
  const bool hasModel = devices.back() == "model";
  if (shape.empty() || !chance(hasModel ? 25 : 4))
    return "";
  const size_t cut = below(shape.size());
  std::string text;
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::string extent = std::to_string(shape[d]);
    text +=
        (d ? ", [" : "[") + (d == cut ? "(" + extent + ": " + devices.back() + ")" : extent) + "]";
  }
  return text;
}

void UpdateGenerator::makeParameters() {
  // Few rules a program, so that updates are alike.
  const Rule rules[] = {Rule(below(3)), Rule(below(3))};
  const bool hasOwnRates = chance(25), hasOwnDecay = chance(25), leavesOut = chance(10);
  for (int64_t i = 0, count = 1 + below(6), left = below(3); i < count + left; ++i) {
    Parameter parameter;
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

std::string UpdateGenerator::emit(const std::string &op) {
  const std::string name = "%v" + std::to_string(next++);
  body += "  " + name + " = " + op + "\n";
  return name;
}

std::string UpdateGenerator::binary(const std::string &op, const std::string &lhs,
                                    const std::string &rhs, const Shape &shape) {
  return emit("nn." + op + " " + lhs + ", " + rhs + " : " + typeText(shape, "f64"));
}

std::string UpdateGenerator::unary(const std::string &op, const std::string &value,
                                   const Shape &shape) {
  return emit("nn." + op + " " + value + " : " + typeText(shape, "f64"));
}

std::string UpdateGenerator::scalar(const std::string &number) {
  return emit("nn.constant dense<" + number + "> : tensor<f64>");
}

/// Dimensions [first, last) of a tensor.
static Shape dimensions(int64_t first, int64_t last) {
  Shape dims;
  for (int64_t d = first; d < last; ++d)
    dims.push_back(d);
  return dims;
}

static std::string sumText(const std::string &value, const Shape &shape, const Shape &dims) {
  Shape left;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      left.push_back(shape[d]);
  return "nn.reduce sum " + value + " " + list(dims) + " : " + typeText(shape, "f64") + " -> " +
         typeText(left, "f64");
}

static std::string broadcastText(const std::string &value, const Shape &from, const Shape &dims,
                                 const Shape &to) {
  return "nn.broadcast " + value + " " + list(dims) + " : " + typeText(from, "f64") + " -> " +
         typeText(to, "f64");
}

std::string UpdateGenerator::sumAll(const std::string &value, const Shape &shape) {
  return emit(sumText(value, shape, dimensions(0, shape.size())));
}

std::string UpdateGenerator::sumSquares(const std::string &value, const Shape &shape) {
  return sumAll(binary("mul", value, value, shape), shape);
}

Shape UpdateGenerator::samplesOf(const Shape &shape) const {
  Shape all = {batch};
  all.insert(all.end(), shape.begin(), shape.end());
  return all;
}

std::string UpdateGenerator::input(const Shape &shape) {
  const std::string name = "x" + std::to_string(next++);
  addArgument(name, typeText(samplesOf(shape), "f64"),
              "nn.arg = #nn.arg<input \"" + name + "\", batch = 0>");
  return "%" + name;
}

std::string UpdateGenerator::forward(const std::string &before, const Parameter &parameter) {
  const Shape all = samplesOf(parameter.shape);
  const int64_t rank = all.size();
  std::string own =
      emit(broadcastText(parameter.value(), parameter.shape, dimensions(1, rank), all));
  own = binary("mul", input(parameter.shape), own, all);
  if (rank > 1)
    own = emit(sumText(own, all, dimensions(1, rank)));
  return unary("tanh", before.empty() ? own : binary("add", before, own, {batch}), {batch});
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

void UpdateGenerator::update(const Parameter &parameter, const std::string &gradient,
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
void UpdateGenerator::updateLamb(const Parameter &parameter, const std::string &gradient,
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

void UpdateGenerator::addArgument(const std::string &name, const std::string &type,
                                  const std::string &attributes) {
  arguments.push_back("%" + name + ": " + type + " {" + attributes + "}");
}

void UpdateGenerator::addParameter(const Parameter &parameter) {
  std::string attributes = "nn.arg = #nn.arg<" + parameter.kind + " \"" + parameter.name + "\">";
  if (!parameter.layout.empty())
    attributes += ", dist.layout = #dist.layout<\"" + parameter.layout + "\">";
  addArgument(parameter.name, parameter.type(), attributes);
}

void UpdateGenerator::addResult(const std::string &value, const Shape &shape,
                                const std::string &kind, const std::string &name) {
  results.push_back(typeText(shape, "f64") + " {nn.result = #nn.result<" + kind + " \"" + name +
                    "\">}");
  types.push_back(typeText(shape, "f64"));
  returned.push_back(value);
}

std::string UpdateGenerator::finishFunction(const std::string &name) {
  auto join = [](const std::vector<std::string> &items, const std::string &separator) {
    std::string text;
    for (const std::string &item : items)
      text += (text.empty() ? "" : separator) + item;
    return text;
  };
  std::string text = "func.func @" + name + "(" + join(arguments, ",\n    ") + ")\n    -> (" +
                     join(results, ",\n        ") + ") {\n" + body + "  return " +
                     join(returned, ", ") + " : " + join(types, ", ") + "\n}\n";
  for (auto *list : {&arguments, &results, &types, &returned})
    list->clear();
  body.clear();
  samples.clear();
  return text;
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
