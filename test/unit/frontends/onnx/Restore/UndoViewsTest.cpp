// What tensors were before views that only names tell.

#include "frontends/onnx/Restore/UndoViews.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace dpc::onnx;

namespace {

Tensor count(llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  std::vector<float> values(elements);
  std::iota(values.begin(), values.end(), 0.f);
  const char *bytes = reinterpret_cast<const char *>(values.data());
  return makeTensor(ElementType::F32, shape, {bytes, bytes + values.size() * sizeof(float)});
}

std::vector<View> viewsOf(llvm::ArrayRef<const char *> names) {
  std::vector<View> views;
  for (const char *name : names)
    views.push_back(asView(name));
  return views;
}

/// The shape of what `shape` was before `last` and, in any order, `others`.
/// What was found makes the value again.
void expectUndone(llvm::ArrayRef<int64_t> shape, const char *last,
                  llvm::ArrayRef<const char *> others, llvm::ArrayRef<int64_t> before, Doubt doubt,
                  llvm::StringRef how, bool isKernel = false) {
  Tensor value = count(shape);
  Undone undone = undoViews(value, viewsOf(last), viewsOf(others), isKernel);
  EXPECT_EQ(llvm::ArrayRef<int64_t>(undone.derived.parameter.shape), before) << last;
  EXPECT_EQ(undone.doubt, doubt) << last;
  EXPECT_EQ(describe(undone.derived.steps), how) << last;
  std::optional<Tensor> made = derive(undone.derived.parameter, undone.derived.steps);
  ASSERT_TRUE(made) << last;
  EXPECT_TRUE(isSame(*made, value)) << last;
}

TEST(UndoViewsTest, ReadsNamesOfCalls) {
  EXPECT_EQ(asView("permute_12").kind, ViewKind::Permute);
  EXPECT_EQ(asView("permute_12").number, 12);
  EXPECT_EQ(asView("t").kind, ViewKind::Swap);
  EXPECT_EQ(asView("split_with_sizes").kind, ViewKind::Slice);
  EXPECT_EQ(asView("mul").kind, ViewKind::None);
}

TEST(UndoViewsTest, ExchangesTheDimensionsOfAMatrix) {
  for (const char *name : {"t", "transpose_3", "permute"})
    expectUndone({3, 2}, name, {}, {2, 3}, Doubt::None, "transposed");
  expectUndone({3, 2}, "permute_1", {"permute"}, {3, 2}, Doubt::None, "");
  expectUndone({3, 2}, "permute_2", {"t", "permute_1"}, {2, 3}, Doubt::None, "transposed");
  expectUndone({3, 2}, "clone", {"permute", "_to_copy"}, {2, 3}, Doubt::None, "transposed");
  expectUndone({6}, "permute", {}, {6}, Doubt::None, "");
}

TEST(UndoViewsTest, RemovesDimensionsThatWereAdded) {
  expectUndone({3, 2, 1, 1}, "unsqueeze_1", {"unsqueeze"}, {3, 2}, Doubt::None, "reshaped");
  expectUndone({1, 3, 1, 1}, "unsqueeze_2", {"unsqueeze_1", "unsqueeze"}, {3}, Doubt::None,
               "reshaped");
  expectUndone({1, 3, 2}, "unsqueeze", {"permute"}, {2, 3}, Doubt::None, "transposed, reshaped");
  expectUndone({1, 3, 1}, "unsqueeze", {}, {3, 1}, Doubt::Shape, "reshaped");
}

TEST(UndoViewsTest, KeepsTheOrderOfElementsOfReshapes) {
  expectUndone({1, 3, 1, 1}, "view", {}, {3}, Doubt::None, "reshaped");
  expectUndone({3, 2, 1, 1}, "reshape", {}, {3, 2}, Doubt::Shape, "reshaped");
  expectUndone({3, 2}, "view", {}, {3, 2}, Doubt::Shape, "");
  expectUndone({6}, "flatten", {}, {6}, Doubt::Shape, "");
  expectUndone({3, 2}, "permute", {"view"}, {2, 3}, Doubt::Shape, "transposed");
}

TEST(UndoViewsTest, SaysWhatIsInDoubt) {
  // A batch of matrices is likely; a kernel of (height, width, in, out) too.
  expectUndone({4, 3, 2}, "transpose", {}, {4, 2, 3}, Doubt::Order, "transposed");
  expectUndone({5, 4, 3, 2}, "permute", {}, {3, 2, 4, 5}, Doubt::Order, "transposed", true);
  expectUndone({5, 4, 3, 2}, "transpose", {}, {4, 5, 3, 2}, Doubt::Order, "transposed", true);
  // A vector that may have been a matrix.
  expectUndone({6}, "view", {"permute"}, {6}, Doubt::Order, "");
  expectUndone({3, 2}, "slice_1", {}, {3, 2}, Doubt::Part, "");
  expectUndone({3, 2}, "permute", {"slice_1"}, {2, 3}, Doubt::Part, "transposed");
  // Too many dimensions and too many views tell nothing.
  expectUndone({2, 2, 2, 2, 2, 2, 2}, "permute", {}, {2, 2, 2, 2, 2, 2, 2}, Doubt::Order, "");
  expectUndone({2, 2}, "t", {"view", "view_1", "view_2", "view_3", "view_4", "view_5", "view_6"},
               {2, 2}, Doubt::Order, "");
}

} // namespace
