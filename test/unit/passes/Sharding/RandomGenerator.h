#ifndef DPC_TEST_UNIT_PASSES_SHARDING_RANDOMGENERATOR_H
#define DPC_TEST_UNIT_PASSES_SHARDING_RANDOMGENERATOR_H

#include "test/unit/passes/Sharding/RandomProgram.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace dpc::test {

inline int64_t product(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

inline std::string list(const Shape &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

inline std::string typeText(const Shape &shape, const char *element) {
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

  std::string type() const { return typeText(shape, isInteger ? "i64" : "f64"); }
  int64_t rank() const { return shape.size(); }
};

/// Makes one random program. The mesh, the arguments and the functions are in
/// RandomProgram.cpp, what each op needs in RandomShapeOps.cpp (ops that move
/// elements) and RandomComputeOps.cpp.
class RandomGenerator {
public:
  explicit RandomGenerator(uint32_t seed) : random(seed) {}

  RandomProgram run(unsigned ops);

private:
  int64_t below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T> const T &pick(const std::vector<T> &from) {
    return from[below(from.size())];
  }

  void makeMesh();
  Shape randomShape(int64_t rank);

  /// Factors and segments of one dimension, some of them cut by `axes`.
  std::string dimLayout(int64_t extent, std::vector<std::string> axes);
  std::string randomLayout(const Shape &shape);

  // Values: a new argument, one made so far, or one made for the purpose.
  RandomValue addArgument(RandomArgument argument);
  RandomValue addParameter(Shape shape);
  RandomValue addInput(int64_t limit = 0);
  std::string makeFunction(const std::string &name, unsigned ops);

  /// Appends `%n = text` and records the value.
  const RandomValue &emit(const std::string &text, Shape shape, bool isInteger = false,
                          int64_t lowest = 0, int64_t limit = 0);
  std::optional<RandomValue> pickFloat(int64_t minRank = 0, int64_t maxRank = 4);
  RandomValue sameShape(const Shape &shape);
  /// Some dimensions, perhaps none, and the extents of the others.
  std::pair<Shape, Shape> someDimensions(const RandomValue &value);

  /// Indices into [0, extent).
  RandomValue indicesInto(int64_t extent);
  RandomValue constant(const std::string &value, const Shape &shape, bool isInteger = false);
  RandomValue iota(const Shape &shape);
  RandomValue iotaBelow(const Shape &shape, int64_t extent);

  // Each adds one use of an op; false when no value so far suits.
  bool makeOp();
  bool unary();
  bool binary();
  bool dot();
  bool broadcast();
  bool reshape();
  bool transpose();
  bool slice();
  bool pad();
  bool concat();
  bool reduce();

  /// A mean along the batch: partial, then scaled, then spread again.
  bool mean();
  bool softmax();
  bool normalize();
  bool gather();
  bool scatter();
  bool conv();
  bool pool();
  bool cumsum();
  bool select();
  bool reverse();
  bool crossEntropy();
  bool uniform();

  struct Gathered {
    std::string result, indices;
    int64_t dim;
  };

  std::mt19937 random;
  RandomProgram program;
  std::vector<std::string> parallelAxes;
  int64_t iterations = 1, batch = 1, next = 0;
  // Of the function being made.
  std::vector<RandomValue> values;
  std::vector<size_t> used;
  std::vector<Gathered> gathered;
  std::string body;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_SHARDING_RANDOMGENERATOR_H
