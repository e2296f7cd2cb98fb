#ifndef DPC_TEST_UNIT_PASSES_SHARDING_RANDOMPROGRAM_H
#define DPC_TEST_UNIT_PASSES_SHARDING_RANDOMPROGRAM_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace dpc::test {

using Shape = std::vector<int64_t>;

/// An argument of a random program. Elements of integer arguments are in
/// [1, limit), so that 0 is not in the domain of what follows.
struct RandomArgument {
  std::string name;
  Shape shape;
  int64_t limit = 0; // 0: floats
  int64_t batch = -1;
  bool isParameter = false;
  std::string layout; // of a parameter; "": the pass decides
};

/// A mesh, and what its axes may cut.
struct RandomMesh {
  std::vector<std::string> axes, sequential, batchAxes, autoAxes;
};

/// A small tensor program with functions @step and @eval on the same
/// parameters, and a mesh to run it on.
struct RandomProgram {
  RandomMesh mesh;
  std::vector<RandomArgument> arguments;
  std::string text;
};

/// The program of `seed`: 1 to 10 ops a function.
RandomProgram makeRandomProgram(uint32_t seed);

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_SHARDING_RANDOMPROGRAM_H
