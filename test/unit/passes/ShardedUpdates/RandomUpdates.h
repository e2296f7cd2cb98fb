#ifndef DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_RANDOMUPDATES_H
#define DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_RANDOMUPDATES_H

#include "test/unit/passes/ShardedUpdates/StepGenerator.h"

namespace dpc::test {

/// Makes one random training step: 1 to 6 parameters of odd shapes, gradients that are sums
/// over samples, and updates by SGD, momentum and LAMB, clipped or not; at times frozen
/// parameters, a running mean, an @eval. Only continuous functions, so that rounding does
/// not grow.
class UpdateGenerator : StepGenerator {
public:
  explicit UpdateGenerator(uint32_t seed) : StepGenerator(seed) {}

  RandomProgram run();

private:
  enum Rule { sgd, momentum, lamb };
  struct Updated : Parameter {
    Rule rule = sgd;
    std::string rate, decay; // a value; the text of a constant
    bool isClipped = true;
  };

  void makeParameters();

  // Each appends ops to `body` and returns the value that they make.
  std::string gradientTerm(const Parameter &parameter);
  std::string gradient(const Parameter &parameter);
  std::string clipFactor(const std::vector<std::string> &gradients);
  void update(const Updated &parameter, const std::string &gradient, const std::string &scale);
  void updateLamb(const Updated &parameter, const std::string &gradient, const std::string &scale);

  std::string addSlot(const Parameter &parameter, const std::string &slot);
  std::string makeStep();
  std::string makeEval();

  std::vector<Updated> trained, frozen;
};

/// The program of `seed`.
RandomProgram makeRandomUpdates(uint32_t seed);

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_RANDOMUPDATES_H
