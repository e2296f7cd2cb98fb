// Random programs of nn ops on small shapes, as text. Operands are drawn among
// the values so far; what an op needs beyond them becomes a parameter. Only
// continuous functions of floats, so that rounding does not grow.

#include "test/unit/passes/Sharding/RandomProgram.h"

#include <algorithm>
#include <numeric>
#include <optional>

using namespace dpc::test;

namespace {

int64_t product(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

std::string list(const Shape &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::string typeText(const Shape &shape, const char *element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

/// A value; integers are in [lowest, limit).
struct RandomValue {
  std::string name;
  Shape shape;
  bool isInteger = false;
  int64_t lowest = 0, limit = 0;

  std::string type() const {
    return typeText(shape, isInteger ? "i64" : "f64");
  }
  int64_t rank() const { return shape.size(); }
};

class Generator {
public:
  explicit Generator(uint32_t seed) : random(seed) {}

  RandomProgram run(unsigned ops) {
    makeMesh();
    std::string step = makeFunction("step", ops);
    // Evaluation reads the same parameters, and may read more.
    std::string eval = below(2) ? makeFunction("eval", 1 + below(ops)) : "";
    program.text = step + eval;
    return std::move(program);
  }

private:
  int64_t below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T> const T &pick(const std::vector<T> &from) {
    return from[below(from.size())];
  }

  //===-- Mesh and arguments ----------------------------------------------===//

  void makeMesh() {
    int64_t parallel = 1 + below(2);
    if (chance(40)) {
      turns = 2 + below(2);
      program.mesh.axes.push_back("micro=" + std::to_string(turns));
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
    batch = turns * (1 + below(4));
  }

  Shape randomShape(int64_t rank) {
    Shape shape;
    for (int64_t i = 0; i < rank; ++i)
      shape.push_back(1 + below(6));
    return shape;
  }

  /// Factors and segments of one dimension, some of them cut by `axes`.
  std::string dimLayout(int64_t extent, std::vector<std::string> axes) {
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
      return text + "(" + std::to_string(size / major) +
             (major > 1 && onMajor ? "" : cut) + ")";
    };
    if (extent > 1 && chance(25)) {
      int64_t first = 1 + below(extent - 1);
      return "[" + segment(first) + " + " + segment(extent - first) + "]";
    }
    return "[" + segment(extent) + "]";
  }

  std::string randomLayout(const Shape &shape) {
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

  RandomValue addArgument(RandomArgument argument) {
    RandomValue value{"%" + argument.name, argument.shape, argument.limit > 0,
                      1, argument.limit};
    if (argument.limit == 0)
      value.lowest = 0;
    program.arguments.push_back(argument);
    used.push_back(program.arguments.size() - 1);
    values.push_back(value);
    return value;
  }

  RandomValue addParameter(Shape shape) {
    RandomArgument argument;
    argument.name = "p" + std::to_string(program.arguments.size());
    argument.shape = std::move(shape);
    argument.isParameter = true;
    if (chance(40))
      argument.layout = randomLayout(argument.shape);
    return addArgument(argument);
  }

  RandomValue addInput(int64_t limit = 0) {
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

  //===-- Functions -------------------------------------------------------===//

  std::string makeFunction(const std::string &name, unsigned ops) {
    values.clear();
    used.clear();
    body.clear();
    for (size_t i = 0; i < program.arguments.size(); ++i)
      if (program.arguments[i].isParameter && chance(70)) {
        used.push_back(i);
        values.push_back(
            {"%" + program.arguments[i].name, program.arguments[i].shape});
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
                typeText(argument.shape, argument.limit ? "i64" : "f64") +
                " {nn.arg = #nn.arg<" +
                (argument.isParameter ? "parameter" : "input") + " \"" +
                argument.name + "\"";
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
      results += separator + value.type() +
                 " {nn.result = #nn.result<output \"" + value.name.substr(1) +
                 "\">}";
      types += separator + value.type();
      returned += separator + value.name;
      ++returnedCount;
    }
    return header + ")\n    -> (" + results + ") {\n" + body + "  return " +
           returned + " : " + types + "\n}\n";
  }

  /// Appends `%n = text` and records the value.
  const RandomValue &emit(const std::string &text, Shape shape,
                          bool isInteger = false, int64_t lowest = 0,
                          int64_t limit = 0) {
    std::string name = "%v" + std::to_string(next++);
    body += "  " + name + " = " + text + "\n";
    values.push_back({name, std::move(shape), isInteger, lowest, limit});
    return values.back();
  }

  std::optional<RandomValue> pickFloat(int64_t minRank = 0,
                                       int64_t maxRank = 4) {
    std::vector<RandomValue> fitting;
    for (const RandomValue &value : values)
      if (!value.isInteger && value.rank() >= minRank &&
          value.rank() <= maxRank)
        fitting.push_back(value);
    if (fitting.empty())
      return std::nullopt;
    // Late values more often: programs should be deep.
    return fitting[std::max(below(fitting.size()), below(fitting.size()))];
  }

  RandomValue sameShape(const Shape &shape) {
    std::vector<RandomValue> fitting;
    for (const RandomValue &value : values)
      if (!value.isInteger && value.shape == shape)
        fitting.push_back(value);
    if (fitting.empty() || chance(30))
      return addParameter(shape);
    return pick(fitting);
  }

  /// Indices into [0, extent).
  RandomValue indicesInto(int64_t extent) {
    for (const RandomValue &value : values)
      if (value.isInteger && value.limit <= extent && chance(50))
        return value;
    if (extent > 1 && chance(60)) {
      RandomValue input = addInput(extent + 1);
      RandomValue one = constant("1", input.shape, true);
      return emit("nn.sub " + input.name + ", " + one.name + " : " +
                      input.type(),
                  input.shape, true, 0, extent);
    }
    Shape shape = randomShape(1 + below(2));
    return iotaBelow(shape, extent);
  }

  RandomValue constant(const std::string &value, const Shape &shape,
                       bool isInteger = false) {
    std::string type = typeText(shape, isInteger ? "i64" : "f64");
    RandomValue made =
        emit("nn.constant dense<" + value + "> : " + type, shape, isInteger);
    values.pop_back(); // not an operand of other ops
    return made;
  }

  RandomValue iota(const Shape &shape) {
    int64_t dim = below(shape.size());
    RandomValue made = emit("nn.iota dim " + std::to_string(dim) + " : " +
                                typeText(shape, "i64"),
                            shape, true, 0, shape[dim]);
    return made;
  }

  RandomValue iotaBelow(const Shape &shape, int64_t extent) {
    RandomValue index = iota(shape);
    RandomValue bound = constant(std::to_string(extent), shape, true);
    return emit("nn.rem " + index.name + ", " + bound.name + " : " +
                    index.type(),
                shape, true, 0, extent);
  }

  //===-- Ops -------------------------------------------------------------===//

  bool makeOp() {
    using Maker = bool (Generator::*)();
    static const std::vector<Maker> makers = {
        &Generator::unary,     &Generator::binary,       &Generator::binary,
        &Generator::dot,       &Generator::dot,          &Generator::dot,
        &Generator::broadcast, &Generator::reshape,      &Generator::reshape,
        &Generator::transpose, &Generator::slice,        &Generator::pad,
        &Generator::concat,    &Generator::reduce,       &Generator::reduce,
        &Generator::softmax,   &Generator::normalize,    &Generator::gather,
        &Generator::gather,    &Generator::scatter,      &Generator::conv,
        &Generator::cumsum,    &Generator::select,       &Generator::reverse,
        &Generator::pool,      &Generator::crossEntropy, &Generator::uniform,
        &Generator::mean};
    return (this->*pick(makers))();
  }

  bool unary() {
    auto x = pickFloat();
    if (!x)
      return false;
    static const std::vector<std::string> ops = {"tanh", "sigmoid", "relu",
                                                 "neg", "softplus"};
    emit("nn." + pick(ops) + " " + x->name + " : " + x->type(), x->shape);
    return true;
  }

  bool binary() {
    auto x = pickFloat();
    if (!x)
      return false;
    RandomValue y = sameShape(x->shape);
    static const std::vector<std::string> ops = {"add", "sub", "mul", "max"};
    emit("nn." + pick(ops) + " " + x->name + ", " + y.name + " : " + x->type(),
         x->shape);
    return true;
  }

  bool dot() {
    auto x = pickFloat(1, 4);
    if (!x)
      return false;
    RandomValue y = *x;
    if (chance(60)) {
      Shape shape = randomShape(1 + below(3));
      shape[below(shape.size())] = pick(x->shape);
      y = addParameter(shape);
    } else {
      y = *pickFloat(1, 4);
    }
    Shape batchX, batchY, contractX, contractY, result;
    std::vector<bool> usedX(x->rank()), usedY(y.rank());
    for (int64_t l = 0; l < x->rank(); ++l)
      for (int64_t r = 0; r < y.rank(); ++r)
        if (!usedX[l] && !usedY[r] && x->shape[l] == y.shape[r] && chance(70)) {
          usedX[l] = usedY[r] = true;
          bool isBatch = chance(30);
          (isBatch ? batchX : contractX).push_back(l);
          (isBatch ? batchY : contractY).push_back(r);
        }
    for (int64_t l : batchX)
      result.push_back(x->shape[l]);
    for (int64_t l = 0; l < x->rank(); ++l)
      if (!usedX[l])
        result.push_back(x->shape[l]);
    for (int64_t r = 0; r < y.rank(); ++r)
      if (!usedY[r])
        result.push_back(y.shape[r]);
    if (result.size() > 4 || product(result) > 500)
      return false;
    std::string text = "nn.dot " + x->name + ", " + y.name;
    if (!batchX.empty())
      text += " batch " + list(batchX) + " " + list(batchY);
    emit(text + " contract " + list(contractX) + " " + list(contractY) + " : " +
             x->type() + ", " + y.type() + " -> " + typeText(result, "f64"),
         result);
    return true;
  }

  bool broadcast() {
    auto x = pickFloat(0, 2);
    if (!x)
      return false;
    Shape shape, dims;
    for (int64_t d = 0; d <= x->rank(); ++d) {
      if (chance(50))
        shape.push_back(chance(30) ? batch : 1 + below(5));
      if (d < x->rank()) {
        dims.push_back(shape.size());
        shape.push_back(x->shape[d]);
      }
    }
    if (shape.size() == dims.size() || product(shape) > 500)
      return false;
    emit("nn.broadcast " + x->name + " " + list(dims) + " : " + x->type() +
             " -> " + typeText(shape, "f64"),
         shape);
    return true;
  }

  bool reshape() {
    auto x = pickFloat();
    if (!x)
      return false;
    Shape shape;
    int choice = below(3);
    if (choice == 0 && x->rank() >= 2) { // merge neighbours
      int64_t at = below(x->rank() - 1);
      shape = x->shape;
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + at + 1);
    } else if (choice == 1 && x->rank() >= 1 && x->rank() < 4) { // split
      int64_t at = below(x->rank());
      for (int64_t f = 2; f < x->shape[at]; ++f)
        if (x->shape[at] % f == 0 && (shape.empty() || chance(50))) {
          shape = x->shape;
          shape[at] /= f;
          shape.insert(shape.begin() + at + below(2), f);
        }
    } else { // anything
      int64_t rest = product(x->shape);
      while (rest > 1 && shape.size() < 3) {
        std::vector<int64_t> factors;
        for (int64_t f = 1; f <= rest; ++f)
          if (rest % f == 0)
            factors.push_back(f);
        shape.push_back(pick(factors));
        rest /= shape.back();
      }
      if (rest > 1)
        shape.push_back(rest);
    }
    if (shape.empty() || product(shape) != product(x->shape))
      return false;
    emit("nn.reshape " + x->name + " : " + x->type() + " -> " +
             typeText(shape, "f64"),
         shape);
    return true;
  }

  bool transpose() {
    auto x = pickFloat(2);
    if (!x)
      return false;
    Shape permutation(x->rank()), shape;
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random);
    for (int64_t d : permutation)
      shape.push_back(x->shape[d]);
    emit("nn.transpose " + x->name + " " + list(permutation) + " : " +
             x->type() + " -> " + typeText(shape, "f64"),
         shape);
    return true;
  }

  bool slice() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    Shape starts, limits, strides, shape;
    for (int64_t extent : x->shape) {
      bool whole = chance(50);
      int64_t start = whole ? 0 : below(extent),
              limit = whole ? extent : start + 1 + below(extent - start),
              stride = chance(15) ? 2 : 1;
      starts.push_back(start);
      limits.push_back(limit);
      strides.push_back(stride);
      shape.push_back((limit - start + stride - 1) / stride);
    }
    emit("nn.slice " + x->name + " starts " + list(starts) + " limits " +
             list(limits) + " strides " + list(strides) + " : " + x->type() +
             " -> " + typeText(shape, "f64"),
         shape);
    return true;
  }

  bool pad() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    Shape low, high, interior, shape;
    for (int64_t extent : x->shape) {
      bool pads = chance(40);
      low.push_back(pads ? below(3) : 0);
      high.push_back(pads ? below(3) : 0);
      interior.push_back(chance(10));
      if (extent > 2 && chance(10))
        low.back() = -1;
      shape.push_back(low.back() + high.back() + extent +
                      (extent - 1) * interior.back());
    }
    if (product(shape) > 500)
      return false;
    RandomValue value = constant(chance(60) ? "0.0" : "0.5", {});
    emit("nn.pad " + x->name + ", " + value.name + " low " + list(low) +
             " high " + list(high) + " interior " + list(interior) + " : " +
             x->type() + ", tensor<f64> -> " + typeText(shape, "f64"),
         shape);
    return true;
  }

  bool concat() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    int64_t dim = below(x->rank());
    std::vector<RandomValue> parts = {*x};
    for (int64_t i = 0, count = 1 + below(2); i < count; ++i) {
      std::vector<RandomValue> fitting;
      for (const RandomValue &value : values) {
        if (value.isInteger || value.rank() != x->rank())
          continue;
        Shape shape = value.shape;
        shape[dim] = x->shape[dim];
        if (shape == x->shape)
          fitting.push_back(value);
      }
      if (chance(30)) {
        Shape shape = x->shape;
        shape[dim] = 1 + below(4);
        parts.push_back(addParameter(shape));
      } else {
        parts.push_back(pick(fitting));
      }
    }
    Shape shape = x->shape;
    shape[dim] = 0;
    std::string names, types;
    for (const RandomValue &part : parts) {
      shape[dim] += part.shape[dim];
      names += (names.empty() ? "" : ", ") + part.name;
      types += (types.empty() ? "" : ", ") + part.type();
    }
    if (product(shape) > 500)
      return false;
    emit("nn.concat " + names + " dim " + std::to_string(dim) + " : " + types +
             " -> " + typeText(shape, "f64"),
         shape);
    return true;
  }

  bool reduce() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    Shape dims, shape;
    for (int64_t d = 0; d < x->rank(); ++d) {
      if (chance(50))
        dims.push_back(d);
      else
        shape.push_back(x->shape[d]);
    }
    if (dims.empty())
      return false;
    static const std::vector<std::string> kinds = {"sum", "sum", "max", "min",
                                                   "prod"};
    emit("nn.reduce " + pick(kinds) + " " + x->name + " " + list(dims) + " : " +
             x->type() + " -> " + typeText(shape, "f64"),
         shape);
    return true;
  }

  /// A mean along the batch: partial, then scaled, then spread again.
  bool mean() {
    auto x = pickFloat(1, 3);
    if (!x)
      return false;
    int64_t dim = below(x->rank());
    Shape shape = x->shape, dims;
    shape.erase(shape.begin() + dim);
    for (int64_t d = 0; d < x->rank(); ++d)
      if (d != dim)
        dims.push_back(d);
    RandomValue sum =
        emit("nn.reduce sum " + x->name + " " + list({dim}) + " : " +
                 x->type() + " -> " + typeText(shape, "f64"),
             shape);
    RandomValue scale = constant("0.25", shape);
    RandomValue scaled = emit(
        "nn.mul " + sum.name + ", " + scale.name + " : " + sum.type(), shape);
    RandomValue wide = emit("nn.broadcast " + scaled.name + " " + list(dims) +
                                " : " + scaled.type() + " -> " + x->type(),
                            x->shape);
    emit("nn.sub " + x->name + ", " + wide.name + " : " + x->type(), x->shape);
    return true;
  }

  bool softmax() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    emit(std::string(chance(50) ? "nn.softmax " : "nn.log_softmax ") + x->name +
             " dim " + std::to_string(below(x->rank())) + " : " + x->type(),
         x->shape);
    return true;
  }

  bool normalize() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    Shape dims, shape;
    for (int64_t d = 0; d < x->rank(); ++d) {
      if (chance(50))
        dims.push_back(d);
      else
        shape.push_back(x->shape[d]);
    }
    if (dims.empty())
      return false;
    std::string name = "%v" + std::to_string(next++),
                stat = typeText(shape, "f64");
    body += "  " + name + ":3 = nn.normalize " + x->name + " " + list(dims) +
            " epsilon 0.1" + (chance(30) ? " uncentered" : "") + " : " +
            x->type() + " -> " + x->type() + ", " + stat + ", " + stat + "\n";
    values.push_back({name + "#0", x->shape});
    values.push_back({name + "#1", shape});
    values.push_back({name + "#2", shape});
    return true;
  }

  bool gather() {
    auto x = pickFloat(1, 3);
    if (!x)
      return false;
    RandomValue table = chance(50) ? *x : addParameter(randomShape(2));
    int64_t dim = below(table.rank());
    RandomValue indices = indicesInto(table.shape[dim]);
    Shape shape = table.shape;
    shape.erase(shape.begin() + dim);
    shape.insert(shape.begin() + dim, indices.shape.begin(),
                 indices.shape.end());
    if (shape.size() > 4 || product(shape) > 500)
      return false;
    emit("nn.gather " + table.name + ", " + indices.name + " dim " +
             std::to_string(dim) + " : " + table.type() + ", " +
             indices.type() + " -> " + typeText(shape, "f64"),
         shape);
    gathered.push_back({values.back().name, indices.name, dim});
    return true;
  }

  bool scatter() {
    if (gathered.empty() && !gather())
      return false;
    const auto [name, indexName, dim] = gathered.back();
    auto find = [&](const std::string &wanted) {
      return std::find_if(
          values.begin(), values.end(),
          [&](const RandomValue &v) { return v.name == wanted; });
    };
    auto updates = find(name), indices = find(indexName);
    if (updates == values.end() || indices == values.end())
      return false;
    Shape shape = updates->shape;
    shape.erase(shape.begin() + dim, shape.begin() + dim + indices->rank());
    shape.insert(shape.begin() + dim, indices->limit + below(3));
    if (product(shape) > 500)
      return false;
    RandomValue bent = *updates, at = *indices;
    if (chance(60))
      bent = emit("nn.softplus " + bent.name + " : " + bent.type(), bent.shape);
    emit("nn.scatter_add " + bent.name + ", " + at.name + " dim " +
             std::to_string(dim) + " : " + bent.type() + ", " + at.type() +
             " -> " + typeText(shape, "f64"),
         shape);
    return true;
  }

  bool conv() {
    auto x = pickFloat(3, 3);
    if (!x)
      return false;
    int64_t channels = x->shape[1], width = x->shape[2];
    int64_t groups = channels % 2 == 0 && chance(40) ? 2 : 1;
    if (channels % 3 == 0 && chance(40))
      groups = 3;
    int64_t stride = 1 + below(2), low = below(2), high = below(2),
            window = 1 + below(3);
    if (width + low + high < window)
      return false;
    Shape kernel = {groups * (1 + below(3)), channels / groups, window};
    Shape shape = {x->shape[0], kernel[0],
                   (width + low + high - window) / stride + 1};
    RandomValue w = addParameter(kernel);
    std::string geometry = " strides " + list({stride}) + " padLow " +
                           list({low}) + " padHigh " + list({high}) +
                           " dilations [1] groups " + std::to_string(groups) +
                           " : ";
    RandomValue y =
        emit("nn.conv " + x->name + ", " + w.name + geometry + x->type() +
                 ", " + w.type() + " -> " + typeText(shape, "f64"),
             shape);
    if (chance(50))
      emit("nn.conv_input_grad " + y.name + ", " + w.name + geometry +
               y.type() + ", " + w.type() + " -> " + x->type(),
           x->shape);
    if (chance(50))
      emit("nn.conv_weight_grad " + x->name + ", " + y.name + geometry +
               x->type() + ", " + y.type() + " -> " + w.type(),
           w.shape);
    return true;
  }

  bool pool() {
    auto x = pickFloat(3, 3);
    if (!x || x->shape[2] < 2)
      return false;
    Shape shape = x->shape;
    shape[2] = (shape[2] - 2) / 2 + 1;
    emit(std::string(chance(50) ? "nn.max_pool " : "nn.sum_pool ") + x->name +
             " kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : " +
             x->type() + " -> " + typeText(shape, "f64"),
         shape);
    return true;
  }

  bool cumsum() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    emit("nn.cumsum " + x->name + " dim " + std::to_string(below(x->rank())) +
             (chance(30) ? " {reverse}" : "") + " : " + x->type(),
         x->shape);
    return true;
  }

  bool select() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    RandomValue y = sameShape(x->shape);
    RandomValue index = iota(x->shape);
    RandomValue bound = constant(std::to_string(below(5)), x->shape, true);
    std::string bits = typeText(x->shape, "i1");
    RandomValue mask = emit("nn.compare lt " + index.name + ", " + bound.name +
                                " : " + index.type() + " -> " + bits,
                            x->shape);
    values.pop_back();
    emit("nn.select " + mask.name + ", " + x->name + ", " + y.name + " : " +
             bits + ", " + x->type(),
         x->shape);
    return true;
  }

  bool reverse() {
    auto x = pickFloat(1);
    if (!x)
      return false;
    emit("nn.reverse " + x->name + " " + list({below(x->rank())}) + " : " +
             x->type(),
         x->shape);
    return true;
  }

  bool crossEntropy() {
    auto x = pickFloat(2, 3);
    if (!x)
      return false;
    int64_t dim = below(x->rank());
    Shape shape = x->shape;
    shape.erase(shape.begin() + dim);
    RandomValue labels = iotaBelow(shape, x->shape[dim]);
    std::string name = "%v" + std::to_string(next++),
                stat = typeText(shape, "f64");
    body += "  " + name + ":2 = nn.cross_entropy " + x->name + ", " +
            labels.name + " dim " + std::to_string(dim) +
            " {labelSmoothing = 0.1 : f64} : " + x->type() + ", " +
            labels.type() + " -> " + stat + ", " + stat + "\n";
    values.push_back({name + "#0", shape});
    values.push_back({name + "#1", shape});
    return true;
  }

  bool uniform() {
    Shape shape = randomShape(1 + below(2));
    shape[0] = batch;
    RandomValue index = iota(shape), seed = constant("7", {}, true);
    emit("nn.random_uniform " + seed.name + ", " + seed.name + ", " +
             index.name + " {ordinal = 3 : i64} : " + index.type() + " -> " +
             typeText(shape, "f64"),
         shape);
    return true;
  }

  struct Gathered {
    std::string result, indices;
    int64_t dim;
  };

  std::mt19937 random;
  RandomProgram program;
  std::vector<std::string> parallelAxes;
  int64_t turns = 1, batch = 1, next = 0;
  // Of the function being made.
  std::vector<RandomValue> values;
  std::vector<size_t> used;
  std::vector<Gathered> gathered;
  std::string body;
};

} // namespace

RandomProgram dpc::test::makeRandomProgram(uint32_t seed) {
  return Generator(seed).run(1 + seed % 10);
}
