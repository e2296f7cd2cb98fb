// What the proof of a plan finds in the memory of one rank, by tables that break
// one rule each, and twins that do not.
#include "test/runtime/PlanBuilder.h"

using namespace dpc;
using namespace dpc::test;

namespace {

TEST(PlanMemory, WhatIsReadWasWritten) {
  expectSays(alike([](Plan &plan, uint32_t rank) {
               plan.reduce(rank);
               plan.wait(rank, 0);
               plan.compute(rank, 0);
               plan.compute(rank, 1);
             }),
             {"rank 0, step, action 0, all-reduce 3",
              "reads bytes [0, 64) of shared as buffer 3 (grad)", "nothing has written byte 0"});
  // Another buffer took the bytes: an error only before the last read.
  auto overwritten = [](bool isBefore) {
    Plan plan;
    plan.function("first", {plan.write(kWide)}, 1);
    plan.function("second", {plan.write(kOther)}, 1);
    plan.function("third", {plan.read(kWide)}, 1);
    for (uint32_t rank : {0, 1}) {
      plan.compute(rank, 2);
      plan.compute(rank, isBefore ? 3 : 4);
      plan.compute(rank, isBefore ? 4 : 3);
      plan.sound(rank);
    }
    return plan;
  };
  expectHolds(overwritten(false));
  expectSays(overwritten(true),
             {"third: launch 0: reads bytes [192, 256) of shared as buffer 6 (wide), "
              "but byte 192 is that of buffer 7 (other) by now"});
  // What an action calls part of a buffer is one.
  Plan beyond = alike(sound);
  beyond.accessTables[0][1].bytes = 129;
  expectSays(
      std::move(beyond),
      {"make: launch 0: reads: bytes [64, 193) of arena as buffer 1 (input), which has bytes "
       "[64, 192) of arena"});
  Plan microbatch = alike([](Plan &plan, uint32_t rank) {
    for (int32_t micro : {0, 1, 2})
      plan.compute(rank, 0, micro);
    plan.sound(rank);
  });
  microbatch.functions[0].runs = 4;
  expectSays(std::move(microbatch),
             {"action 2, make", "bytes [192, 256) of arena as buffer 1 (input)"});
  Plan nameless = alike(sound);
  nameless.tables[0][1].out.buffer = kBuffers;
  expectSays(std::move(nameless), {"action 1, all-reduce 3", "writes: buffer 8 of 8"});
}

TEST(PlanMemory, ResultsAreWritten) {
  auto without = [](uint32_t holder) {
    Plan plan = alike(sound);
    plan.accessTables[1].pop_back();
    plan.functions[1].access_count = plan.accessTables[1].size();
    plan.holder = holder;
    return plan;
  };
  expectSays(without(DPC_NONE), {"rank 0, end of step: loss for the host: reads bytes [128, 136)",
                                 "nothing has written byte 128"});
  expectSays(without(1), {"rank 1, end of step: loss for the host"});
}

TEST(PlanMemory, KernelsWriteNotWhatTheyRead) {
  auto with = [](std::vector<dpc_access_t> accesses) {
    Plan plan;
    plan.function("kernel", std::move(accesses), 1);
    for (uint32_t rank : {0, 1}) {
      plan.sound(rank);
      plan.compute(rank, 2);
    }
    return plan;
  };
  Plan names;
  dpc_access_t shifted = names.write(kGrad), half = names.read(kGrad);
  half.bytes = 32;
  // In place: all of it or nothing.
  expectHolds(with({names.read(kGrad), shifted, names.access(DPC_ACCESS_READ, kGrad, 0, 1)}));
  expectSays(with({half, shifted}), {"kernel: launch 0: writes bytes [0, 64) of shared of buffer 3 "
                                     "(grad) and reads bytes [0, 32)"});
  expectSays(with({names.write(kWide), names.write(kOther)}),
             {"writes bytes [192, 256)", "(wide) and writes", "(other)"});
  expectSays(with({names.read(kGrad), names.access(DPC_ACCESS_SCRATCH, kGrad)}),
             {"writes bytes [0, 64)", "and reads bytes [0, 64)"});
  // Not what another kernel of the function does.
  expectHolds(with({names.write(kWide), names.access(DPC_ACCESS_WRITE, kOther, 0, /*launch=*/1)}));
  expectSays(with({names.access(DPC_ACCESS_KIND_COUNT, kWide)}), {"access of kind 4"});
}

TEST(PlanMemory, NothingInFlightIsTouched) {
  auto with = [](bool reads, Buffer buffer) {
    Plan plan;
    plan.function("meanwhile", {reads ? plan.read(buffer) : plan.write(buffer)}, 1);
    for (uint32_t rank : {0, 1}) {
      plan.compute(rank, 0);
      plan.reduce(rank);
      plan.compute(rank, 2);
      plan.wait(rank, 0);
      plan.compute(rank, 1);
    }
    return plan;
  };
  expectSays(with(false, kGrad), {"meanwhile: launch 0: writes bytes [0, 64) of shared, which "
                                  "all-reduce 3 of action 1 uses until its wait"});
  expectSays(with(false, kSum), {"meanwhile: launch 0: writes bytes [64, 128)"});
  expectSays(with(true, kSum), {"meanwhile: launch 0: reads bytes [64, 128)"});
  expectHolds(with(true, kGrad));
  expectHolds(with(false, kWide));
}

TEST(PlanMemory, SumsAreReadBeforeTheyBeginAnew) {
  auto with = [](bool isRead) {
    Plan plan;
    plan.function("add", {plan.read(kTemp), plan.write(kTemp)}, 1);
    plan.function("take", {plan.read(kTemp)}, 1);
    for (uint32_t rank : {0, 1}) {
      plan.zero(rank, kTemp);
      plan.compute(rank, 2);
      if (isRead)
        plan.compute(rank, 3);
      plan.zero(rank, kTemp);
      if (!isRead)
        plan.compute(rank, 3);
      plan.sound(rank);
    }
    return plan;
  };
  expectHolds(with(true));
  expectSays(with(false),
             {"action 2, zero: zeroes bytes [192, 256) of arena of buffer 2 (temp), but "
              "nothing has read byte 192 since it was written"});
}

TEST(PlanMemory, ZerosThatNobodyReadMayBeZeroedAgain) {
  // A bucket whose first half a kernel writes, and whose second half is padding
  // that this rank does not read.
  auto with = [](uint64_t zeroed) {
    Plan plan;
    plan.function("write half", {plan.write(kTemp)}, 2);
    plan.accessTables[2][0].bytes = kBytes / 2;
    for (uint32_t rank : {0, 1}) {
      plan.loop(rank, 2, [&] {
        plan.compute(rank, 2, 0, DPC_ACTION_MICRO_RELATIVE);
        plan.zero(rank, kTemp, zeroed);
        dpc_action_t &padding = plan.tables[rank].back();
        padding.out.offset += kBytes - zeroed * kBytes / kElements;
      });
      plan.sound(rank);
    }
    return plan;
  };
  expectHolds(with(kElements / 2));
  expectHolds(with(1));
  expectSays(with(kElements / 2 + 1), {"action 2, zero: zeroes bytes [216, 256) of arena of buffer "
                                       "2 (temp), but nothing has read byte 216"});
}

TEST(PlanMemory, WhatIsAddedToZerosIsASum) {
  auto with = [](bool isEachTurn) {
    Plan plan;
    plan.function("add", {plan.read(kTemp), plan.write(kTemp)}, 2);
    plan.function("take", {plan.read(kTemp)}, 1);
    for (uint32_t rank : {0, 1}) {
      plan.zero(rank, kTemp);
      plan.zero(rank, kTemp);
      plan.loop(rank, 2, [&] {
        if (isEachTurn)
          plan.zero(rank, kTemp);
        plan.compute(rank, 2, 0, DPC_ACTION_MICRO_RELATIVE);
      });
      plan.compute(rank, 3);
      plan.sound(rank);
    }
    return plan;
  };
  expectHolds(with(false));
  expectSays(with(true),
             {"action 3, zero: zeroes bytes [192, 256) of arena of buffer 2 (temp), but "
              "nothing has read byte 192 since it was written"});
}

// A term that is added after the sum was read must be read too, before anything replaces it.
TEST(PlanMemory, TermsAreReadAfterTheyAreAdded) {
  enum Loss { kNone, kReadTooEarly, kReplaced, kZeroed, kReadTwice, kNeverRead };
  auto with = [](Loss loss) {
    Plan plan;
    // In this plan, another buffer has the bytes of the sum.
    const dpc_access_t sum = plan.read(kWide), added = plan.write(kWide);
    plan.function("add", {sum, added}, 2);
    plan.function("take", {sum}, loss == kNeverRead ? 0 : 1);
    plan.function("over", {plan.write(kOther)}, 1);
    plan.function("look", {sum}, loss == kReadTwice ? 1 : 0);
    for (uint32_t rank : {0, 1}) {
      plan.zero(rank, kWide);
      plan.compute(rank, 2, 0);
      if (loss == kReadTooEarly || loss == kReplaced || loss == kZeroed)
        plan.compute(rank, 3);
      if (loss == kReadTwice)
        plan.compute(rank, 5);
      plan.compute(rank, 2, 1);
      if (loss == kZeroed)
        plan.zero(rank, kOther);
      if (loss == kReplaced) {
        plan.compute(rank, 0);
        plan.start(rank, DPC_OP_ALL_REDUCE, 1, kGrad, kOther);
        plan.wait(rank, 1);
      }
      if (loss == kNone || loss == kReadTwice)
        plan.compute(rank, 3);
      plan.compute(rank, 4);
      if (loss != kReplaced)
        plan.compute(rank, 0);
      plan.reduce(rank);
      plan.wait(rank, 0);
      plan.compute(rank, 1);
    }
    return plan;
  };
  const std::string lost = "loses a term of a sum: byte 192 of buffer 6 (wide) was read before the "
                           "term was added, and not after it";
  for (Loss sound : {kNone, kReadTwice, kNeverRead})
    expectHolds(with(sound));
  expectSays(with(kReadTooEarly),
             {"rank 0, step, action 4, over: launch 0: writes bytes [192, 256)", lost});
  expectSays(with(kReplaced), {"rank 0, step, action 6, wait for event 1: " + lost});
  expectSays(with(kZeroed), {"rank 0, step, action 4, zero: zeroes bytes [192, 256)", lost});
  // Nothing reads the second term until the end of the step. The first half of the sum is padding.
  Plan late;
  dpc_access_t half = late.read(kTemp);
  half.offset += 32;
  half.bytes = 32;
  late.function("add", {late.read(kTemp), late.write(kTemp)}, 2);
  late.function("take", {half}, 1);
  for (uint32_t rank : {0, 1}) {
    late.zero(rank, kTemp);
    late.compute(rank, 2, 0);
    late.compute(rank, 3);
    late.compute(rank, 2, 1);
    late.sound(rank);
  }
  expectSays(std::move(late), {"rank 0, end of step: loses a term of a sum: byte 224 of buffer 2 "
                               "(temp) was read before the term was added, and not after it"});
}

TEST(PlanMemory, InputAndOutputShareBytesAsTheOperationSays) {
  auto gather = [](uint64_t stride) {
    Plan plan;
    plan.function("fill", {plan.write(kWide)}, 1);
    plan.accessTables[2][0].bytes = 128;
    for (uint32_t rank : {0, 1}) {
      plan.sound(rank);
      plan.compute(rank, 2);
      plan.start(rank, DPC_OP_ALL_GATHER, 0, kWide, kWide).in.index_stride = stride;
      plan.wait(rank, 0);
    }
    return plan;
  };
  expectHolds(gather(64));
  expectSays(gather(32),
             {"rank 1, step, action 5, all-gather 3: reads bytes [224, 288) of shared and "
              "writes bytes [192, 320) of shared"});
}

TEST(PlanMemory, EachStartHasOneWait) {
  expectSays(alike([](Plan &plan, uint32_t rank) {
               plan.sound(rank);
               plan.reduce(rank, 1);
             }),
             {"rank 0, end of step: all-reduce 3 of action 4 is never waited for"});
  expectSays(alike([](Plan &plan, uint32_t rank) {
               plan.sound(rank);
               plan.wait(rank, 0);
             }),
             {"action 4, wait for event 0: nothing has been started as this event"});
  auto again = [](uint32_t event) {
    return alike([=](Plan &plan, uint32_t rank) {
      plan.sound(rank);
      plan.start(rank, DPC_OP_BARRIER, 2, kGrad, kGrad);
      plan.start(rank, DPC_OP_BARRIER, event, kGrad, kGrad);
      plan.wait(rank, 2);
      if (event != 2)
        plan.wait(rank, event);
    });
  };
  expectHolds(again(3));
  expectSays(again(2), {"action 5, barrier 3: starts event 2, which action 4 has started"});
}

// Of a scattered sum a rank has contents where its part of the input has.
TEST(PlanMemory, ScatteredSumsHaveContents) {
  auto with = [](uint64_t filled) {
    Plan plan;
    plan.function("fill", {plan.write(kWide)}, 1);
    plan.accessTables[2][0].bytes = filled;
    for (uint32_t rank : {0, 1}) {
      plan.compute(rank, 0);
      plan.compute(rank, 2);
      plan.start(rank, DPC_OP_REDUCE_SCATTER, 0, kWide, kSum);
      plan.wait(rank, 0);
      plan.compute(rank, 1);
    }
    return plan;
  };
  expectHolds(with(128));
  expectSays(with(96),
             {"rank 1, step, action 4, use", "reads bytes [64, 128) of shared as buffer 4 (sum), "
                                             "but nothing has written byte 96"});
}

} // namespace
