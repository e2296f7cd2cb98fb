// The table of reshards: a small program a cause, and one beside it that lacks
// what makes the cause.

#include "passes/Explain/ReshardTable.h"

#include "test/unit/planning/FlatMachine.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/Partition/Partition.h"
#include "passes/Sharding/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;

namespace {

/// Lays programs out and collects their reshards.
class ReshardTables : public ::testing::Test {
protected:
  ReshardTables() : context(makeRegistry()) {
    context.disableMultithreading();
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPartitionModels(registry);
    return registry;
  }

  /// @step with these arguments, ops and results on a mesh data=2, model=2, or
  /// with microbatches too. State lies as its arguments say.
  ReshardTable collect(StringRef arguments, StringRef body, StringRef results,
                       bool hasMicrobatches = false) {
    std::string text =
        ("func.func @step(" + arguments + ") -> (" + results + ") {\n" + body + "}").str();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return {};
    // A round machine: 1 GB/s and 10 us between any two.
    dist::setMachine(*module, test::makeFlatMachine(1e12, 1e10, 1e9, 1e-5));
    PassManager manager(&context);
    AssignLayoutsOptions assign;
    const std::string axes[] = {"micro=4", "data=2", "model=2"};
    const std::string sequential[] = {"micro"}, batch[] = {"micro", "data"};
    assign.axes = ArrayRef(axes).drop_front(hasMicrobatches ? 0 : 1);
    assign.batchAxes = ArrayRef(batch).drop_front(hasMicrobatches ? 0 : 1);
    if (hasMicrobatches)
      assign.sequentialAxes = ArrayRef(sequential);
    manager.addPass(createAssignLayouts(assign));
    EXPECT_TRUE(succeeded(manager.run(*module))) << text;
    std::optional<ReshardTable> table = collectReshards(*module);
    EXPECT_TRUE(table.has_value());
    // What layouts were chosen by counts the program of a microbatch once.
    if (table && !hasMicrobatches) {
      double all = table->gradients.bytes;
      for (const ReshardRow &row : table->rows)
        all += row.bytes;
      EXPECT_EQ(all, table->sent) << text;
    }
    return table.value_or(ReshardTable());
  }

  /// The one row of a table.
  static ReshardRow onlyRow(const ReshardTable &table) {
    EXPECT_EQ(table.rows.size(), 1u);
    return table.rows.empty() ? ReshardRow() : table.rows.front();
  }

  MLIRContext context;
};

/// A matrix of state, cut as `layout` says.
std::string matrix(StringRef name, StringRef layout, StringRef type = "64x64xf32") {
  return ("%" + name + ": tensor<" + type + "> {nn.arg = #nn.arg<parameter \"fc." + name +
          "\">, dist.layout = #dist.layout<\"" + layout + "\">}")
      .str();
}

constexpr char kInput[] = "%x: tensor<8x64xf32> {nn.arg = #nn.arg<input \"x\", batch = 0>}, ";
constexpr char kOutput[] = "tensor<8x64xf32> {nn.result = #nn.result<output \"y\">}";
/// y = x a b
constexpr char kTwoProducts[] = R"(
  %h = nn.dot %x, %a contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
  %y = nn.dot %h, %b contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("down")
  %r = nn.relu %y : tensor<8x64xf32> loc("relu")
  return %r : tensor<8x64xf32>
)";

// A contraction whose summed loop is cut leaves a sum; all of its 64 columns
// whole would remove it.
TEST_F(ReshardTables, SumsAreOfContractions) {
  ReshardRow row = onlyRow(collect(kInput + matrix("a", "[64], [(64: model)]") + ", " +
                                       matrix("b", "[(64: model)], [64]"),
                                   kTwoProducts, kOutput));
  EXPECT_EQ(row.cause, "sum over 64");
  EXPECT_EQ(row.steps, "all-reduce model");
  EXPECT_EQ(row.value, "down");
  EXPECT_EQ(row.reader, "relu");
  EXPECT_EQ(row.pass, "forward");
  EXPECT_EQ(row.request, "--shard=fc.b=-,-");
  // A rank has 4 x 64 floats of it, and sends half of them twice.
  EXPECT_EQ(row.bytes, 4 * 64 * 4);
  EXPECT_NEAR(row.seconds, 1e-5 + 1024e-9, 1e-6);
}

// What the request asks for: no reshard is left but that of the other product.
TEST_F(ReshardTables, NothingIsMovedOfWhatIsWhole) {
  ReshardTable table = collect(
      kInput + matrix("a", "[64], [64]") + ", " + matrix("b", "[64], [64]"), kTwoProducts, kOutput);
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(table.local, 0);
  EXPECT_FALSE(findReshardAbove(table, 1));
}

// Two dimensions of the second product want `model`: its operand gives way.
TEST_F(ReshardTables, TwoDimensionsWantOneAxis) {
  ReshardTable table = collect(kInput + matrix("a", "[64], [(64: model)]") + ", " +
                                   matrix("b", "[64], [(64: model)]"),
                               kTwoProducts, kOutput);
  ReshardRow row = onlyRow(table);
  EXPECT_EQ(row.cause, "cut along 1, the parameter along 1");
  EXPECT_EQ(row.steps, "all-gather model");
  EXPECT_EQ(row.value, "up");
  EXPECT_EQ(row.reader, "down");
  EXPECT_EQ(row.request, "--shard=fc.b=-,-");
}

// A sort takes all of a row.
TEST_F(ReshardTables, ReadersThatAreWhole) {
  constexpr char body[] = R"(
    %h = nn.dot %x, %a contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    %y = nn.cumsum %h dim 1 : tensor<8x64xf32> loc("scan")
    return %y : tensor<8x64xf32>
  )";
  ReshardRow row = onlyRow(collect(kInput + matrix("a", "[64], [(64: model)]"), body, kOutput));
  EXPECT_EQ(row.cause, "cut along 1, where its reader is whole");
  EXPECT_EQ(row.steps, "all-gather model");
  // A value cannot be asked for.
  EXPECT_EQ(row.request, "-");
}

// A value inside of a node has no name of its own.
TEST_F(ReshardTables, ValuesInsideOfNodes) {
  constexpr char body[] = R"(
    %h = nn.dot %x, %a contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("node")
    %y = nn.cumsum %h dim 1 : tensor<8x64xf32> loc("node")
    return %y : tensor<8x64xf32>
  )";
  ReshardRow row = onlyRow(collect(kInput + matrix("a", "[64], [(64: model)]"), body, kOutput));
  EXPECT_EQ(row.cause, "cut along 1, where its reader is whole");
  EXPECT_EQ(row.request, "-");
}

// A parameter that is held in one way and read in another; held as it is read,
// it stays where it is.
TEST_F(ReshardTables, ParametersAreReadOtherwise) {
  const std::string whole = ", " + matrix("b", "[64], [64]");
  constexpr char body[] = R"(
    %s = nn.cumsum %a dim 1 : tensor<64x64xf32> loc("scan")
    %h = nn.dot %x, %s contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    return %h : tensor<8x64xf32>
  )";
  ReshardRow row = onlyRow(collect(kInput + matrix("a", "[64], [(64: model)]"), body, kOutput));
  EXPECT_EQ(row.cause, "held cut along 1, read whole");
  EXPECT_EQ(row.value, "fc.a");
  EXPECT_EQ(row.reader, "scan");
  EXPECT_EQ(row.request, "--shard=fc.a=-,-");
  EXPECT_TRUE(collect(kInput + matrix("a", "[64], [64]"), body, kOutput).rows.empty());
}

// Under mixed precision products read conversions of parameters: causes and requests name
// the parameter all the same.
TEST_F(ReshardTables, ParametersAreReadConverted) {
  constexpr char body[] = R"(
    %c = nn.convert %x : tensor<8x64xf32> -> tensor<8x64xbf16> loc("c")
    %d = nn.convert %a : tensor<64x64xf32> -> tensor<64x64xbf16> loc("d")
    %e = nn.convert %b : tensor<64x64xf32> -> tensor<64x64xbf16> loc("e")
    %h = nn.dot %c, %d contract [1] [0] : tensor<8x64xbf16>, tensor<64x64xbf16> -> tensor<8x64xbf16> loc("up")
    %y = nn.dot %h, %e contract [1] [0] : tensor<8x64xbf16>, tensor<64x64xbf16> -> tensor<8x64xf32> loc("down")
    %r = nn.relu %y : tensor<8x64xf32> loc("relu")
    return %r : tensor<8x64xf32>
  )";
  ReshardRow sum = onlyRow(collect(kInput + matrix("a", "[64], [(64: model)]") + ", " +
                                       matrix("b", "[(64: model)], [64]"),
                                   body, kOutput));
  EXPECT_EQ(sum.cause, "sum over 64");
  EXPECT_EQ(sum.request, "--shard=fc.b=-,-");
  ReshardRow gather = onlyRow(collect(kInput + matrix("a", "[64], [(64: model)]") + ", " +
                                          matrix("b", "[64], [(64: model)]"),
                                      body, kOutput));
  EXPECT_EQ(gather.cause, "cut along 1, the parameter along 1");
  EXPECT_EQ(gather.request, "--shard=fc.b=-,-");
  constexpr char scan[] = R"(
    %d = nn.convert %a : tensor<64x64xf32> -> tensor<64x64xbf16> loc("d")
    %s = nn.cumsum %d dim 1 : tensor<64x64xbf16> loc("scan")
    %w = nn.convert %s : tensor<64x64xbf16> -> tensor<64x64xf32> loc("w")
    %h = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    return %h : tensor<8x64xf32>
  )";
  ReshardRow held = onlyRow(collect(kInput + matrix("a", "[64], [(64: model)]"), scan, kOutput));
  EXPECT_EQ(held.cause, "held cut along 1, read whole");
  EXPECT_EQ(held.value, "fc.a");
  EXPECT_EQ(held.request, "--shard=fc.a=-,-");
}

// Rows of a table are looked up where they are.
TEST_F(ReshardTables, LookupsInTables) {
  constexpr char body[] = R"(
    %y = nn.gather %t, %i dim 0 : tensor<64x32xf32>, tensor<8xi64> -> tensor<8x32xf32> loc("lookup")
    %r = nn.relu %y : tensor<8x32xf32> loc("relu")
    return %r : tensor<8x32xf32>
  )";
  ReshardTable table = collect("%i: tensor<8xi64> {nn.arg = #nn.arg<input \"i\", batch = 0>}, " +
                                   matrix("t", "[(64: model)], [32]", "64x32xf32"),
                               body, "tensor<8x32xf32> {nn.result = #nn.result<output \"y\">}");
  ReshardRow row = onlyRow(table);
  EXPECT_EQ(row.cause, "looked up in 64 rows");
  EXPECT_EQ(row.request, "--shard=fc.t=-,-");
}

// A value that was brought to a cut is gathered from there, not summed again.
TEST_F(ReshardTables, StartsFromWhatIsThere) {
  constexpr char body[] = R"(
    %h = nn.dot %x, %a contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    %y = nn.dot %h, %b contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("down")
    %w = nn.broadcast %v [1] : tensor<64xf32> -> tensor<8x64xf32> loc("scale")
    %m = nn.mul %y, %w : tensor<8x64xf32> loc("scale")
    %s = nn.cumsum %y dim 1 : tensor<8x64xf32> loc("scan")
    %t = nn.cumsum %m dim 1 : tensor<8x64xf32> loc("scan2")
    %r = nn.add %s, %t : tensor<8x64xf32> loc("end")
    return %r : tensor<8x64xf32>
  )";
  ReshardTable table = collect(kInput + matrix("a", "[64], [(64: model)]") + ", " +
                                   matrix("b", "[(64: model)], [64]") + ", " +
                                   matrix("v", "[(64: model)]", "64xf32"),
                               body, kOutput);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].steps, "reduce-scatter model");
  EXPECT_EQ(table.rows[0].reader, "scale");
  EXPECT_EQ(table.rows[0].cause, "sum over 64");
  EXPECT_EQ(table.rows[1].steps, "all-gather model");
  EXPECT_EQ(table.rows[1].value, "down");
  EXPECT_EQ(table.rows[1].reader, "scan");
  EXPECT_EQ(table.rows[1].cause, "cut along 1, where its reader is whole");
}

// Terms that are added up before they are summed over ranks take a request each.
TEST_F(ReshardTables, SumsOfSums) {
  constexpr char body[] = R"(
    %h = nn.dot %x, %a contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    %k = nn.dot %x, %c contract [1] [0] : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x32xf32> loc("up2")
    %y = nn.dot %h, %b contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("down")
    %z = nn.dot %k, %d contract [1] [0] : tensor<8x32xf32>, tensor<32x64xf32> -> tensor<8x64xf32> loc("down2")
    %s = nn.add %y, %z : tensor<8x64xf32> loc("add")
    %r = nn.relu %s : tensor<8x64xf32> loc("relu")
    return %r : tensor<8x64xf32>
  )";
  ReshardRow row = onlyRow(collect(kInput + matrix("a", "[64], [(64: model)]") + ", " +
                                       matrix("b", "[(64: model)], [64]") + ", " +
                                       matrix("c", "[64], [(32: model)]", "64x32xf32") + ", " +
                                       matrix("d", "[(32: model)], [64]", "32x64xf32"),
                                   body, kOutput));
  EXPECT_EQ(row.value, "add");
  EXPECT_EQ(row.cause, "sum of sums");
  EXPECT_EQ(row.request, "--shard=fc.b=-,- --shard=fc.d=-,-");
}

// What a rank cuts out of what it has sends nothing, and is counted.
TEST_F(ReshardTables, CutsSendNothing) {
  ReshardTable table =
      collect(kInput + matrix("a", "[64], [(64: model)]") + ", " + matrix("b", "[64], [64]"),
              kTwoProducts, kOutput);
  EXPECT_EQ(onlyRow(table).cause, "sum over 64");
  EXPECT_EQ(table.local, 1);
}

// A loss, and what becomes of a parameter by a gradient that is given by hand.
constexpr char kStep[] = R"(
  %h = nn.dot %x, %a contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
  %l = nn.reduce sum %h [0, 1] : tensor<8x64xf32> -> tensor<f32> loc("sum")
  %t = nn.tanh %h : tensor<8x64xf32> loc("tanh")
  %g = nn.dot %x, %t contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32> loc("up")
  %n = nn.sub %a, %g : tensor<64x64xf32>
  return %l, %n : tensor<f32>, tensor<64x64xf32>
)";
constexpr char kLossAndState[] = "tensor<f32> {nn.result = #nn.result<metric \"loss\">}, "
                                 "tensor<64x64xf32> {nn.result = #nn.result<state \"fc.a\">}";

// Sums of gradients over samples are one line and no row; the loss itself is a
// row, which no request removes.
TEST_F(ReshardTables, GradientsAreLeftOut) {
  ReshardTable table = collect(kInput + matrix("a", "[64], [64]"), kStep, kLossAndState);
  EXPECT_EQ(table.gradients.count, 1);
  EXPECT_EQ(table.gradients.bytes, 64 * 64 * 4);
  ReshardRow row = onlyRow(table);
  EXPECT_EQ(row.cause, "sum over samples");
  EXPECT_EQ(row.reader, "the program's end");
  EXPECT_EQ(row.request, "-");
  EXPECT_EQ(row.bytes, 4);
  EXPECT_FALSE(findReshardAbove(table, 4));
  EXPECT_TRUE(findReshardAbove(table, 3));
}

// Sums over samples that samples are computed from again are no gradients.
TEST_F(ReshardTables, SumsThatSamplesReadAreRows) {
  constexpr char body[] = R"(
    %h = nn.dot %x, %a contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    %l = nn.reduce sum %h [0, 1] : tensor<8x64xf32> -> tensor<f32> loc("sum")
    %s = nn.reduce sum %h [0] : tensor<8x64xf32> -> tensor<64xf32> loc("norm")
    %b = nn.broadcast %s [1] : tensor<64xf32> -> tensor<8x64xf32> loc("norm")
    %t = nn.mul %h, %b : tensor<8x64xf32> loc("norm")
    %g = nn.dot %x, %t contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32> loc("up")
    %n = nn.sub %a, %g : tensor<64x64xf32>
    return %l, %n : tensor<f32>, tensor<64x64xf32>
  )";
  ReshardTable table = collect(kInput + matrix("a", "[64], [64]"), body, kLossAndState);
  EXPECT_EQ(table.gradients.count, 1);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].value, "norm");
  EXPECT_EQ(table.rows[0].pass, "backward");
  EXPECT_EQ(table.rows[0].cause, "sum over samples");
}

// What gradients of other shapes are computed from is of the backward pass; a
// norm, from which all are scaled, is none of these.
TEST_F(ReshardTables, PartsOfAStep) {
  constexpr char body[] = R"(
    %h = nn.dot %x, %a contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    %l = nn.reduce sum %h [0, 1] : tensor<8x64xf32> -> tensor<f32> loc("sum")
    %t = nn.tanh %h : tensor<8x64xf32> loc("up")
    %d = nn.dot %t, %a contract [1] [1] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    %e = nn.tanh %d : tensor<8x64xf32> loc("act")
    %g = nn.dot %x, %e contract [0] [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32> loc("in")
    %k = nn.add %a, %g : tensor<64x64xf32> loc("clip")
    %s = nn.cumsum %k dim 1 : tensor<64x64xf32> loc("whole")
    %q = nn.reduce sum %s [0, 1] : tensor<64x64xf32> -> tensor<f32>
    %v = nn.broadcast %q [] : tensor<f32> -> tensor<64xf32>
    %n = nn.sub %a, %k : tensor<64x64xf32>
    %m = nn.sub %b, %v : tensor<64xf32>
    return %l, %n, %m : tensor<f32>, tensor<64x64xf32>, tensor<64xf32>
  )";
  ReshardTable table = collect(
      "%x: tensor<8x64xf32> {nn.arg = #nn.arg<input \"x\">}, " +
          matrix("a", "[64], [(64: model)]") + ", " + matrix("b", "[64]", "64xf32"),
      body,
      std::string(kLossAndState) + ", tensor<64xf32> {nn.result = #nn.result<state \"fc.b\">}");
  std::vector<std::string> passes;
  for (const ReshardRow &row : table.rows)
    passes.push_back(row.reader + ": " + row.pass);
  llvm::sort(passes);
  EXPECT_EQ(passes, (std::vector<std::string>{"act: backward", "optimizer: update",
                                              "the program's end: forward", "up, ..: forward",
                                              "whole: update"}));
}

// What runs in each microbatch counts once for each.
TEST_F(ReshardTables, BytesAreOfAllMicrobatches) {
  const std::string arguments =
      kInput + matrix("a", "[64], [(64: model)]") + ", " + matrix("b", "[(64: model)], [64]");
  ReshardRow once = onlyRow(collect(arguments, kTwoProducts, kOutput));
  ReshardRow each = onlyRow(collect(arguments, kTwoProducts, kOutput, /*hasMicrobatches=*/true));
  EXPECT_EQ(each.count, 1);
  EXPECT_EQ(each.bytes, once.bytes); // a quarter, four times
  EXPECT_GT(each.seconds, once.seconds);
}

// State that comes out otherwise than it went in.
TEST_F(ReshardTables, StateStaysAsItIs) {
  constexpr char body[] = R"(
    %h = nn.dot %x, %b contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc("up")
    %l = nn.reduce sum %h [0, 1] : tensor<8x64xf32> -> tensor<f32> loc("sum")
    %n = nn.tanh %b : tensor<64x64xf32> loc("swap")
    return %l, %n : tensor<f32>, tensor<64x64xf32>
  )";
  ReshardTable table =
      collect(kInput + matrix("a", "[64], [64]") + ", " + matrix("b", "[(64: model)], [64]"), body,
              kLossAndState);
  bool found = false;
  for (const ReshardRow &row : table.rows)
    if (row.cause == "state, kept as it was before the step") {
      found = true;
      EXPECT_EQ(row.steps, "all-gather model");
      EXPECT_EQ(row.value, "swap");
      EXPECT_EQ(row.request, "--shard=fc.a=model,-");
    }
  EXPECT_TRUE(found);
}

// A term a layer: one row, with a star where numbers differ and only there.
TEST_F(ReshardTables, LayersAreOneRow) {
  std::string arguments = kInput, body;
  StringRef last = "x";
  const std::string names[] = {"h0", "h1"};
  for (int layer = 0; layer < 2; ++layer) {
    std::string number = std::to_string(layer), name = "l." + number + ".2";
    arguments += (layer ? ", " : "") + matrix("a" + number, "[64], [(64: model)]") + ", " +
                 matrix("b" + number, "[(64: model)], [64]");
    body +=
        "%u" + number + " = nn.dot %" + last.str() + ", %a" + number +
        " contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc(\"up" +
        number + "\")\n%d" + number + " = nn.dot %u" + number + ", %b" + number +
        " contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> loc(\"down" +
        number + "_7\")\n%h" + number + " = nn.relu %d" + number +
        " : tensor<8x64xf32> loc(\"relu\")\n";
    last = names[layer];
  }
  ReshardRow row = onlyRow(collect(arguments, body + "return %h1 : tensor<8x64xf32>\n", kOutput));
  EXPECT_EQ(row.count, 2);
  EXPECT_EQ(row.bytes, 2 * 4 * 64 * 4);
  EXPECT_EQ(row.value, "down*_7");
  EXPECT_EQ(row.request, "--shard=fc.b*=-,-");
  std::optional<std::string> defect = findReshardAbove({"step", {row}, {}, 0, 0, 0, 0}, 1024);
  ASSERT_TRUE(defect);
  EXPECT_EQ(*defect,
            "a rank sends 2048 bytes (2.00 KiB) in 2 reshards a step where 1024 bytes (1.00 KiB) "
            "are allowed: all-reduce model of 'down*_7', read by 'relu' in the forward "
            "pass: sum over 64; --shard=fc.b*=-,- helps against it");
}

} // namespace
