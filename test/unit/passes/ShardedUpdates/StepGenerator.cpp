// The parts of random training steps that all of them have, as text.

#include "test/unit/passes/ShardedUpdates/StepGenerator.h"

using namespace dpc::test;

void StepGenerator::makeMesh() {
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

std::string StepGenerator::randomLayout(const Shape &shape) {
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

std::string StepGenerator::emit(const std::string &op) {
  const std::string name = "%v" + std::to_string(next++);
  body += "  " + name + " = " + op + location() + "\n";
  return name;
}

std::string StepGenerator::binary(const std::string &op, const std::string &lhs,
                                  const std::string &rhs, const Shape &shape) {
  return emit("nn." + op + " " + lhs + ", " + rhs + " : " + typeText(shape, "f64"));
}

std::string StepGenerator::unary(const std::string &op, const std::string &value,
                                 const Shape &shape) {
  return emit("nn." + op + " " + value + " : " + typeText(shape, "f64"));
}

std::string StepGenerator::scalar(const std::string &number) {
  return emit("nn.constant dense<" + number + "> : tensor<f64>");
}

Shape dpc::test::dimensions(int64_t first, int64_t last) {
  Shape dims;
  for (int64_t d = first; d < last; ++d)
    dims.push_back(d);
  return dims;
}

std::string dpc::test::sumText(const std::string &value, const Shape &shape, const Shape &dims) {
  Shape left;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      left.push_back(shape[d]);
  return "nn.reduce sum " + value + " " + list(dims) + " : " + typeText(shape, "f64") + " -> " +
         typeText(left, "f64");
}

std::string dpc::test::broadcastText(const std::string &value, const Shape &from, const Shape &dims,
                                     const Shape &to) {
  return "nn.broadcast " + value + " " + list(dims) + " : " + typeText(from, "f64") + " -> " +
         typeText(to, "f64");
}

std::string StepGenerator::sumAll(const std::string &value, const Shape &shape) {
  return emit(sumText(value, shape, dimensions(0, shape.size())));
}

std::string StepGenerator::sumSquares(const std::string &value, const Shape &shape) {
  return sumAll(binary("mul", value, value, shape), shape);
}

Shape StepGenerator::samplesOf(const Shape &shape) const {
  Shape all = {batch};
  all.insert(all.end(), shape.begin(), shape.end());
  return all;
}

std::string StepGenerator::input(const Shape &shape) {
  const std::string name = "x" + std::to_string(next++);
  addArgument(name, typeText(samplesOf(shape), "f64"),
              "nn.arg = #nn.arg<input \"" + name + "\", batch = 0>");
  return "%" + name;
}

std::string StepGenerator::forward(const std::string &before, const Parameter &parameter) {
  const Shape all = samplesOf(parameter.shape);
  const int64_t rank = all.size();
  std::string own =
      emit(broadcastText(parameter.value(), parameter.shape, dimensions(1, rank), all));
  own = binary("mul", input(parameter.shape), own, all);
  if (rank > 1)
    own = emit(sumText(own, all, dimensions(1, rank)));
  return unary("tanh", before.empty() ? own : binary("add", before, own, {batch}), {batch});
}

void StepGenerator::addArgument(const std::string &name, const std::string &type,
                                const std::string &attributes) {
  arguments.push_back("%" + name + ": " + type + " {" + attributes + "}");
}

void StepGenerator::addParameter(const Parameter &parameter) {
  std::string attributes = "nn.arg = #nn.arg<" + parameter.kind + " \"" + parameter.name + "\">";
  if (!parameter.layout.empty())
    attributes += ", dist.layout = #dist.layout<\"" + parameter.layout + "\">";
  addArgument(parameter.name, parameter.type(), attributes);
}

void StepGenerator::addResult(const std::string &value, const Shape &shape, const std::string &kind,
                              const std::string &name) {
  results.push_back(typeText(shape, "f64") + " {nn.result = #nn.result<" + kind + " \"" + name +
                    "\">}");
  types.push_back(typeText(shape, "f64"));
  returned.push_back(value);
}

std::string StepGenerator::finishFunction(const std::string &name) {
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
