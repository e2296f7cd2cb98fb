// The proof of the plan finds what is wrong with one rank's table: compiled
// programs, their tables edited in a random place, none of them run.
#include "test/runtime/PlanMutants.h"
#include "test/runtime/PlanBuilder.h"
#include "test/runtime/RunCommand.h"

#include <dlfcn.h>

#include <map>
#include <memory>

using namespace dpc;
using namespace dpc::test;

namespace {

/// How many are made; the long run makes more.
int mutantCount() { return std::getenv("DPC_LONG") ? 20000 : 500; }

/// The record of a program that dpc-compile makes of a model of test/models.
class Compiled {
public:
  Compiled(const std::string &model, std::vector<std::string> options) {
    options.insert(options.begin(), {DPC_COMPILE, MODELS "/" + model + "/model.onnx", "-o",
                                     directory.path + "/program.so", "--emit=shared"});
    // The test proves it itself.
    options.push_back("--verify-plan=off");
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    handle = dlopen((directory.path + "/program.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      program = static_cast<const dpc_program_t *>(dlsym(handle, "dpc_program"));
  }
  ~Compiled() {
    if (handle)
      dlclose(handle);
  }
  const dpc_program_t *program = nullptr;

private:
  TemporaryDirectory directory;
  void *handle = nullptr;
};

/// Replicas; four ranks by two axes, with microbatches; BatchNorm, whose
/// statistics are summed too; updates that are divided over four ranks, with a
/// norm of all gradients; lists of launches in place of host code; gradients
/// that are divided in a loop, with padding that is zeroed for each microbatch:
/// of joined parameters, and of microbatches of one sample.
const std::vector<std::unique_ptr<Compiled>> &programs() {
  static const std::vector<std::unique_ptr<Compiled>> all = [] {
    const std::string loss = "--loss=cross-entropy";
    std::vector<std::unique_ptr<Compiled>> made;
    auto compile = [&](const char *model, std::vector<std::string> options) {
      made.push_back(std::make_unique<Compiled>(model, std::move(options)));
    };
    compile("mlp", {"--shape=x:8x16", loss, "--optimizer=adam,lr=0.1", "--mesh=data=2"});
    compile("gpt2", {loss, "--optimizer=adamw,lr=0.1", "--mesh=data=2,model=2", "--accumulate=2"});
    compile("bn_cnn", {"--shape=x:8x3x12x12", loss, "--optimizer=sgd,lr=0.1,momentum=0.9",
                       "--mesh=data=2", "--accumulate=4"});
    compile("gpt2", {loss, "--optimizer=adamw,lr=0.1", "--mesh=data=4", "--clip-grad-norm=1",
                     "--bucket-mib=0.02", "--first-bucket-mib=0.01"});
    compile("mlp", {"--shape=x:8x16", loss, "--optimizer=adam,lr=0.1", "--mesh=data=2",
                    "--accumulate=2", "--target=scalar"});
    compile("lstm", {"--shape=x:8x6x5", "--loss=mse", "--optimizer=adam,lr=0.1", "--mesh=data=2",
                     "--zero=2", "--microbatches=2"});
    compile("mlp", {"--shape=x:8x16", loss, "--optimizer=adam,lr=0.1", "--mesh=data=2", "--zero=2",
                    "--microbatches=8"});
    return made;
  }();
  return all;
}

/// Two stages of one rank each, which share nothing but messages and a sum: no
/// other rank has the table that is edited. Two microbatches go forward from
/// the first to the second, and their gradients back.
Plan pipeline() {
  Plan plan;
  for (dpc_function_t &unused : plan.functions)
    unused.stage = 2;
  plan.stages = {0, 1};
  plan.holder = 1;
  plan.ownBuffers = true;
  plan.function("forward", {plan.read(kState), plan.read(kInput, 64), plan.write(kGrad)}, 2);
  plan.function("backward", {plan.read(kSum), plan.read(kTemp), plan.write(kTemp)}, 2);
  plan.function("update 0", {plan.read(kTemp), plan.read(kWide), plan.write(kState)}, 1);
  plan.function("both",
                {plan.read(kState), plan.read(kSum), plan.read(kTemp), plan.write(kTemp),
                 plan.write(kGrad), plan.write(kLoss)},
                2, 1);
  plan.function("update 1", {plan.read(kTemp), plan.read(kWide), plan.write(kState)}, 1, 1);
  auto sum = [&](uint32_t rank, uint32_t update) {
    plan.start(rank, DPC_OP_ALL_REDUCE, 2, kGrad, kWide);
    plan.wait(rank, 2);
    plan.compute(rank, update);
  };
  plan.zero(0, kTemp);
  plan.compute(0, 2, 0);
  plan.message(0, DPC_OP_SEND, 0, kGrad, 1);
  plan.wait(0, 0);
  plan.compute(0, 2, 1);
  plan.message(0, DPC_OP_SEND, 0, kGrad, 1);
  for (int32_t micro : {0, 1}) {
    plan.message(0, DPC_OP_RECV, 1, kSum, 1);
    plan.wait(0, 1);
    plan.compute(0, 3, micro);
  }
  plan.wait(0, 0);
  sum(0, 4);
  plan.zero(1, kTemp);
  for (int32_t micro : {0, 1}) {
    plan.message(1, DPC_OP_RECV, 0, kSum, 0);
    plan.wait(1, 0);
    if (micro)
      plan.wait(1, 1);
    plan.compute(1, 5, micro);
    plan.message(1, DPC_OP_SEND, 1, kGrad, 0);
  }
  plan.wait(1, 1);
  sum(1, 6);
  return plan;
}

/// Makes mutants of random programs among these until there are `wanted`, each
/// way of editing in turn, and expects that all are caught. Made and caught, by
/// edit.
std::map<std::string, std::pair<int, int>> catchAll(const std::vector<const dpc_program_t *> &among,
                                                    int wanted) {
  std::mt19937_64 random(20);
  std::map<std::string, std::pair<int, int>> counts;
  int made = 0;
  for (uint64_t turn = 0; made < wanted && turn < 100ull * wanted; ++turn) {
    const Mutant::Edit &edit = Mutant::edits()[turn % Mutant::edits().size()];
    const dpc_program_t *program = among[random() % among.size()];
    const uint32_t rank = static_cast<uint32_t>(random() % program->world_size),
                   entry = random() % 4 ? DPC_ENTRY_STEP : DPC_ENTRY_EVAL;
    Mutant mutant(*program, rank, entry, random());
    if (!mutant.apply(edit))
      continue;
    ++made;
    auto &[ofKind, caught] = counts[edit.name];
    ++ofKind;
    const bool isCaught = checkPlan(mutant.program) == DPC_INVALID;
    caught += isCaught;
    EXPECT_TRUE(isCaught) << program->command << ", rank " << rank << ", entry " << entry << ": "
                          << mutant.what;
    // The message says which rank and what is wrong, in one line.
    const std::string message = isCaught ? dpc_last_error() : "rank";
    EXPECT_NE(message.find("rank"), std::string::npos) << mutant.what << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << mutant.what << ": " << message;
  }
  EXPECT_EQ(made, wanted);
  for (const auto &[kind, count] : counts)
    std::printf("%-18s %4d made, %4d caught\n", kind.c_str(), count.first, count.second);
  return counts;
}

TEST(PlanMutants, WhatIsUnchangedPasses) {
  for (const auto &compiled : programs()) {
    ASSERT_NE(compiled->program, nullptr);
    const dpc_program_t &program = *compiled->program;
    EXPECT_EQ(checkPlan(program), DPC_OK) << dpc_last_error();
    for (uint32_t rank = 0; rank < program.world_size; ++rank)
      for (uint32_t entry = 0; entry < DPC_ENTRY_COUNT; ++entry) {
        Mutant copy(program, rank, entry, 0);
        EXPECT_EQ(checkPlan(copy.program), DPC_OK) << dpc_last_error();
      }
  }
}

TEST(PlanMutants, EveryOneIsCaught) {
  std::vector<const dpc_program_t *> among;
  for (const auto &compiled : programs())
    among.push_back(compiled->program);
  ASSERT_EQ(std::count(among.begin(), among.end(), nullptr), 0);
  // Without stages there are neither frames nor messages.
  EXPECT_EQ(catchAll(among, mutantCount()).size(), Mutant::edits().size() - 5)
      << "an edit was never made";
}

/// Pipelines of 2 to 4 stages, with each kind of schedule, tied weights, norms of all gradients,
/// divided state, and one for a device.
const std::vector<std::unique_ptr<Compiled>> &pipelines() {
  static const std::vector<std::unique_ptr<Compiled>> all = [] {
    std::vector<std::unique_ptr<Compiled>> made;
    auto compile = [&](const char *model, std::vector<std::string> options) {
      options.push_back("--optimizer=adamw,lr=0.1");
      made.push_back(std::make_unique<Compiled>(model, std::move(options)));
    };
    const std::string loss = "--loss=cross-entropy", shape = "--shape=x:8x16";
    compile("mlp", {shape, loss, "--mesh=pipe=2", "--microbatches=4"});
    compile("gpt2",
            {loss, "--mesh=data=2,pipe=2", "--microbatches=4", "--clip-grad-norm=1", "--zero=2"});
    compile("gpt2", {loss, "--mesh=pipe=3", "--microbatches=4", "--schedule=zero-bubble"});
    compile("gpt2", {loss, "--mesh=pipe=4", "--microbatches=4", "--schedule=interleaved"});
    compile("mlp", {shape, loss, "--mesh=pipe=2", "--microbatches=4", "--schedule=gpipe",
                    "--target=cuda", "--ptxas=off"});
    return made;
  }();
  return all;
}

TEST(PlanMutants, EveryOneOfAPipelineIsCaught) {
  std::vector<const dpc_program_t *> among;
  for (const auto &compiled : pipelines()) {
    ASSERT_NE(compiled->program, nullptr);
    EXPECT_EQ(checkPlan(*compiled->program), DPC_OK) << dpc_last_error();
    among.push_back(compiled->program);
  }
  const auto counts = catchAll(among, mutantCount());
  for (const char *edit : {"moved frame", "other frame", "swapped frames", "frames of another",
                           "early receive", "other peer"})
    EXPECT_TRUE(counts.count(edit)) << edit << " was never made";
}

TEST(PlanMutants, EveryOneOfAStageIsCaught) {
  Plan plan = pipeline();
  const dpc_program_t &program = plan.build();
  EXPECT_EQ(checkPlan(program), DPC_OK) << dpc_last_error();
  // It has no loop, so that neither its count nor what it adds up can be edited; it has no frames,
  // and one number of messages each way.
  EXPECT_EQ(catchAll({&program}, mutantCount()).size(), Mutant::edits().size() - 2 - 5);
}

} // namespace
