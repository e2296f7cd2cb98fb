// Tests the contract that every queue must keep (Queue.h, Launches.h). Each test runs on
// two ranks, because the kinds of queues communicate in different ways.
#include "runtime/src/device/CudaQueue.h"
#include "runtime/src/device/HostQueue.h"
#include "runtime/src/device/ShadowQueue.h"
#include "test/runtime/EveryQueue.h"

#include <atomic>

using namespace dpc;
using namespace dpc::test;

namespace {

constexpr DeviceAddress kGiven = QueueProgram::kGiven, kSums = QueueProgram::kSums,
                        kNumber = QueueProgram::kNumber, kOwn = QueueProgram::kOwn,
                        kSent = QueueProgram::kSent, kReceived = QueueProgram::kReceived;

using Numbers = std::vector<double>;

/// A collective of two doubles. Its addresses are invalid, because a queue must use the
/// addresses that `start` gets instead.
dpc_comm_op_t operation(uint32_t op, uint32_t reduction = DPC_SUM) {
  void *nowhere = reinterpret_cast<void *>(16);
  return {op, 0, 0, DPC_F64, reduction, DPC_NONE, 2, 7, nowhere, nowhere};
}

class QueueConformance : public testing::TestWithParam<QueueKind> {
protected:
  /// Runs `body` on two ranks, each in a process of its own. The test fails if an
  /// expectation fails in one of them.
  void onRanks(const std::function<void(QueueRank &)> &body, double timeoutSeconds = 20) {
    TemporaryDirectory directory;
    const std::vector<RankResult> results = forkRanks(2, [&](uint32_t index, RankReport &) {
      QueueRank rank(GetParam(), index, 2, directory.path, timeoutSeconds);
      if (rank.queue)
        body(rank);
      return int(testing::Test::HasFailure());
    });
    for (uint32_t index = 0; index < 2; ++index)
      EXPECT_EQ(results[index].exitCode, 0) << "of rank " << index;
  }

  static void begin(Queue &queue, uint32_t entry = DPC_ENTRY_STEP) {
    bool isDone = true;
    ASSERT_EQ(queue.begin(entry, &isDone), DPC_OK) << dpc_last_error();
    ASSERT_FALSE(isDone);
  }
  static void finish(Queue &queue) { ASSERT_EQ(queue.finish(), DPC_OK) << dpc_last_error(); }
  static void put(Queue &queue, DeviceAddress to, const Numbers &numbers) {
    ASSERT_EQ(queue.upload(to, numbers.data(), 8 * numbers.size()), DPC_OK) << dpc_last_error();
  }
  static Numbers get(Queue &queue, DeviceAddress from, uint64_t count = 2) {
    Numbers numbers(count, -1);
    EXPECT_EQ(queue.download(numbers.data(), from, 8 * count), DPC_OK) << dpc_last_error();
    return numbers;
  }
  static void compute(Queue &queue, uint32_t function, uint32_t micro = 0) {
    ASSERT_EQ(queue.compute(function, micro, nullptr), DPC_OK) << dpc_last_error();
  }
  static void exchange(Queue &queue, const dpc_comm_op_t &op, DeviceAddress in, DeviceAddress out,
                       uint32_t event = 0) {
    ASSERT_EQ(queue.start(op, in, out, event), DPC_OK) << dpc_last_error();
    ASSERT_EQ(queue.wait(event), DPC_OK) << dpc_last_error();
  }
};

INSTANTIATE_TEST_SUITE_P(All, QueueConformance, testing::ValuesIn(queueKinds()),
                         [](const auto &info) { return info.param.name; });

TEST_P(QueueConformance, FitsTheProgram) {
  onRanks([](QueueRank &rank) {
    EXPECT_EQ(dynamic_cast<CudaQueue *>(rank.queue.get()) != nullptr,
              GetParam().type == QueueKind::cuda);
    EXPECT_EQ(dynamic_cast<HostQueue *>(rank.queue.get()) != nullptr,
              GetParam().type != QueueKind::cuda);
    EXPECT_EQ(dynamic_cast<ShadowQueue *>(rank.queue.get()) != nullptr,
              GetParam().type == QueueKind::shadow);
  });
}

TEST_P(QueueConformance, CarriesBytesThereAndBack) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    for (uint32_t space : {DPC_SPACE_ARENA, DPC_SPACE_SHARED}) {
      put(queue, {space, 128}, {1, 2, 3});
      ASSERT_EQ(queue.zero({space, 136}, 8), DPC_OK);
      EXPECT_EQ(get(queue, {space, 128}, 3), Numbers({1, 0, 3}));
      double nothing = 7;
      ASSERT_EQ(queue.upload({space, 128}, &nothing, 0), DPC_OK);
      ASSERT_EQ(queue.download(&nothing, {space, 128}, 0), DPC_OK);
      EXPECT_EQ(nothing, 7);
      EXPECT_EQ(get(queue, {space, 128}, 3), Numbers({1, 0, 3}));
    }
    // Single bytes: the first one, one in the middle and the last one of the arena.
    for (uint64_t at : {uint64_t(0), uint64_t(131), kArenaBytes - 1}) {
      const char given = 5;
      char back = 0;
      ASSERT_EQ(queue.upload({DPC_SPACE_ARENA, at}, &given, 1), DPC_OK);
      ASSERT_EQ(queue.download(&back, {DPC_SPACE_ARENA, at}, 1), DPC_OK);
      EXPECT_EQ(back, given);
    }
    finish(queue);
  });
}

// The test changes the host memory as soon as `upload` returns, so the queue must have
// copied it. The uploads together are larger than the staging memory of a CudaQueue.
TEST_P(QueueConformance, TakesUploadsBeforeItReturns) {
  onRanks([](QueueRank &rank) {
    constexpr uint64_t kCount = 20, kStep = kArenaBytes / kCount / 8 * 8;
    std::vector<double> given;
    for (uint64_t i = 0; i < kCount; ++i) {
      given.assign((kArenaBytes - i * kStep) / 8, double(i));
      put(*rank.queue, {DPC_SPACE_ARENA, i * kStep}, given);
      std::fill(given.begin(), given.end(), -1);
    }
    const Numbers back = get(*rank.queue, {DPC_SPACE_ARENA, 0}, kArenaBytes / 8);
    for (uint64_t i = 0; i < back.size(); ++i)
      ASSERT_EQ(back[i], double(std::min(i * 8 / kStep, kCount - 1))) << i;
    finish(*rank.queue);
  });
}

// The offsets of buffers depend on the microbatch and on the rank's index in its group. A
// launch of kind FILL writes the number of the microbatch.
TEST_P(QueueConformance, ComputesAFunctionForAMicrobatch) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    put(queue, kGiven, {1, 2, 3, 4, 5, 6});
    put(queue, kOwn, {10, 20, 30, 40});
    for (uint32_t micro : {1u, 2u, 0u}) {
      compute(queue, 0, micro);
      const double first = 1 + 2 * micro;
      const bool isFirst = rank.index == 0;
      EXPECT_EQ(get(queue, kOwn, 4), isFirst ? Numbers({first, first + 1, 30, 40})
                                             : Numbers({10, 20, first, first + 1}));
      EXPECT_EQ(get(queue, kSums), isFirst ? Numbers({first + 1, first + 2}) : Numbers({11, 21}));
      int64_t number = 0;
      ASSERT_EQ(queue.download(&number, kNumber, 8), DPC_OK);
      EXPECT_EQ(number, 100 + 10 * micro);
    }
    finish(queue);
  });
}

TEST_P(QueueConformance, WorksInTheOrderOfTheCalls) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    for (int run = 0; run < 10; ++run) {
      put(queue, kOwn, {1, 2});
      compute(queue, 2);                       // kSums: 2, 3
      compute(queue, 1);                       // kSent: 3, 4
      ASSERT_EQ(queue.zero(kSums, 8), DPC_OK); // kSums: 0, 3
      const Numbers between = get(queue, kSums);
      compute(queue, 1); // kSent: 1, 4
      put(queue, kSums, {50, 60});
      put(queue, kOwn, {7, 8});
      const Numbers sent = get(queue, kSent);
      compute(queue, 1); // kSent: 51, 61
      compute(queue, 2); // kSums: 8, 9
      EXPECT_EQ(between, Numbers({0, 3}));
      EXPECT_EQ(sent, Numbers({1, 4}));
      EXPECT_EQ(get(queue, kSent), Numbers({51, 61}));
      EXPECT_EQ(get(queue, kSums), Numbers({8, 9}));
    }
    finish(queue);
  });
}

TEST_P(QueueConformance, Communicates) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    const double own = rank.index ? 100 : 1;
    put(queue, kSent, {own, 2 * own});
    begin(queue);
    exchange(queue, operation(DPC_OP_ALL_REDUCE), kSent, kReceived);
    exchange(queue, operation(DPC_OP_ALL_REDUCE, DPC_MAX), kSent, {DPC_SPACE_SHARED, 208});
    exchange(queue, operation(DPC_OP_ALL_GATHER), kSent, {DPC_SPACE_SHARED, 0});
    exchange(queue, operation(DPC_OP_ALL_REDUCE, DPC_MIN), kSent, kSent); // in place
    dpc_comm_op_t barrier = operation(DPC_OP_BARRIER);                    // has no buffers
    barrier.count = 0;
    barrier.in = barrier.out = nullptr;
    exchange(queue, barrier, {}, {}, 1);
    finish(queue);
    EXPECT_EQ(get(queue, kReceived, 4), Numbers({101, 202, 100, 200}));
    EXPECT_EQ(get(queue, {DPC_SPACE_SHARED, 0}, 4), Numbers({1, 2, 100, 200}));
    EXPECT_EQ(get(queue, kSent), Numbers({1, 2}));
  });
}

// A communication reads the results of the work before its start. The work after its wait
// reads the results of the communication.
TEST_P(QueueConformance, OrdersCommunicationAndWork) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    put(queue, kOwn, {double(rank.index), 10});
    begin(queue);
    Numbers expected = {1, 20};
    for (int i = 0; i < 10; ++i) {
      compute(queue, 2); // kSums = kOwn + 1
      compute(queue, 1); // kSent = kOwn + 2
      exchange(queue, operation(DPC_OP_ALL_REDUCE), kSent, kOwn, i % 2);
      // The ranks begin with different numbers. After the first sum they have equal numbers.
      for (double &number : expected)
        number = (i ? 2 * number : number) + 4;
    }
    compute(queue, 2);
    finish(queue);
    EXPECT_EQ(get(queue, kSums), Numbers({expected[0] + 1, expected[1] + 1}));
  });
}

// Work between a start and its wait does not change the communication. The order of the
// waits may differ from the order of the starts.
TEST_P(QueueConformance, CommunicatesWhileItWorks) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    const double own = 1 + rank.index;
    put(queue, kSent, {own, own});
    put(queue, {DPC_SPACE_SHARED, 144}, {10 * own, 10 * own});
    put(queue, kOwn, {5, 6});
    begin(queue);
    ASSERT_EQ(queue.start(operation(DPC_OP_ALL_REDUCE), kSent, kReceived, 0), DPC_OK)
        << dpc_last_error();
    ASSERT_EQ(queue.start(operation(DPC_OP_ALL_REDUCE), {DPC_SPACE_SHARED, 144},
                          {DPC_SPACE_SHARED, 208}, 1),
              DPC_OK)
        << dpc_last_error();
    compute(queue, 2);
    ASSERT_EQ(queue.wait(1), DPC_OK);
    ASSERT_EQ(queue.wait(0), DPC_OK);
    finish(queue);
    EXPECT_EQ(get(queue, kSums), Numbers({6, 7}));
    EXPECT_EQ(get(queue, kReceived, 4), Numbers({3, 3, 30, 30}));
  });
}

TEST_P(QueueConformance, RefusesEventsOutOfOrder) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    begin(queue);
    EXPECT_EQ(queue.wait(1), DPC_INVALID);
    EXPECT_STREQ(dpc_last_error(), "event 1 is waited for before its start");
    const dpc_comm_op_t sum = operation(DPC_OP_ALL_REDUCE);
    ASSERT_EQ(queue.start(sum, kSent, kReceived, 1), DPC_OK) << dpc_last_error();
    EXPECT_EQ(queue.start(sum, kSent, kReceived, 1), DPC_INVALID);
    EXPECT_STREQ(dpc_last_error(), "event 1 is started twice");
    EXPECT_EQ(queue.finish(), DPC_INVALID);
    EXPECT_STREQ(dpc_last_error(), "event 1 is never waited for");
    EXPECT_EQ(queue.wait(1), DPC_OK) << dpc_last_error();
    EXPECT_EQ(queue.wait(1), DPC_INVALID);
    finish(queue);
  });
}

// If the options permit it, a queue keeps the work of each entry and repeats it. The
// repeated work reads the contents that buffers have at that time.
TEST_P(QueueConformance, RepeatsEntries) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    const bool keeps = GetParam().type == QueueKind::cuda && GetParam().keepsEntries;
    for (int run = 0; run < 4; ++run) {
      const double own = run + 10 * rank.index;
      put(queue, kOwn, {own, own});
      for (uint32_t entry : {DPC_ENTRY_STEP, DPC_ENTRY_EVAL}) {
        bool isDone = !keeps;
        ASSERT_EQ(queue.begin(entry, &isDone), DPC_OK) << dpc_last_error();
        EXPECT_EQ(isDone, keeps && run > 0);
        if (!isDone) {
          compute(queue, entry == DPC_ENTRY_STEP ? 2 : 1);
          if (entry == DPC_ENTRY_EVAL)
            exchange(queue, operation(DPC_OP_ALL_REDUCE), kSent, kReceived);
        }
        finish(queue);
      }
      EXPECT_EQ(get(queue, kSums), Numbers({own + 1, own + 1}));
      EXPECT_EQ(get(queue, kReceived), Numbers({2. * run + 14, 2. * run + 14}));
    }
  });
}

// The host enqueues as many runs as the queue's depth says. Each run has its own inputs and
// fetches, although all runs use the same buffers of the device.
TEST_P(QueueConformance, KeepsRunsApart) {
  onRanks([](QueueRank &rank) {
    Queue &queue = *rank.queue;
    const uint64_t depth = queue.getDepth();
    const bool goesAhead =
        GetParam().type == QueueKind::cuda && GetParam().keepsEntries && !GetParam().isStaged;
    EXPECT_EQ(depth, goesAhead ? 2u : 1u);
    std::vector<double *> inputs(depth), results(depth);
    for (uint64_t slot = 0; slot < depth; ++slot)
      for (double **memory : {&inputs[slot], &results[slot]}) {
        char *made = nullptr;
        ASSERT_EQ(queue.allocateHost(32, &made), DPC_OK) << dpc_last_error();
        EXPECT_EQ(reinterpret_cast<uintptr_t>(made) % DPC_ALIGNMENT, 0u);
        EXPECT_EQ(std::string(made, 32), std::string(32, '\0'));
        *memory = reinterpret_cast<double *>(made);
      }
    auto complete = [&](uint64_t run) {
      ASSERT_EQ(queue.await(run), DPC_OK) << dpc_last_error();
      const double own = 2. * double(run) + 10; // of both ranks together
      const double *result = results[run % depth];
      EXPECT_EQ(Numbers(result, result + 4),
                Numbers({own + 4, own + 8, double(run) + 7, double(run) + 7}));
    };
    constexpr uint64_t kRuns = 7;
    for (uint64_t run = 0; run < kRuns; ++run) {
      if (run >= depth)
        complete(run - depth);
      // The uploads of the run that had this slot are over.
      double *input = inputs[run % depth];
      input[0] = double(run) + 10 * rank.index;
      input[1] = double(run) + 10 * rank.index + 2;
      const double other[2] = {double(run) + 7, double(run) + 7};
      ASSERT_EQ(queue.uploadInPlace(kOwn, input, 16), DPC_OK) << dpc_last_error();
      put(queue, {DPC_SPACE_ARENA, 512}, {other[0], other[1]});
      bool isDone = false;
      ASSERT_EQ(queue.begin(DPC_ENTRY_STEP, &isDone), DPC_OK) << dpc_last_error();
      if (!isDone) {
        compute(queue, 2); // kSums = kOwn + 1
        compute(queue, 1); // kSent = kOwn + 2
        exchange(queue, operation(DPC_OP_ALL_REDUCE), kSent, kReceived);
      }
      uint64_t number = 0;
      double *result = results[run % depth];
      ASSERT_EQ(queue.submit({{result, kReceived, 16}, {result + 2, {DPC_SPACE_ARENA, 512}, 16}},
                             &number),
                DPC_OK)
          << dpc_last_error();
      EXPECT_EQ(number, run);
      ASSERT_EQ(queue.awaitUploads(run), DPC_OK) << dpc_last_error();
      input[0] = input[1] = -1;
    }
    for (uint64_t run = kRuns - std::min(depth, kRuns); run < kRuns; ++run)
      complete(run);
    finish(queue);
  });
}

// If work fails, the queue reports the failure at the latest when `finish` returns.
TEST_P(QueueConformance, ReportsFailuresOfWork) {
  if (GetParam().type == QueueKind::shadow)
    GTEST_SKIP() << "kernels of a ShadowQueue cannot fail";
  setenv("DPC_EMU_KERNEL_FAIL", "1:1", /*overwrite=*/1);
  onRanks([](QueueRank &rank) {
    begin(*rank.queue);
    if (rank.index == 0) {
      rank.queue->finish(); // fails or not, depending on when rank 1 fails
      return;
    }
    dpc_status_t status = rank.queue->compute(3, 0, nullptr);
    status = status ? status : rank.queue->finish();
    EXPECT_NE(status, DPC_OK);
    EXPECT_NE(status, DPC_PEER) << dpc_last_error();
  });
  unsetenv("DPC_EMU_KERNEL_FAIL");
}

// If a rank dies, the queues of the other ranks fail with a message that names it.
TEST_P(QueueConformance, TellsOfAPeerThatDies) {
  onRanks([](QueueRank &rank) {
    dpc_status_t status = DPC_OK;
    for (int run = 0; run < 1000 && !status; ++run) {
      if (run == 3 && rank.index == 1)
        _exit(0);
      bool isDone = false;
      status = rank.queue->begin(DPC_ENTRY_STEP, &isDone);
      if (!status && !isDone) {
        status = rank.queue->start(operation(DPC_OP_ALL_REDUCE), kSent, kReceived, 0);
        status = status ? status : rank.queue->wait(0);
      }
      status = status ? status : rank.queue->finish();
    }
    EXPECT_EQ(status, DPC_PEER);
    EXPECT_EQ(std::string(dpc_last_error()).rfind("rank 1 died", 0), 0u) << dpc_last_error();
  });
}

// If a rank does not start the collective, the queues of the other ranks fail after
// `timeoutSeconds`.
TEST_P(QueueConformance, WaitsForPeersForALimitedTime) {
  auto *isOver = static_cast<std::atomic<bool> *>(mmap(nullptr, sizeof(std::atomic<bool>),
                                                       PROT_READ | PROT_WRITE,
                                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  onRanks(
      [&](QueueRank &rank) {
        if (rank.index == 1) {
          while (!*isOver)
            ::usleep(1000);
          _exit(0);
        }
        bool isDone = false;
        dpc_status_t status = rank.queue->begin(DPC_ENTRY_STEP, &isDone);
        status =
            status ? status : rank.queue->start(operation(DPC_OP_ALL_REDUCE), kSent, kReceived, 0);
        status = status ? status : rank.queue->wait(0);
        status = status ? status : rank.queue->finish();
        *isOver = true;
        EXPECT_EQ(status, DPC_PEER) << dpc_last_error();
      },
      /*timeoutSeconds=*/0.5);
  munmap(isOver, sizeof *isOver);
}

} // namespace
