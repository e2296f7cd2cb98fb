#ifndef DPC_TEST_UNIT_PASSES_BUCKETING_RANDOMUPDATES_H
#define DPC_TEST_UNIT_PASSES_BUCKETING_RANDOMUPDATES_H

#include "test/unit/passes/Sharding/RandomGenerator.h"

namespace dpc::test {

/// Makes one random training step: 1 to 6 parameters of odd shapes, gradients that are sums
/// over samples, and updates by SGD, momentum and LAMB, clipped or not; at times frozen
/// parameters, a running mean, an @eval. Only continuous functions, so that rounding does
/// not grow.
class UpdateGenerator {
public:
  explicit UpdateGenerator(uint32_t seed) : random(seed) {}

  RandomProgram run();

private:
  enum Rule { sgd, momentum, lamb };
  struct Parameter {
    std::string name;
    Shape shape;
    std::string layout, kind; // of the argument
    Rule rule = sgd;
    std::string rate, decay; // a value; the text of a constant
    bool isClipped = true;

    std::string value() const { return "%" + name; }
    std::string type() const { return typeText(shape, "f64"); }
  };

  int64_t below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }
  bool chance(int percent) { return below(100) < percent; }

  void makeMesh();
  void makeParameters();
  std::string randomLayout(const Shape &shape);

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
  std::string gradientTerm(const Parameter &parameter);
  std::string gradient(const Parameter &parameter);
  std::string clipFactor(const std::vector<std::string> &gradients);
  void update(const Parameter &parameter, const std::string &gradient, const std::string &scale);
  void updateLamb(const Parameter &parameter, const std::string &gradient,
                  const std::string &scale);

  Shape samplesOf(const Shape &shape) const;
  void addArgument(const std::string &name, const std::string &type, const std::string &attributes);
  void addParameter(const Parameter &parameter);
  std::string addSlot(const Parameter &parameter, const std::string &slot);
  void addResult(const std::string &value, const Shape &shape, const std::string &kind,
                 const std::string &name);
  std::string finishFunction(const std::string &name);
  std::string makeStep();
  std::string makeEval();

  std::mt19937 random;
  RandomProgram program;
  std::vector<std::string> devices; // names of axes
  int64_t batch = 1, next = 0;
  std::vector<Parameter> trained, frozen;
  // Of the function being made.
  std::vector<std::string> arguments, results, types, returned;
  std::string body, samples;
};

/// The program of `seed`.
RandomProgram makeRandomUpdates(uint32_t seed);

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_BUCKETING_RANDOMUPDATES_H
