// Random layers of networks.

#include "test/unit/passes/Remat/RandomTraining.h"

using namespace dpc::test;

/// Most elements of an activation.
static const int64_t kMostElements = 400;

bool TrainingGenerator::makeLayer() {
  using Maker = bool (TrainingGenerator::*)();
  using G = TrainingGenerator;
  static const std::pair<const char *, Maker> makers[] = {{"start", &G::start},
                                                          {"dense", &G::dense},
                                                          {"dense", &G::dense},
                                                          {"dense", &G::dense},
                                                          {"bend", &G::bend},
                                                          {"bend", &G::bend},
                                                          {"combine", &G::combine},
                                                          {"combine", &G::combine},
                                                          {"relu", &G::squaredRelu},
                                                          {"norm", &G::normalize},
                                                          {"norm", &G::normalize},
                                                          {"softmax", &G::softmax},
                                                          {"attention", &G::attention},
                                                          {"scores", &G::scores},
                                                          {"conv", &G::conv},
                                                          {"pool", &G::pool},
                                                          {"dropout", &G::dropout},
                                                          {"center", &G::centerOverBatch},
                                                          {"transpose", &G::transpose},
                                                          {"reshape", &G::reshape},
                                                          {"slice", &G::slice},
                                                          {"concat", &G::concat},
                                                          {"widen", &G::widen},
                                                          {"reduce", &G::reduce},
                                                          {"scan", &G::scan}};
  auto [name, make] = makers[below(std::size(makers))];
  node = "layer" + std::to_string(values.size()) + "." + name;
  const bool isMade = (this->*make)();
  node.clear();
  return isMade;
}

/// Of samples of numbers, or of words that a table has vectors for.
bool TrainingGenerator::start() {
  Shape shape;
  for (int64_t d = 0, rank = 1 + below(2); d < rank; ++d)
    shape.push_back(1 + below(6));
  if (chance(60)) {
    values.push_back(product({input(shape), samplesOf(shape)}, 2 + below(5)));
    return true;
  }
  const int64_t words = 2 + below(6), features = 1 + below(6);
  shape.resize(1);
  const std::string table = parameter({words, features});
  const std::string indices = labels(samplesOf(shape), words);
  const Shape all = {batch, shape[0], features};
  add("nn.gather " + table + ", " + indices + " dim 0 : " + typeText({words, features}, "f64") +
          ", " + typeText(samplesOf(shape), "i64") + " -> " + typeText(all, "f64"),
      all);
  return true;
}

TrainingGenerator::Activation TrainingGenerator::product(const Activation &x, int64_t features) {
  const bool isTransposed = chance(30);
  const Shape kernel = isTransposed ? Shape{features, x.last()} : Shape{x.last(), features};
  Shape shape = x.shape;
  shape.back() = features;
  return {emit("nn.dot " + x.name + ", " + parameter(kernel) + " contract " + list({x.rank() - 1}) +
               (isTransposed ? " [1] : " : " [0] : ") + x.type() + ", " + typeText(kernel, "f64") +
               " -> " + typeText(shape, "f64")),
          shape};
}

bool TrainingGenerator::dense() {
  auto x = pick();
  if (!x)
    return false;
  Activation y = product(*x, 1 + below(7));
  if (chance(60))
    y.name = binary("add", y.name, parameterLike(y), y.shape);
  if (chance(60))
    y.name = unary("tanh", y.name, y.shape);
  values.push_back(y);
  return true;
}

bool TrainingGenerator::bend() {
  auto x = pick();
  static const char *const ops[] = {"tanh", "sigmoid", "softplus",  "erf",
                                    "sin",  "atan",    "gelu tanh", "gelu none"};
  add("nn." + std::string(ops[below(std::size(ops))]) + " " + x->name + " : " + x->type(),
      x->shape);
  return true;
}

bool TrainingGenerator::combine() {
  auto x = pick();
  static const char *const ops[] = {"add", "sub", "mul"};
  const std::string other = chance(30) ? parameterLike(*x) : pickLike(*x).name;
  values.push_back({binary(ops[below(3)], x->name, other, x->shape), x->shape});
  return true;
}

/// The gradient of a relu itself jumps where the operand is rounded to either side of 0.
bool TrainingGenerator::squaredRelu() {
  auto x = pick();
  values.push_back({binary("mul", unary("relu", x->name, x->shape), x->name, x->shape), x->shape});
  return true;
}

bool TrainingGenerator::normalize() {
  auto x = pick();
  const Shape dims = dimensions(1 + below(x->rank() - 1), x->rank());
  const Shape rest(x->shape.begin(), x->shape.begin() + dims.front());
  const std::string name = "%v" + std::to_string(next++), stat = typeText(rest, "f64");
  body += "  " + name + ":3 = nn.normalize " + x->name + " " + list(dims) + " epsilon 0.1" +
          (chance(30) ? " uncentered" : "") + " : " + x->type() + " -> " + x->type() + ", " + stat +
          ", " + stat + location() + "\n";
  Activation y = {name + "#0", x->shape};
  if (chance(50))
    y.name = binary("mul", y.name, parameterLike(y), y.shape);
  values.push_back(y);
  if (chance(20) && rest.size() >= 2)
    values.push_back({name + "#" + std::to_string(1 + below(2)), rest});
  return true;
}

bool TrainingGenerator::softmax() {
  auto x = pick();
  add(std::string(chance(60) ? "nn.softmax " : "nn.log_softmax ") + x->name + " dim " +
          std::to_string(1 + below(x->rank() - 1)) + " : " + x->type(),
      x->shape);
  return true;
}

bool TrainingGenerator::attention() {
  auto x = pick(3, 3), y = pick(3, 3);
  if (!x || chance(50))
    y = x;
  if (!x || !y)
    return false;
  const int64_t features = 1 + below(4);
  const Activation q = product(*x, features), k = product(*y, features), v = product(*y, features);
  const std::string name = "%v" + std::to_string(next++);
  body += "  " + name + ":2 = nn.attention " + q.name + ", " + k.name + ", " + v.name +
          " rows 1 scale 0.5" + (q.shape == k.shape && chance(50) ? " causal" : "") + " : " +
          q.type() + ", " + k.type() + ", " + v.type() + " -> " + q.type() + ", " +
          typeText({batch, q.shape[1]}, "f64") + location() + "\n";
  values.push_back({name + "#0", q.shape});
  return true;
}

/// Products of two activations of each sample.
bool TrainingGenerator::scores() {
  auto x = pick(3, 3), y = pick(3, 3);
  if (!x || !y)
    return false;
  if (x->last() != y->last())
    y = product(*y, x->last());
  const Shape shape = {batch, x->shape[1], y->shape[1]};
  const std::string scaled =
      emit("nn.dot " + x->name + ", " + y->name + " batch [0] [0] contract [2] [2] : " + x->type() +
           ", " + y->type() + " -> " + typeText(shape, "f64"));
  values.push_back({unary("tanh", scaled, shape), shape});
  return true;
}

bool TrainingGenerator::conv() {
  auto x = pick(3, 3);
  if (!x)
    return false;
  const int64_t stride = 1 + below(2), low = below(2), high = below(2), window = 1 + below(3);
  const int64_t width = x->shape[2] + low + high;
  if (width < window)
    return false;
  const Shape kernel = {1 + below(5), x->shape[1], window};
  const Shape shape = {batch, kernel[0], (width - window) / stride + 1};
  add("nn.conv " + x->name + ", " + parameter(kernel) + " strides " + list({stride}) + " padLow " +
          list({low}) + " padHigh " + list({high}) + " dilations [1] groups 1 : " + x->type() +
          ", " + typeText(kernel, "f64") + " -> " + typeText(shape, "f64"),
      shape);
  return true;
}

bool TrainingGenerator::pool() {
  auto x = pick(3, 3);
  if (!x || x->shape[2] < 2)
    return false;
  Shape shape = x->shape;
  shape[2] = (shape[2] - 2) / 2 + 1;
  add("nn.sum_pool " + x->name + " kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : " +
          x->type() + " -> " + typeText(shape, "f64"),
      shape);
  return true;
}

bool TrainingGenerator::dropout() {
  auto x = pick();
  const std::string integers = typeText(x->shape, "i64"), bits = typeText(x->shape, "i1");
  const std::string seed = emit("nn.constant dense<7> : tensor<i64>");
  const std::string index =
      emit("nn.iota dim " + std::to_string(below(x->rank())) + " : " + integers);
  const std::string drawn =
      emit("nn.random_uniform " + seed + ", " + seed + ", " + index +
           " {ordinal = " + std::to_string(next) + " : i64} : " + integers + " -> " + x->type());
  const std::string ratio = emit("nn.constant dense<0.3> : " + x->type());
  const std::string mask =
      emit("nn.compare ge " + drawn + ", " + ratio + " : " + x->type() + " -> " + bits);
  const std::string zero = emit("nn.constant dense<0.0> : " + x->type());
  add("nn.select " + mask + ", " + x->name + ", " + zero + " : " + bits + ", " + x->type(),
      x->shape);
  return true;
}

/// Microbatches would need the mean of all of them.
bool TrainingGenerator::centerOverBatch() {
  if (!program.mesh.sequential.empty())
    return false;
  auto x = pick();
  const Shape features(x->shape.begin() + 1, x->shape.end());
  const std::string sum = emit(sumText(x->name, x->shape, {0}));
  const std::string scale =
      emit("nn.constant dense<" + std::to_string(1.0 / batch) + "> : " + typeText(features, "f64"));
  const std::string mean = binary("mul", sum, scale, features);
  const std::string wide = emit(broadcastText(mean, features, dimensions(1, x->rank()), x->shape));
  values.push_back({binary("sub", x->name, wide, x->shape), x->shape});
  return true;
}

bool TrainingGenerator::transpose() {
  auto x = pick(3);
  if (!x)
    return false;
  Shape permutation = dimensions(0, x->rank()), shape;
  std::shuffle(permutation.begin() + 1, permutation.end(), random);
  for (int64_t d : permutation)
    shape.push_back(x->shape[d]);
  add("nn.transpose " + x->name + " " + list(permutation) + " : " + x->type() + " -> " +
          typeText(shape, "f64"),
      shape);
  return true;
}

/// Two dimensions become one, or one two.
bool TrainingGenerator::reshape() {
  auto x = pick();
  Shape shape = x->shape;
  if (x->rank() > 2) {
    const int64_t at = 1 + below(x->rank() - 2);
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + at + 1);
  } else {
    int64_t factor = 1;
    for (int64_t f = 2; f < shape[1]; ++f)
      if (shape[1] % f == 0)
        factor = f;
    shape[1] /= factor;
    shape.push_back(factor);
  }
  add("nn.reshape " + x->name + " : " + x->type() + " -> " + typeText(shape, "f64"), shape);
  return true;
}

bool TrainingGenerator::slice() {
  auto x = pick();
  const int64_t dim = 1 + below(x->rank() - 1), start = below(x->shape[dim]);
  Shape starts(x->rank()), limits = x->shape, strides(x->rank(), 1), shape = x->shape;
  starts[dim] = start;
  limits[dim] = start + 1 + below(x->shape[dim] - start);
  shape[dim] = limits[dim] - start;
  add("nn.slice " + x->name + " starts " + list(starts) + " limits " + list(limits) + " strides " +
          list(strides) + " : " + x->type() + " -> " + typeText(shape, "f64"),
      shape);
  return true;
}

bool TrainingGenerator::concat() {
  auto x = pick();
  const Activation y = pickLike(*x);
  const int64_t dim = 1 + below(x->rank() - 1);
  Shape shape = x->shape;
  shape[dim] *= 2;
  if (dpc::test::product(shape) > kMostElements)
    return false;
  add("nn.concat " + x->name + ", " + y.name + " dim " + std::to_string(dim) + " : " + x->type() +
          ", " + y.type() + " -> " + typeText(shape, "f64"),
      shape);
  return true;
}

/// Every sample several times.
bool TrainingGenerator::widen() {
  auto x = pick(2, 2);
  if (!x)
    return false;
  const Shape shape = {batch, 2 + below(4), x->shape[1]};
  if (dpc::test::product(shape) > kMostElements)
    return false;
  values.push_back({emit(broadcastText(x->name, x->shape, {0, 2}, shape)), shape});
  return true;
}

bool TrainingGenerator::reduce() {
  auto x = pick(3);
  if (!x)
    return false;
  const int64_t dim = 1 + below(x->rank() - 1);
  Shape shape = x->shape;
  shape.erase(shape.begin() + dim);
  const std::string sum = emit(sumText(x->name, x->shape, {dim}));
  values.push_back({unary("tanh", sum, shape), shape});
  return true;
}

bool TrainingGenerator::scan() {
  auto x = pick();
  const std::string dim = std::to_string(1 + below(x->rank() - 1));
  const std::string op = chance(50) ? "nn.cumsum " + x->name + " dim " + dim
                                    : "nn.reverse " + x->name + " [" + dim + "]";
  add(op + " : " + x->type(), x->shape);
  return true;
}
