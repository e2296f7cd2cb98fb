// Random uses of ops that move elements.

#include "test/unit/passes/Sharding/RandomGenerator.h"

using namespace dpc::test;

bool RandomGenerator::broadcast() {
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
  emit("nn.broadcast " + x->name + " " + list(dims) + " : " + x->type() + " -> " +
           typeText(shape, "f64"),
       shape);
  return true;
}

bool RandomGenerator::reshape() {
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
  emit("nn.reshape " + x->name + " : " + x->type() + " -> " + typeText(shape, "f64"), shape);
  return true;
}

bool RandomGenerator::transpose() {
  auto x = pickFloat(2);
  if (!x)
    return false;
  Shape permutation(x->rank()), shape;
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), random);
  for (int64_t d : permutation)
    shape.push_back(x->shape[d]);
  emit("nn.transpose " + x->name + " " + list(permutation) + " : " + x->type() + " -> " +
           typeText(shape, "f64"),
       shape);
  return true;
}

bool RandomGenerator::slice() {
  auto x = pickFloat(1);
  if (!x)
    return false;
  Shape starts, limits, strides, shape;
  for (int64_t extent : x->shape) {
    bool whole = chance(50);
    int64_t start = whole ? 0 : below(extent),
            limit = whole ? extent : start + 1 + below(extent - start), stride = chance(15) ? 2 : 1;
    starts.push_back(start);
    limits.push_back(limit);
    strides.push_back(stride);
    shape.push_back((limit - start + stride - 1) / stride);
  }
  emit("nn.slice " + x->name + " starts " + list(starts) + " limits " + list(limits) + " strides " +
           list(strides) + " : " + x->type() + " -> " + typeText(shape, "f64"),
       shape);
  return true;
}

bool RandomGenerator::pad() {
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
    shape.push_back(low.back() + high.back() + extent + (extent - 1) * interior.back());
  }
  if (product(shape) > 500)
    return false;
  RandomValue value = constant(chance(60) ? "0.0" : "0.5", {});
  emit("nn.pad " + x->name + ", " + value.name + " low " + list(low) + " high " + list(high) +
           " interior " + list(interior) + " : " + x->type() + ", tensor<f64> -> " +
           typeText(shape, "f64"),
       shape);
  return true;
}

bool RandomGenerator::concat() {
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
  emit("nn.concat " + names + " dim " + std::to_string(dim) + " : " + types + " -> " +
           typeText(shape, "f64"),
       shape);
  return true;
}

bool RandomGenerator::gather() {
  auto x = pickFloat(1, 3);
  if (!x)
    return false;
  RandomValue table = chance(50) ? *x : addParameter(randomShape(2));
  int64_t dim = below(table.rank());
  RandomValue indices = indicesInto(table.shape[dim]);
  Shape shape = table.shape;
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, indices.shape.begin(), indices.shape.end());
  if (shape.size() > 4 || product(shape) > 500)
    return false;
  emit("nn.gather " + table.name + ", " + indices.name + " dim " + std::to_string(dim) + " : " +
           table.type() + ", " + indices.type() + " -> " + typeText(shape, "f64"),
       shape);
  gathered.push_back({values.back().name, indices.name, dim});
  return true;
}

bool RandomGenerator::scatter() {
  if (gathered.empty() && !gather())
    return false;
  const auto [name, indexName, dim] = gathered.back();
  auto find = [&](const std::string &wanted) {
    return std::find_if(values.begin(), values.end(),
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
  emit("nn.scatter_add " + bent.name + ", " + at.name + " dim " + std::to_string(dim) + " : " +
           bent.type() + ", " + at.type() + " -> " + typeText(shape, "f64"),
       shape);
  return true;
}

bool RandomGenerator::select() {
  auto x = pickFloat(1);
  if (!x)
    return false;
  RandomValue y = sameShape(x->shape);
  RandomValue index = iota(x->shape);
  RandomValue bound = constant(std::to_string(below(5)), x->shape, true);
  std::string bits = typeText(x->shape, "i1");
  RandomValue mask =
      emit("nn.compare lt " + index.name + ", " + bound.name + " : " + index.type() + " -> " + bits,
           x->shape);
  values.pop_back();
  emit("nn.select " + mask.name + ", " + x->name + ", " + y.name + " : " + bits + ", " + x->type(),
       x->shape);
  return true;
}

bool RandomGenerator::reverse() {
  auto x = pickFloat(1);
  if (!x)
    return false;
  emit("nn.reverse " + x->name + " " + list({below(x->rank())}) + " : " + x->type(), x->shape);
  return true;
}
