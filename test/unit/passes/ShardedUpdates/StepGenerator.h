#ifndef DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_STEPGENERATOR_H
#define DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_STEPGENERATOR_H

#include "test/unit/passes/Sharding/RandomGenerator.h"

namespace dpc::test {

/// Dimensions [first, last) of a tensor.
Shape dimensions(int64_t first, int64_t last);
std::string sumText(const std::string &value, const Shape &shape, const Shape &dims);
std::string broadcastText(const std::string &value, const Shape &from, const Shape &dims,
                          const Shape &to);

/// What random training steps have in common: a mesh of replicas, shards of the batch and of
/// the model, at times with a loop over microbatches; and functions as text.
class StepGenerator {
protected:
  struct Parameter {
    std::string name;
    Shape shape;
    std::string layout, kind; // of the argument

    std::string value() const { return "%" + name; }
    std::string type() const { return typeText(shape, "f64"); }
  };

  explicit StepGenerator(uint32_t seed) : random(seed) {}

  int64_t below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }
  bool chance(int percent) { return below(100) < percent; }

  void makeMesh();
  std::string randomLayout(const Shape &shape);

  /// Behind an op: its name, if it shall have one.
  std::string location() const { return node.empty() ? "" : " loc(\"" + node + "\")"; }
  // Each appends ops to `body` and returns the value that they make.
  std::string emit(const std::string &op);
  std::string binary(const std::string &op, const std::string &lhs, const std::string &rhs,
                     const Shape &shape);
  std::string unary(const std::string &op, const std::string &value, const Shape &shape);
  std::string scalar(const std::string &number);
  std::string sumAll(const std::string &value, const Shape &shape);
  std::string sumSquares(const std::string &value, const Shape &shape);
  std::string input(const Shape &shape);
  /// A number of each sample, from `before` of them and a parameter.
  std::string forward(const std::string &before, const Parameter &parameter);

  Shape samplesOf(const Shape &shape) const;
  void addArgument(const std::string &name, const std::string &type, const std::string &attributes);
  void addParameter(const Parameter &parameter);
  void addResult(const std::string &value, const Shape &shape, const std::string &kind,
                 const std::string &name);
  std::string finishFunction(const std::string &name);

  std::mt19937 random;
  RandomProgram program;
  std::vector<std::string> devices; // names of axes
  int64_t batch = 1, next = 0;
  // Of the function being made.
  std::vector<std::string> arguments, results, types, returned;
  std::string body, samples;
  /// The name of ops that are made now; "": they have none.
  std::string node;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_STEPGENERATOR_H
