// Values and errors of the ops that read or write where an index tensor says,
// and of the loss, that differences cannot show.

#include "test/unit/dialects/NN/IR/BlockInterpreter.h"

#include <gtest/gtest.h>

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {
/// Runs one line on given argument elements.
class IndexingTest : public testing::Test {
protected:
  struct Input {
    const char *type;
    std::vector<double> elements;
  };

  /// The op's results, or nothing where its rule fails; then `message` says
  /// why.
  std::vector<HostTensor> run(const std::string &body, const std::vector<Input> &inputs) {
    loadDialects(context);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    std::vector<Arg> args;
    for (const Input &input : inputs)
      args.push_back({input.type});
    module = parseFunction(context, body, args);
    if (!module)
      return {};
    Block &block = functionOf(*module).getBody().front();
    BlockInterpreter::Values values;
    for (auto [argument, input] : llvm::zip_equal(block.getArguments(), inputs))
      values[argument] = tensorOf(argument.getType(), input.elements);
    if (failed(BlockInterpreter().run(block, values)))
      return {};
    std::vector<HostTensor> results;
    for (Value value : block.getTerminator()->getPrevNode()->getResults())
      results.push_back(values.lookup(value));
    return results;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
};
} // namespace

using Doubles = std::vector<double>;
using Ints = std::vector<int64_t>;
static const double notANumber = std::numeric_limits<double>::quiet_NaN();

TEST_F(IndexingTest, GatherRefusesAnIndexBeyondTheTable) {
  const char *gather = "nn.gather %a, %b dim 0 : tensor<3xf64>, tensor<2xi64> -> tensor<2xf64>";
  EXPECT_EQ(run(gather, {{"3xf64", {1, 2, 3}}, {"2xi64", {2, 0}}})[0].floats, (Doubles{3, 1}));
  EXPECT_TRUE(run(gather, {{"3xf64", {1, 2, 3}}, {"2xi64", {0, 3}}}).empty());
  EXPECT_EQ(message, "'nn.gather' op has the index 3 along dimension 0 of extent 3");
  EXPECT_TRUE(run(gather, {{"3xf64", {1, 2, 3}}, {"2xi64", {-1, 0}}}).empty());
  EXPECT_EQ(message, "'nn.gather' op has the index -1 along dimension 0 of extent 3");
}

TEST_F(IndexingTest, ElementAndTupleIndicesAreCheckedToo) {
  EXPECT_TRUE(run("nn.gather_elements %a, %b dim 0 : tensor<2xf64>, "
                  "tensor<1xi64> -> tensor<1xf64>",
                  {{"2xf64", {1, 2}}, {"1xi64", {2}}})
                  .empty());
  EXPECT_EQ(message, "'nn.gather_elements' op has the index 2 along dimension "
                     "0 of extent 2");
  EXPECT_TRUE(run("nn.gather_nd %a, %b : tensor<2x3xf64>, tensor<1x2xi64> -> "
                  "tensor<1xf64>",
                  {{"2x3xf64", {1, 2, 3, 4, 5, 6}}, {"1x2xi64", {1, 3}}})
                  .empty());
  EXPECT_EQ(message, "'nn.gather_nd' op has the index 3 along dimension 1 of extent 3");
}

TEST_F(IndexingTest, ScatterKinds) {
  auto scatter = [&](const std::string &kind, const Doubles &x) {
    return run("nn.scatter_elements " + kind +
                   " %a, %b, %c dim 0 : tensor<3xf64>, tensor<4xi64>, "
                   "tensor<4xf64>",
               {{"3xf64", x}, {"4xi64", {0, 2, 0, 2}}, {"4xf64", {5, 1, 7, 6}}})
        .at(0)
        .floats;
  };
  EXPECT_EQ(scatter("none", {2, 3, 4}), (Doubles{7, 3, 6}));
  EXPECT_EQ(scatter("add", {2, 3, 4}), (Doubles{14, 3, 11}));
  EXPECT_EQ(scatter("mul", {2, 3, 4}), (Doubles{70, 3, 24}));
  EXPECT_EQ(scatter("max", {6, 3, 9}), (Doubles{7, 3, 9}));
  EXPECT_EQ(scatter("min", {6, 3, 9}), (Doubles{5, 3, 1}));
  EXPECT_NE(scatter("max", {notANumber, 3, 9})[0], 7);
}

TEST_F(IndexingTest, ScatterMulHasNoGradient) {
  run("nn.scatter_elements mul %a, %b, %c dim 0 : tensor<3xf64>, "
      "tensor<1xi64>, tensor<1xf64>",
      {{"3xf64", {1, 2, 3}}, {"1xi64", {0}}, {"1xf64", {1}}});
  Block &block = functionOf(*module).getBody().front();
  Operation *op = block.getTerminator()->getPrevNode();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  OpBuilder builder(block.getTerminator());
  SmallVector<Value> grads(3);
  EXPECT_TRUE(failed(cast<DifferentiableOpInterface>(op).buildVjp(builder, {op->getResult(0)},
                                                                  {true, false, true}, grads)));
  EXPECT_EQ(message, "'nn.scatter_elements' op of kind mul has no gradient");
}

// Differences do not exist where elements tie: those that are the largest share
// the gradient, as in PyTorch.
TEST_F(IndexingTest, LargestOnesThatTieShareTheGradient) {
  const Doubles elements[] = {{5, 1, 4}, {0, 0, 1, 2}, {5, 5, 3, 2}, {6, 2, 8}};
  std::vector<HostTensor> results =
      run("nn.scatter_elements max %a, %b, %c dim 0 : tensor<3xf64>, "
          "tensor<4xi64>, tensor<4xf64>",
          {{"3xf64", elements[0]}, {"4xi64", elements[1]}, {"4xf64", elements[2]}});
  ASSERT_EQ(results.at(0).floats, (Doubles{5, 3, 4}));
  Block &block = functionOf(*module).getBody().front();
  Operation *op = block.getTerminator()->getPrevNode();
  Value gradient = block.addArgument(op->getResult(0).getType(), op->getLoc());
  OpBuilder builder(block.getTerminator());
  SmallVector<Value> grads(3);
  ASSERT_TRUE(succeeded(cast<DifferentiableOpInterface>(op).buildVjp(builder, {gradient},
                                                                     {true, false, true}, grads)));
  BlockInterpreter::Values values;
  for (auto [argument, each] : llvm::zip_equal(block.getArguments(), elements))
    values[argument] = tensorOf(argument.getType(), each);
  ASSERT_TRUE(succeeded(BlockInterpreter().run(block, values)));
  EXPECT_EQ(values.lookup(grads[0]).floats, (Doubles{2, 0, 8}));
  EXPECT_EQ(values.lookup(grads[2]).floats, (Doubles{2, 2, 2, 0}));
}

TEST_F(IndexingTest, TopKIsStableAndPutsNanFirst) {
  const char *largest = "%v, %i = nn.top_k %a dim 0 {k = 4 : i64} : "
                        "tensor<5xf64> -> tensor<4xf64>, tensor<4xi64>";
  std::vector<HostTensor> results = run(largest, {{"5xf64", {1, 3, 3, notANumber, 3}}});
  EXPECT_EQ(results[1].ints, (Ints{3, 1, 2, 4}));
  const char *smallest = "%v, %i = nn.top_k %a dim 0 {k = 3 : i64, largest = false} : "
                         "tensor<5xf64> -> tensor<3xf64>, tensor<3xi64>";
  results = run(smallest, {{"5xf64", {3, notANumber, 1, 3, 1}}});
  EXPECT_EQ(results[1].ints, (Ints{2, 4, 0}));
  EXPECT_EQ(results[0].floats, (Doubles{1, 1, 3}));
}

TEST_F(IndexingTest, CrossEntropyRefusesALabelWithoutAClass) {
  const char *loss = "nn.cross_entropy %a, %b dim 1 : tensor<2x2xf64>, "
                     "tensor<2xi64> -> tensor<2xf64>, tensor<2xf64>";
  Input logits = {"2x2xf64", {0, 0, 1, 1}};
  std::vector<HostTensor> results = run(loss, {logits, {"2xi64", {-100, 1}}});
  EXPECT_EQ(results[0].floats[0], 0);
  EXPECT_NEAR(results[0].floats[1], std::log(2.0), 1e-15);
  EXPECT_TRUE(run(loss, {logits, {"2xi64", {0, 2}}}).empty());
  EXPECT_EQ(message, "'nn.cross_entropy' op has the label 2, but 2 classes");
}
