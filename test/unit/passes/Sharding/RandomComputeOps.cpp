// Random uses of ops that compute.

#include "test/unit/passes/Sharding/RandomGenerator.h"

using namespace dpc::test;

bool RandomGenerator::unary() {
  auto x = pickFloat();
  if (!x)
    return false;
  static const std::vector<std::string> ops = {"tanh", "sigmoid", "relu", "neg", "softplus"};
  emit("nn." + pick(ops) + " " + x->name + " : " + x->type(), x->shape);
  return true;
}

bool RandomGenerator::binary() {
  auto x = pickFloat();
  if (!x)
    return false;
  RandomValue y = sameShape(x->shape);
  static const std::vector<std::string> ops = {"add", "sub", "mul", "max"};
  emit("nn." + pick(ops) + " " + x->name + ", " + y.name + " : " + x->type(), x->shape);
  return true;
}

bool RandomGenerator::dot() {
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
  emit(text + " contract " + list(contractX) + " " + list(contractY) + " : " + x->type() + ", " +
           y.type() + " -> " + typeText(result, "f64"),
       result);
  return true;
}

std::pair<Shape, Shape> RandomGenerator::someDimensions(const RandomValue &value) {
  Shape dims, rest;
  for (int64_t d = 0; d < value.rank(); ++d) {
    if (chance(50))
      dims.push_back(d);
    else
      rest.push_back(value.shape[d]);
  }
  return {dims, rest};
}

bool RandomGenerator::reduce() {
  auto x = pickFloat(1);
  if (!x)
    return false;
  auto [dims, shape] = someDimensions(*x);
  if (dims.empty())
    return false;
  static const std::vector<std::string> kinds = {"sum", "sum", "max", "min", "prod"};
  emit("nn.reduce " + pick(kinds) + " " + x->name + " " + list(dims) + " : " + x->type() + " -> " +
           typeText(shape, "f64"),
       shape);
  return true;
}

bool RandomGenerator::mean() {
  auto x = pickFloat(1, 3);
  if (!x)
    return false;
  int64_t dim = below(x->rank());
  Shape shape = x->shape, dims;
  shape.erase(shape.begin() + dim);
  for (int64_t d = 0; d < x->rank(); ++d)
    if (d != dim)
      dims.push_back(d);
  RandomValue sum = emit("nn.reduce sum " + x->name + " " + list({dim}) + " : " + x->type() +
                             " -> " + typeText(shape, "f64"),
                         shape);
  RandomValue scale = constant("0.25", shape);
  RandomValue scaled = emit("nn.mul " + sum.name + ", " + scale.name + " : " + sum.type(), shape);
  RandomValue wide = emit("nn.broadcast " + scaled.name + " " + list(dims) + " : " + scaled.type() +
                              " -> " + x->type(),
                          x->shape);
  emit("nn.sub " + x->name + ", " + wide.name + " : " + x->type(), x->shape);
  return true;
}

bool RandomGenerator::softmax() {
  auto x = pickFloat(1);
  if (!x)
    return false;
  emit(std::string(chance(50) ? "nn.softmax " : "nn.log_softmax ") + x->name + " dim " +
           std::to_string(below(x->rank())) + " : " + x->type(),
       x->shape);
  return true;
}

bool RandomGenerator::normalize() {
  auto x = pickFloat(1);
  if (!x)
    return false;
  auto [dims, shape] = someDimensions(*x);
  if (dims.empty())
    return false;
  std::string name = "%v" + std::to_string(next++), stat = typeText(shape, "f64");
  body += "  " + name + ":3 = nn.normalize " + x->name + " " + list(dims) + " epsilon 0.1" +
          (chance(30) ? " uncentered" : "") + " : " + x->type() + " -> " + x->type() + ", " + stat +
          ", " + stat + "\n";
  values.push_back({name + "#0", x->shape});
  values.push_back({name + "#1", shape});
  values.push_back({name + "#2", shape});
  return true;
}

bool RandomGenerator::conv() {
  auto x = pickFloat(3, 3);
  if (!x)
    return false;
  int64_t channels = x->shape[1], width = x->shape[2];
  int64_t groups = channels % 2 == 0 && chance(40) ? 2 : 1;
  if (channels % 3 == 0 && chance(40))
    groups = 3;
  int64_t stride = 1 + below(2), low = below(2), high = below(2), window = 1 + below(3);
  if (width + low + high < window)
    return false;
  Shape kernel = {groups * (1 + below(3)), channels / groups, window};
  Shape shape = {x->shape[0], kernel[0], (width + low + high - window) / stride + 1};
  RandomValue w = addParameter(kernel);
  std::string geometry = " strides " + list({stride}) + " padLow " + list({low}) + " padHigh " +
                         list({high}) + " dilations [1] groups " + std::to_string(groups) + " : ";
  RandomValue y = emit("nn.conv " + x->name + ", " + w.name + geometry + x->type() + ", " +
                           w.type() + " -> " + typeText(shape, "f64"),
                       shape);
  if (chance(50))
    emit("nn.conv_input_grad " + y.name + ", " + w.name + geometry + y.type() + ", " + w.type() +
             " -> " + x->type(),
         x->shape);
  if (chance(50))
    emit("nn.conv_weight_grad " + x->name + ", " + y.name + geometry + x->type() + ", " + y.type() +
             " -> " + w.type(),
         w.shape);
  return true;
}

bool RandomGenerator::pool() {
  auto x = pickFloat(3, 3);
  if (!x || x->shape[2] < 2)
    return false;
  Shape shape = x->shape;
  shape[2] = (shape[2] - 2) / 2 + 1;
  emit(std::string(chance(50) ? "nn.max_pool " : "nn.sum_pool ") + x->name +
           " kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : " + x->type() + " -> " +
           typeText(shape, "f64"),
       shape);
  return true;
}

bool RandomGenerator::cumsum() {
  auto x = pickFloat(1);
  if (!x)
    return false;
  emit("nn.cumsum " + x->name + " dim " + std::to_string(below(x->rank())) +
           (chance(30) ? " {reverse}" : "") + " : " + x->type(),
       x->shape);
  return true;
}

bool RandomGenerator::crossEntropy() {
  auto x = pickFloat(2, 3);
  if (!x)
    return false;
  int64_t dim = below(x->rank());
  Shape shape = x->shape;
  shape.erase(shape.begin() + dim);
  RandomValue labels = iotaBelow(shape, x->shape[dim]);
  std::string name = "%v" + std::to_string(next++), stat = typeText(shape, "f64");
  body += "  " + name + ":2 = nn.cross_entropy " + x->name + ", " + labels.name + " dim " +
          std::to_string(dim) + " {labelSmoothing = 0.1 : f64} : " + x->type() + ", " +
          labels.type() + " -> " + stat + ", " + stat + "\n";
  values.push_back({name + "#0", shape});
  values.push_back({name + "#1", shape});
  return true;
}

bool RandomGenerator::uniform() {
  Shape shape = randomShape(1 + below(2));
  shape[0] = batch;
  RandomValue index = iota(shape), seed = constant("7", {}, true);
  emit("nn.random_uniform " + seed.name + ", " + seed.name + ", " + index.name +
           " {ordinal = 3 : i64} : " + index.type() + " -> " + typeText(shape, "f64"),
       shape);
  return true;
}
