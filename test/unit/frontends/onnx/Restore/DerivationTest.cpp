// Steps from a parameter to a tensor of the file.

#include "frontends/onnx/Restore/Derivation.h"

#include <gtest/gtest.h>

using namespace dpc::onnx;

namespace {

Tensor floats(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values) {
  const char *bytes = reinterpret_cast<const char *>(values.data());
  return makeTensor(ElementType::F32, shape, {bytes, bytes + values.size() * sizeof(float)});
}

/// The steps that were found make `value` of `parameter`.
void expectFound(const Tensor &parameter, const Tensor &value, const char *description) {
  std::optional<Derivation> steps = findDerivation(parameter, value);
  ASSERT_TRUE(steps) << description;
  EXPECT_EQ(describe(*steps), description);
  EXPECT_TRUE(isSame(*derive(parameter, *steps), value));
}

TEST(DerivationTest, FindsWhatExportersDo) {
  Tensor table = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  expectFound(table, table, "");
  expectFound(table, floats({2, 3}, {1, 3, 5, 2, 4, 6}), "transposed");
  expectFound(table, floats({3, 1, 2}, {1, 2, 3, 4, 5, 6}), "reshaped");
  expectFound(table, floats({2, 2}, {5, 6, 1, 2}), "2 rows");
  expectFound(table, floats({3, 2}, {2, 3, 4, 5, 6, 7}), "plus 1");
  expectFound(floats({1, 2}, {1, 2}), floats({2, 2}, {1, 2, 1, 2}), "repeated");
}

TEST(DerivationTest, FindsNothingWhereValuesDiffer) {
  Tensor table = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_FALSE(findDerivation(table, floats({2, 3}, {1, 3, 5, 2, 4, 7})));
  EXPECT_FALSE(findDerivation(table, floats({1, 2}, {1, 3})));
  EXPECT_FALSE(findDerivation(table, floats({3, 2}, {2, 4, 6, 8, 10, 12})));
  // Equal rows: which one was looked up is unknown.
  EXPECT_FALSE(findDerivation(floats({3, 2}, {1, 2, 1, 2, 3, 4}), floats({1, 2}, {1, 2})));
}

TEST(DerivationTest, MakesATableOfDistinctRows) {
  Derived table = distinctRows(floats({4, 2}, {7, 8, 1, 2, 7, 8, 1, 2}), 1);
  EXPECT_TRUE(isSame(table.parameter, floats({2, 2}, {7, 8, 1, 2})));
  ASSERT_EQ(table.steps.size(), 1u);
  EXPECT_EQ(table.steps[0].indices, (std::vector<int64_t>{0, 1, 0, 1}));
}

TEST(DerivationTest, TakesRows) {
  Tensor table = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  DerivationStep rows{DerivationStep::Kind::Slice, {1, 3}, {}, 0};
  EXPECT_TRUE(isSame(*derive(table, {rows}), floats({2, 2}, {3, 4, 5, 6})));
  EXPECT_EQ(describe({rows}), "rows 1 to 3");
  rows.dims = {2, 4};
  EXPECT_FALSE(derive(table, {rows}));
}

TEST(DerivationTest, CollapsesSamples) {
  Tensor zeros = floats({2, 2, 1}, {0, 0, 0, 0});
  EXPECT_EQ(llvm::ArrayRef<int64_t>(collapseRepeated(zeros).parameter.shape),
            llvm::ArrayRef<int64_t>({1, 2, 1}));
  EXPECT_EQ(llvm::ArrayRef<int64_t>(collapseRepeated(zeros, 1).parameter.shape),
            llvm::ArrayRef<int64_t>({2, 1, 1}));
}

/// A relative bias [1, heads, places, places]: the heads are a row, though they
/// are not the last dimension any more.
TEST(DerivationTest, FindsRowsThatWereMoved) {
  Tensor value = floats({1, 2, 2, 2}, {1, 2, 3, 1, 5, 6, 7, 5});
  std::optional<Derived> table = distinctRowsAnywhere(value);
  ASSERT_TRUE(table);
  EXPECT_TRUE(isSame(table->parameter, floats({3, 2}, {1, 5, 2, 6, 3, 7})));
  EXPECT_TRUE(isSame(*derive(table->parameter, table->steps), value));
}

TEST(DerivationTest, RowsOfOneNumberSayNothing) {
  EXPECT_FALSE(distinctRowsAnywhere(floats({2, 2}, {0, 0, 0, 0})));
  // Nothing twice: the tensor itself.
  Tensor value = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(isSame(distinctRowsAnywhere(value)->parameter, value));
}

/// All dimensions along which nothing changes; of one number only the first,
/// which counts samples.
TEST(DerivationTest, CollapsesWhatWasRepeated) {
  EXPECT_TRUE(isSame(collapseRepeated(floats({2, 2, 2}, {1, 2, 1, 2, 1, 2, 1, 2})).parameter,
                     floats({1, 1, 2}, {1, 2})));
  EXPECT_TRUE(isSame(collapseRepeated(floats({2, 1, 2}, {0, 0, 0, 0})).parameter,
                     floats({1, 1, 2}, {0, 0})));
}

} // namespace
