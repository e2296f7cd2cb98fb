// Checks, questions and text of the plan of a program.

#include "planning/Plan.h"

#include "gtest/gtest.h"

using namespace dpc;

namespace {

std::string messageOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : std::string();
}

ProgramPlan planOnGrid() {
  ProgramPlan plan;
  plan.mesh = {{"data", 2, true}, {"model", 4}};
  return plan;
}

TEST(PlanTest, TheDefaultIsOneDevice) {
  ProgramPlan plan;
  EXPECT_EQ(messageOf(plan.check()), "");
  EXPECT_EQ(toString(plan), "");
  EXPECT_TRUE(plan.peelsMicrobatches());
  EXPECT_TRUE(plan.mayDivideGradients());
}

TEST(PlanTest, TextHasTheChoicesThatDiffer) {
  ProgramPlan plan = planOnGrid();
  plan.microbatches = 3;
  plan.layouts = {"h.*\"=data;-"};
  plan.zero = {ZeroStage::parameters, {"data"}, 1024};
  plan.kernels.products = ProductMaker::library;
  plan.overlap = false;
  EXPECT_EQ(toString(plan), "mesh = [\"data\" = 2 batch, \"model\" = 4], microbatches = 3, "
                            "layouts = [\"h.*\\22=data;-\"], zeroStage = 3, zeroAxes = [\"data\"], "
                            "zeroKeptBytes = 1024, overlap = false, products = \"library\"");
  EXPECT_FALSE(plan == planOnGrid());
  EXPECT_TRUE(planOnGrid() == planOnGrid());
  EXPECT_EQ(hash_value(planOnGrid()), hash_value(planOnGrid()));
}

TEST(PlanTest, SchedulesArePartOfThePlan) {
  ProgramPlan plan;
  plan.schedule = ScheduleKind::gpipe;
  EXPECT_EQ(messageOf(plan.check()), "schedule gpipe needs the mesh axis pipe");
  plan.mesh = {{"pipe", 4}};
  EXPECT_EQ(messageOf(plan.check()), "");
  EXPECT_EQ(plan.stages(), 4);
  EXPECT_FALSE(plan.peelsMicrobatches());
  EXPECT_EQ(toString(plan), "mesh = [\"pipe\" = 4], schedule = \"gpipe\"");
  for (ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::oneForwardOneBackward,
                            ScheduleKind::interleaved, ScheduleKind::zeroBubble})
    EXPECT_EQ(parseSchedule(nameOf(kind)), kind);
  EXPECT_EQ(parseSchedule("fast"), std::nullopt);
}

TEST(PlanTest, ZeroDecidesHowGradientsAreExchanged) {
  ProgramPlan plan = planOnGrid();
  plan.zero.stage = ZeroStage::none;
  EXPECT_TRUE(plan.peelsMicrobatches());
  EXPECT_FALSE(plan.mayDivideGradients());
  plan.zero.stage = ZeroStage::optimizer;
  EXPECT_TRUE(plan.peelsMicrobatches());
  EXPECT_TRUE(plan.mayDivideGradients());
  // Each microbatch divides its gradients in the loop.
  plan.zero.stage = ZeroStage::gradients;
  EXPECT_FALSE(plan.peelsMicrobatches());
  plan.zero.stage = ZeroStage::none;
  plan.overlap = false;
  EXPECT_FALSE(plan.peelsMicrobatches());
}

TEST(PlanTest, CheckNamesWhatContradicts) {
  auto refuse = [](auto change) {
    ProgramPlan plan = planOnGrid();
    change(plan);
    return messageOf(plan.check());
  };
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.mesh[1].size = 0; }),
            "mesh axis 'model' has 0 devices");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.mesh[1].name = "data"; }),
            "mesh axis 'data' is given twice");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.microbatches = -1; }),
            "a batch is cut into -1 microbatches");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.zero.stage = static_cast<ZeroStage>(4); }),
            "stage 4 of divided state is none of -1 to 3");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.cutBytes = 7; }),
            "a stage holds 7 bytes, but no cut is searched");
  EXPECT_EQ(refuse([](ProgramPlan &plan) {
              plan.mesh = {{"pipe", 2}};
              plan.cutNodes = {"a"};
              plan.cutBytes = 7;
            }),
            "a stage holds 7 bytes, but no cut is searched");
  EXPECT_EQ(refuse([](ProgramPlan &plan) {
              plan.mesh = {{"pipe", 2}};
              plan.cutBytes = -7;
            }),
            "a stage holds -7 bytes");
  EXPECT_EQ(refuse([](ProgramPlan &plan) {
              plan.mesh = {{"pipe", 2}};
              plan.scheduleBytes = {0, 5, 0};
            }),
            "the microbatches of 3 stages may hold some bytes, but 2 stages exist");
  EXPECT_EQ(refuse([](ProgramPlan &plan) {
              plan.mesh = {{"pipe", 2}};
              plan.scheduleBytes = {0, -5};
            }),
            "the microbatches of a stage may hold -5 bytes");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.zero.axes = {"replica"}; }),
            "state is divided over 'replica', which is no axis of the mesh");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.zero.keptBytes = -3; }),
            "-3 bytes of gathered parameters are kept");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.zero = {ZeroStage::gradients, {"data"}, 64}; }),
            "64 bytes of gathered parameters are kept at stage 2, which divides none");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.remat.savedBytes = -2; }),
            "recomputation saves -2 bytes");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.remat = {64, {"a", "b"}}; }),
            "recomputation saves 64 bytes and is of the nodes 'a,b' alone");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.buckets.later = 0; }),
            "buckets close at 1048576 and 0 bytes");
  EXPECT_EQ(refuse([](ProgramPlan &plan) { plan.deviceBytes = -1; }), "a device has -1 bytes");
  EXPECT_EQ(refuse([](ProgramPlan &plan) {
              plan.kernels.orderedSums = true;
              plan.kernels.factors = FactorForm::rounded;
            }),
            "sums keep their order, and products of f32 are made in tf32");
  EXPECT_EQ(refuse([](ProgramPlan &plan) {
              plan.kernels.factors = FactorForm::split;
              plan.kernels.products = ProductMaker::library;
            }),
            "products of f32 are made in tf32x3, which the library has not");
  EXPECT_EQ(refuse([](ProgramPlan &plan) {
              plan.kernels.orderedSums = true;
              plan.kernels.products = ProductMaker::library;
            }),
            "sums keep their order, and a library multiplies matrices");
}

TEST(PlanTest, VerifyComparesItWithTheProgram) {
  PlannedProgram inference;
  inference.trains = false;
  ProgramPlan plan = planOnGrid();
  EXPECT_EQ(messageOf(plan.verify(inference)), "");
  plan.remat.savedBytes = RematChoice::all;
  EXPECT_EQ(messageOf(plan.verify(PlannedProgram())), "");
  EXPECT_EQ(messageOf(plan.verify(inference)),
            "values are computed again in a backward pass, which the program has not");
  plan = planOnGrid();
  plan.zero.stage = ZeroStage::gradients;
  EXPECT_EQ(messageOf(plan.verify(inference)),
            "stage 2 divides state of an optimizer, which the program has not");
  plan.zero.stage = ZeroStage::parameters;
  EXPECT_EQ(messageOf(plan.verify(inference)), "");

  plan = planOnGrid();
  plan.kernels.factors = FactorForm::split;
  EXPECT_EQ(toString(plan), "mesh = [\"data\" = 2 batch, \"model\" = 4], factors = \"tf32x3\"");
  EXPECT_EQ(messageOf(plan.verify(PlannedProgram())),
            "products of f32 are made in tf32x3, which the target has not");
  plan.kernels = {};
  plan.kernels.products = ProductMaker::generated;
  EXPECT_EQ(messageOf(plan.verify(PlannedProgram())),
            "products are made by 'generated', but the target leaves no choice");
  PlannedProgram onDevice;
  onDevice.hasMatrixUnits = true;
  EXPECT_EQ(messageOf(plan.verify(onDevice)), "");

  onDevice.mesh = {{"data", 2}, {"model", 4}};
  EXPECT_EQ(messageOf(plan.verify(onDevice)), "");
  onDevice.mesh = {{"data", 8}};
  EXPECT_EQ(messageOf(plan.verify(onDevice)),
            "is for a mesh of data=2,model=4, but the program is laid out for data=8");
}

} // namespace
