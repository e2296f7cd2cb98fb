#ifndef DPC_TEST_UNIT_PASSES_REMAT_RANDOMTRAINING_H
#define DPC_TEST_UNIT_PASSES_REMAT_RANDOMTRAINING_H

#include "test/unit/passes/ShardedUpdates/StepGenerator.h"

#include <optional>

namespace dpc::test {

/// A forward pass with its loss, before it is differentiated, and what it is trained by.
struct RandomTraining {
  RandomProgram program;
  /// Options of dpc-apply-optimizer.
  std::string optimizer;
  double clipGradNorm = 0;
};

/// Makes one random network, whose layers compute the samples of a batch apart from each
/// other, but for batch statistics. The name of a layer is the location of its ops. Only ops
/// whose gradients are continuous, so that rounding does not grow.
class TrainingGenerator : StepGenerator {
public:
  explicit TrainingGenerator(uint32_t seed) : StepGenerator(seed) {}

  RandomTraining run();

private:
  /// A value of the forward pass, of some parameter; the first dimension counts samples.
  struct Activation {
    std::string name;
    Shape shape;

    int64_t rank() const { return shape.size(); }
    int64_t last() const { return shape.back(); }
    std::string type() const { return typeText(shape, "f64"); }
  };

  /// An activation of `rank` to `most` dimensions, most often the last.
  std::optional<Activation> pick(int64_t rank = 2, int64_t most = 4);
  /// Another one of its shape, or itself.
  Activation pickLike(const Activation &x);
  Activation add(const std::string &op, const Shape &shape);
  /// An input of integers in [1, limit).
  std::string labels(const Shape &shape, int64_t limit);
  std::string parameter(const Shape &shape, bool isTrained = true);
  /// A parameter for the last dimension, the same along all others; at times a frozen one.
  std::string parameterLike(const Activation &x);
  /// By a new kernel, or a tied one.
  Activation product(const Activation &x, int64_t features);
  std::string mean(const Activation &x);

  // Each adds one layer; false where no activation suits.
  bool makeLayer();
  bool start();
  bool dense();
  bool bend();
  bool combine();
  bool squaredRelu();
  bool normalize();
  bool softmax();
  bool attention();
  bool scores();
  bool conv();
  bool pool();
  bool dropout();
  bool centerOverBatch();
  bool transpose();
  bool reshape();
  bool slice();
  bool concat();
  bool widen();
  bool reduce();
  bool scan();

  std::string loss();
  std::string makeStep();
  std::string makeEval();

  std::vector<Activation> values;
  std::vector<Parameter> parameters;
};

/// The network of `seed`.
RandomTraining makeRandomTraining(uint32_t seed);

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_REMAT_RANDOMTRAINING_H
