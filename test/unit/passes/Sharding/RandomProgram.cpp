// Random programs of nn ops on small shapes, as text. Operands are drawn among
// the values so far; what an op needs beyond them becomes a parameter. Only
// continuous functions of floats, so that rounding does not grow.

#include "test/unit/passes/Sharding/RandomGenerator.h"

using namespace dpc::test;

RandomProgram RandomGenerator::run(unsigned ops) {
  makeMesh();
  std::string step = makeFunction("step", ops);
  // Evaluation reads the same parameters, and may read more.
  std::string eval = below(2) ? makeFunction("eval", 1 + below(ops)) : "";
  program.text = step + eval;
  return std::move(program);
}

void RandomGenerator::makeMesh() {
  int64_t parallel = 1 + below(2);
  if (chance(40)) {
    iterations = 2 + below(2);
    program.mesh.axes.push_back("micro=" + std::to_string(iterations));
    program.mesh.sequential = {"micro"};
    program.mesh.batchAxes = {"micro"};
  }
  for (int64_t i = 0; i < parallel; ++i) {
    std::string name(1, char('a' + i));
    program.mesh.axes.push_back(name + "=" + std::to_string(1 + below(3)));
    parallelAxes.push_back(name);
    if (chance(70))
      program.mesh.batchAxes.push_back(name);
    if (chance(60))
      program.mesh.autoAxes.push_back(name);
  }
  batch = iterations * (1 + below(4));
}

Shape RandomGenerator::randomShape(int64_t rank) {
  Shape shape;
  for (int64_t i = 0; i < rank; ++i)
    shape.push_back(1 + below(6));
  return shape;
}

std::string RandomGenerator::dimLayout(int64_t extent, std::vector<std::string> axes) {
  auto segment = [&](int64_t size) {
    int64_t major = 1;
    for (int64_t f = 2; f < size; ++f)
      if (size % f == 0 && chance(50))
        major = f;
    bool onMajor = chance(50);
    std::string cut, text;
    for (const std::string &axis : axes)
      cut += (cut.empty() ? ": " : ",") + axis;
    if (major > 1)
      text = "(" + std::to_string(major) + (onMajor ? cut : "") + ")";
    return text + "(" + std::to_string(size / major) + (major > 1 && onMajor ? "" : cut) + ")";
  };
  if (extent > 1 && chance(25)) {
    int64_t first = 1 + below(extent - 1);
    return "[" + segment(first) + " + " + segment(extent - first) + "]";
  }
  return "[" + segment(extent) + "]";
}

std::string RandomGenerator::randomLayout(const Shape &shape) {
  if (shape.empty())
    return "";
  std::vector<std::vector<std::string>> cuts(shape.size());
  for (const std::string &axis : parallelAxes)
    if (chance(70))
      cuts[below(shape.size())].push_back(axis);
  std::string text;
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + dimLayout(shape[d], cuts[d]);
  return text;
}

RandomValue RandomGenerator::addArgument(RandomArgument argument) {
  RandomValue value{"%" + argument.name, argument.shape, argument.limit > 0, 1, argument.limit};
  if (argument.limit == 0)
    value.lowest = 0;
  program.arguments.push_back(argument);
  used.push_back(program.arguments.size() - 1);
  values.push_back(value);
  return value;
}

RandomValue RandomGenerator::addParameter(Shape shape) {
  RandomArgument argument;
  argument.name = "p" + std::to_string(program.arguments.size());
  argument.shape = std::move(shape);
  argument.isParameter = true;
  if (chance(40))
    argument.layout = randomLayout(argument.shape);
  return addArgument(argument);
}

RandomValue RandomGenerator::addInput(int64_t limit) {
  RandomArgument argument;
  argument.name = "x" + std::to_string(program.arguments.size());
  argument.shape = randomShape(1 + below(3));
  argument.limit = limit;
  if (chance(80)) {
    argument.batch = below(argument.shape.size());
    argument.shape[argument.batch] = batch;
  }
  return addArgument(argument);
}

std::string RandomGenerator::makeFunction(const std::string &name, unsigned ops) {
  values.clear();
  used.clear();
  body.clear();
  for (size_t i = 0; i < program.arguments.size(); ++i)
    if (program.arguments[i].isParameter && chance(70)) {
      used.push_back(i);
      values.push_back({"%" + program.arguments[i].name, program.arguments[i].shape});
    }
  for (int64_t i = 0, count = 1 + below(2); i < count; ++i)
    addInput();
  size_t inputs = values.size();
  for (unsigned made = 0, tries = 0; made < ops && tries < 20 * ops; ++tries)
    made += makeOp();
  std::string header = "func.func @" + name + "(", results, types, returned;
  for (size_t i = 0; i < used.size(); ++i) {
    const RandomArgument &argument = program.arguments[used[i]];
    header += i ? ",\n    " : "";
    header += "%" + argument.name + ": " +
              typeText(argument.shape, argument.limit ? "i64" : "f64") + " {nn.arg = #nn.arg<" +
              (argument.isParameter ? "parameter" : "input") + " \"" + argument.name + "\"";
    if (argument.batch >= 0)
      header += ", batch = " + std::to_string(argument.batch);
    header += ">";
    if (!argument.layout.empty())
      header += ", dist.layout = #dist.layout<\"" + argument.layout + "\">";
    header += "}";
  }
  size_t returnedCount = 0;
  for (size_t i = values.size(); i-- > std::min(inputs, values.size() - 1);) {
    if (returnedCount && !chance(25))
      continue;
    const RandomValue &value = values[i];
    std::string separator = returnedCount ? ", " : "";
    results += separator + value.type() + " {nn.result = #nn.result<output \"" +
               value.name.substr(1) + "\">}";
    types += separator + value.type();
    returned += separator + value.name;
    ++returnedCount;
  }
  return header + ")\n    -> (" + results + ") {\n" + body + "  return " + returned + " : " +
         types + "\n}\n";
}

const RandomValue &RandomGenerator::emit(const std::string &text, Shape shape, bool isInteger,
                                         int64_t lowest, int64_t limit) {
  std::string name = "%v" + std::to_string(next++);
  body += "  " + name + " = " + text + "\n";
  values.push_back({name, std::move(shape), isInteger, lowest, limit});
  return values.back();
}

std::optional<RandomValue> RandomGenerator::pickFloat(int64_t minRank, int64_t maxRank) {
  std::vector<RandomValue> fitting;
  for (const RandomValue &value : values)
    if (!value.isInteger && value.rank() >= minRank && value.rank() <= maxRank)
      fitting.push_back(value);
  if (fitting.empty())
    return std::nullopt;
  // Late values more often: programs should be deep.
  return fitting[std::max(below(fitting.size()), below(fitting.size()))];
}

RandomValue RandomGenerator::sameShape(const Shape &shape) {
  std::vector<RandomValue> fitting;
  for (const RandomValue &value : values)
    if (!value.isInteger && value.shape == shape)
      fitting.push_back(value);
  if (fitting.empty() || chance(30))
    return addParameter(shape);
  return pick(fitting);
}

RandomValue RandomGenerator::indicesInto(int64_t extent) {
  for (const RandomValue &value : values)
    if (value.isInteger && value.limit <= extent && chance(50))
      return value;
  if (extent > 1 && chance(60)) {
    RandomValue input = addInput(extent + 1);
    RandomValue one = constant("1", input.shape, true);
    return emit("nn.sub " + input.name + ", " + one.name + " : " + input.type(), input.shape, true,
                0, extent);
  }
  Shape shape = randomShape(1 + below(2));
  return iotaBelow(shape, extent);
}

RandomValue RandomGenerator::constant(const std::string &value, const Shape &shape,
                                      bool isInteger) {
  std::string type = typeText(shape, isInteger ? "i64" : "f64");
  RandomValue made = emit("nn.constant dense<" + value + "> : " + type, shape, isInteger);
  values.pop_back(); // not an operand of other ops
  return made;
}

RandomValue RandomGenerator::iota(const Shape &shape) {
  int64_t dim = below(shape.size());
  RandomValue made = emit("nn.iota dim " + std::to_string(dim) + " : " + typeText(shape, "i64"),
                          shape, true, 0, shape[dim]);
  return made;
}

RandomValue RandomGenerator::iotaBelow(const Shape &shape, int64_t extent) {
  RandomValue index = iota(shape);
  RandomValue bound = constant(std::to_string(extent), shape, true);
  return emit("nn.rem " + index.name + ", " + bound.name + " : " + index.type(), shape, true, 0,
              extent);
}

bool RandomGenerator::makeOp() {
  using Maker = bool (RandomGenerator::*)();
  static const std::vector<Maker> makers = {
      &RandomGenerator::unary,     &RandomGenerator::binary,       &RandomGenerator::binary,
      &RandomGenerator::dot,       &RandomGenerator::dot,          &RandomGenerator::dot,
      &RandomGenerator::broadcast, &RandomGenerator::reshape,      &RandomGenerator::reshape,
      &RandomGenerator::transpose, &RandomGenerator::slice,        &RandomGenerator::pad,
      &RandomGenerator::concat,    &RandomGenerator::reduce,       &RandomGenerator::reduce,
      &RandomGenerator::softmax,   &RandomGenerator::normalize,    &RandomGenerator::gather,
      &RandomGenerator::gather,    &RandomGenerator::scatter,      &RandomGenerator::conv,
      &RandomGenerator::cumsum,    &RandomGenerator::select,       &RandomGenerator::reverse,
      &RandomGenerator::pool,      &RandomGenerator::crossEntropy, &RandomGenerator::uniform,
      &RandomGenerator::mean};
  return (this->*pick(makers))();
}

RandomProgram dpc::test::makeRandomProgram(uint32_t seed) {
  return RandomGenerator(seed).run(1 + seed % 10);
}
