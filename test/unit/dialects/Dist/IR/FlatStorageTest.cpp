// Interpreter rules of dist.pack, dist.unpack and dist.share.
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/Collectives.h"
#include "interpreter/Evaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;

namespace {

/// A device with a number in its group.
class Member : public DeviceContext {
public:
  explicit Member(int64_t index) : index(index) {}
  int64_t getGroupIndex(ArrayRef<StringRef>) override { return index; }

private:
  int64_t index;
};

constexpr const char *kProgram = R"mlir(
dist.mesh @mesh axes ["data"] sizes [4]
func.func @pack(%a: tensor<2x2xf32>, %b: tensor<3xf32>) -> tensor<12xf32> {
  %p = dist.pack %a, %b at [1, 8] : tensor<2x2xf32>, tensor<3xf32> -> tensor<12xf32>
  return %p : tensor<12xf32>
}
func.func @unpack(%p: tensor<12xf32>) -> (tensor<2x2xf32>, tensor<3xf32>) {
  %u:2 = dist.unpack %p at [1, 8] : tensor<12xf32> -> tensor<2x2xf32>, tensor<3xf32>
  return %u#0, %u#1 : tensor<2x2xf32>, tensor<3xf32>
}
func.func @share(%p: tensor<12xf32>) -> tensor<3xf32> {
  %s = dist.shard %p on @mesh ["data"] : tensor<12xf32> -> tensor<3xf32>
  return %s : tensor<3xf32>
}
)mlir";

class FlatStorageTest : public testing::Test {
protected:
  FlatStorageTest() {
    context.loadDialect<dist::DistDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(kProgram, &context);
  }

  /// What the function `name` returns on one member of the group.
  std::vector<HostTensor> run(StringRef name, std::vector<HostTensor> arguments,
                              int64_t index = 0) {
    Member device(index);
    auto results = evaluate(module->lookupSymbol<func::FuncOp>(name), std::move(arguments), device);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? *results : std::vector<HostTensor>();
  }

  static HostTensor make(RankedTensorType type, std::vector<double> values) {
    HostTensor tensor(type);
    tensor.floats = std::move(values);
    return tensor;
  }

  RankedTensorType type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(FlatStorageTest, PackLeavesZeroesBetween) {
  HostTensor a = make(type({2, 2}), {1, 2, 3, 4});
  HostTensor b = make(type({3}), {5, 6, 7});
  EXPECT_EQ(run("pack", {a, b})[0].floats,
            (std::vector<double>{0, 1, 2, 3, 4, 0, 0, 0, 5, 6, 7, 0}));
}

TEST_F(FlatStorageTest, UnpackIsItsInverse) {
  HostTensor flat = make(type({12}), {9, 1, 2, 3, 4, 9, 9, 9, 5, 6, 7, 9});
  std::vector<HostTensor> members = run("unpack", {flat});
  EXPECT_EQ(members[0].floats, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(members[1].floats, (std::vector<double>{5, 6, 7}));
}

TEST_F(FlatStorageTest, EachDeviceHasTheShareOfItsNumber) {
  HostTensor flat = make(type({12}), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  for (int64_t device = 0; device < 4; ++device)
    EXPECT_EQ(run("share", {flat}, device)[0].floats,
              (std::vector<double>{3. * device, 3. * device + 1, 3. * device + 2}));
}

} // namespace
