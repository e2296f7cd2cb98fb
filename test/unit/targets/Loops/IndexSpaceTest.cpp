// The positions of elements, as expressions of index variables.

#include "targets/Loops/IndexSpace.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace dpc;
using namespace mlir;
using Index = IndexSpace::Index;

namespace {
/// An index space of code that reads no tensors.
struct PureSpace : IndexSpace {
  using IndexSpace::IndexSpace;
  Index readIndex(Value, const ElementIndex &, int64_t) override { return constant(0); }
  llvm::SmallVector<int64_t> splitStrides(Value) override { return {}; }
};

/// The value of `expression` if the variable `variable` is `value`.
int64_t valueOf(Index expression, Index variable, int64_t value) {
  Index result = expression.replace(variable, getAffineConstantExpr(value, variable.getContext()));
  return cast<AffineConstantExpr>(result).getValue();
}
} // namespace

// Also if the distance is longer than a line, and past the end of the first dimension.
TEST(IndexSpaceTest, AdvanceFindsTheElementAtADistance) {
  MLIRContext context;
  const llvm::SmallVector<int64_t> shapes[] = {{3, 4, 7}, {2, 5, 1}, {2, 3, 2, 28}, {30}};
  for (llvm::ArrayRef<int64_t> shape : shapes) {
    PureSpace space(&context);
    const int64_t count = ShapedType::getNumElements(shape);
    Index number = space.variable(0, count - 1);
    for (int64_t distance = 0; distance < 16; ++distance) {
      auto moved = space.advance(space.delinearize(number, shape), distance, shape);
      for (int64_t i = 0; i < count; ++i) {
        auto wanted = space.delinearize(space.constant(i + distance), shape);
        for (auto [position, expected] : llvm::zip_equal(moved, wanted))
          EXPECT_EQ(valueOf(position, number, i), cast<AffineConstantExpr>(expected).getValue())
              << "element " << i << " + " << distance;
      }
    }
  }
}
