// Reading a parameter from a tensor of the file.

#include "frontends/onnx/Restore/FileViews.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace dpc;
using namespace dpc::onnx;
using Holds = nn::FileTensor::Holds;

namespace {

using Shape = llvm::SmallVector<int64_t, 4>;

/// Elements 0, 1, 2, ..
Tensor counting(llvm::ArrayRef<int64_t> shape) {
  int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.f);
  const char *bytes = reinterpret_cast<const char *>(values.data());
  return makeTensor(ElementType::F32, shape, {bytes, bytes + values.size() * sizeof(float)});
}

DerivationStep step(DerivationStep::Kind kind, Shape dims) {
  DerivationStep made;
  made.kind = kind;
  made.dims = std::move(dims);
  return made;
}

nn::FileTensor view(const Tensor &parameter, const Derivation &steps) {
  Initializer inFile;
  inFile.name = "file";
  inFile.tensor = *derive(parameter, steps);
  return viewOf(parameter.shape, steps, inFile);
}

/// The strides name, for each element, the place where the file has it.
void expectReads(const Tensor &parameter, const Derivation &steps) {
  nn::FileTensor found = view(parameter, steps);
  Tensor file = *derive(parameter, steps);
  ASSERT_EQ(found.holds, Holds::all);
  ASSERT_EQ(found.strides.size(), size_t(parameter.shape.size()));
  for (int64_t i = 0; i < parameter.numElements(); ++i) {
    int64_t place = 0, rest = i;
    for (int64_t dim = parameter.shape.size(); dim-- > 0;) {
      place += rest % parameter.shape[dim] * found.strides[dim];
      rest /= parameter.shape[dim];
    }
    ASSERT_EQ(file.asDouble(place) - found.shift, parameter.asDouble(i));
  }
}

/// A shape with the elements of `shape`: neighbours merged, units put between.
Shape regrouped(llvm::ArrayRef<int64_t> shape, std::mt19937 &random) {
  Shape made;
  for (int64_t extent : shape) {
    if (!made.empty() && random() % 3 == 0)
      made.back() *= extent;
    else
      made.push_back(extent);
    if (random() % 4 == 0)
      made.push_back(1);
  }
  return made;
}

TEST(FileViewsTest, ReadsWhateverWasOnlyMoved) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Shape shape(1 + random() % 4);
    for (int64_t &extent : shape)
      extent = 1 + random() % 4;
    Derivation steps;
    Shape now = shape;
    for (int k = random() % 4; k > 0; --k) {
      if (random() % 2) {
        now = regrouped(now, random);
        steps.push_back(step(DerivationStep::Kind::Reshape, now));
        continue;
      }
      Shape permutation(now.size()), moved;
      std::iota(permutation.begin(), permutation.end(), 0);
      std::shuffle(permutation.begin(), permutation.end(), random);
      for (int64_t dim : permutation)
        moved.push_back(now[dim]);
      now = moved;
      steps.push_back(step(DerivationStep::Kind::Transpose, permutation));
    }
    expectReads(counting(shape), steps);
  }
}

TEST(FileViewsTest, ReadsBehindANumberAdded) {
  DerivationStep add = step(DerivationStep::Kind::Add, {});
  add.addend = 1;
  expectReads(counting({2, 3}), {add, step(DerivationStep::Kind::Transpose, {1, 0})});
}

TEST(FileViewsTest, ReadsATornDimensionOnlyInItsOrder) {
  Tensor parameter = counting({2, 6});
  expectReads(parameter, {step(DerivationStep::Kind::Reshape, {2, 3, 2})});
  EXPECT_EQ(view(parameter, {step(DerivationStep::Kind::Reshape, {2, 3, 2}),
                             step(DerivationStep::Kind::Transpose, {2, 1, 0})})
                .holds,
            Holds::part);
}

TEST(FileViewsTest, DoesNotReadRowsOrRepetitions) {
  DerivationStep rows = step(DerivationStep::Kind::Gather, {2});
  rows.indices = {2, 0};
  EXPECT_EQ(view(counting({3, 2}), {rows}).holds, Holds::part);
  EXPECT_EQ(view(counting({1, 2}), {step(DerivationStep::Kind::Expand, {4, 2})}).holds,
            Holds::part);
}

} // namespace
