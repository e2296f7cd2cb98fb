// Schedules of pipelines: published and exact bubbles, text forms, random pipelines.

#include "planning/PipelineSchedule.h"
#include "planning/StageCut.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace dpc;

namespace {

using Edge = PipelineProblem::Edge;
constexpr PieceKind kF = PieceKind::forward, kB = PieceKind::backward, kW = PieceKind::weight;

/// Times of a chunk for one microbatch, and of a message.
struct Times {
  int64_t forward = 1, backward = 1, weight = 1, message = 0;
};

/// A chain of equal chunks, placed by placeChunks. For schedules without gradients of
/// weights as pieces of their own, the backward pieces compute these too. A microbatch holds 2
/// bytes after its forward piece and, if there is a piece for the weights, 1 byte after its
/// backward piece.
PipelineProblem chain(ScheduleKind kind, unsigned stages, unsigned microbatches, Times times,
                      unsigned chunksPerStage = 1) {
  const std::vector<int64_t> placed =
      placeChunks(stages, chunksPerStage, kind == ScheduleKind::zeroBubble);
  const bool splits = kind == ScheduleKind::zeroBubble;
  PipelineProblem problem;
  problem.kind = kind;
  problem.stages = stages;
  problem.microbatches = microbatches;
  problem.capacity.assign(stages, 0);
  for (unsigned c = 0; c < stages * chunksPerStage; ++c) {
    PipelineProblem::Chunk chunk;
    chunk.stage = placed[c];
    chunk.pieces[0] = {true, times.forward, 2};
    chunk.pieces[1] = {true, times.backward + (splits ? 0 : times.weight), splits ? 1 : 0};
    if (splits)
      chunk.pieces[2] = {true, times.weight, 0};
    problem.chunks.push_back(chunk);
    if (c > 0) {
      problem.edges.push_back({c - 1, kF, c, kF, times.message});
      problem.edges.push_back({c, kB, c - 1, kB, times.message});
    }
  }
  return problem;
}

std::string messageOf(llvm::Error error) { return llvm::toString(std::move(error)); }

PipelineSchedule schedule(const PipelineProblem &problem) {
  llvm::Expected<PipelineSchedule> made = schedulePipeline(problem);
  if (!made) {
    ADD_FAILURE() << messageOf(made.takeError());
    return {};
  }
  EXPECT_EQ(messageOf(made->verify(problem)), "");
  return std::move(*made);
}

TEST(PipelineSchedule, HasATextForm) {
  EXPECT_EQ(schedule(chain(ScheduleKind::gpipe, 2, 3, {})).toString(), "0F0 0F1 0F2 0B0 0B1 0B2\n"
                                                                       "1F0 1F1 1F2 1B0 1B1 1B2\n");
  EXPECT_EQ(schedule(chain(ScheduleKind::oneForwardOneBackward, 2, 3, {})).toString(),
            "0F0 0F1 0B0 0F2 0B1 0B2\n"
            "1F0 1B0 1F1 1B1 1F2 1B2\n");
  EXPECT_EQ(schedule(chain(ScheduleKind::interleaved, 2, 2, {}, 2)).toString(),
            "0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1\n"
            "1F0 1F1 3F0 3B0 3F1 3B1 1B0 1B1\n");
}

TEST(PipelineSchedule, BubblesOfEqualStagesAreExact) {
  for (unsigned p : {1u, 2u, 4u, 7u})
    for (unsigned m : {1u, 2u, 4u, 8u, 33u}) {
      for (ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::oneForwardOneBackward})
        EXPECT_EQ(schedule(chain(kind, p, m, {10, 15, 5, 0})).makespanNs, 30 * (m + p - 1))
            << p << " stages, " << m << " microbatches";
      const PipelineProblem problem = chain(ScheduleKind::oneForwardOneBackward, p, m, {});
      const PipelineSchedule made = schedule(problem);
      EXPECT_DOUBLE_EQ(made.bubble(problem), (p - 1.) / (m + p - 1.));
      for (unsigned stage = 0; stage < p; ++stage)
        EXPECT_EQ(made.peakBytes[stage], 2 * std::min(p - stage, m));
    }
}

TEST(PipelineSchedule, InterleavedBubblesAndBytesAreExact) {
  for (unsigned p : {2u, 4u, 8u})
    for (unsigned v : {2u, 3u})
      for (unsigned rounds : {1u, 2u, 5u}) {
        const unsigned m = rounds * p;
        const PipelineProblem problem = chain(ScheduleKind::interleaved, p, m, {}, v);
        const PipelineSchedule made = schedule(problem);
        EXPECT_DOUBLE_EQ(made.bubble(problem), (p - 1.) / (double(v) * m + p - 1.))
            << p << " stages, " << m << " microbatches, " << v << " chunks";
        EXPECT_EQ(made.peakBytes[0], 2 * std::min(v * p + p - 1, v * m));
      }
}

TEST(PipelineSchedule, ZeroBubblesOfEqualPieces) {
  // ZB-H1 has a third of 1F1B's bubble in its memory, and ZB-H2 has none in twice the memory.
  for (unsigned p : {2u, 4u, 8u}) {
    PipelineProblem problem = chain(ScheduleKind::zeroBubble, p, 3 * p, {});
    problem.stepsOverlap = true;
    problem.capacity.assign(p, 2 * p);
    EXPECT_EQ(schedule(problem).longestSpanNs, 3 * (3 * p) + p - 1);
    problem.capacity.assign(p, 4 * p);
    EXPECT_EQ(schedule(problem).longestSpanNs, 3 * (3 * p));
  }
}

TEST(PipelineSchedule, ChunksThatTurnNeedLessMemory) {
  // Two chunks per stage are halves of a chunk that would hold 4 bytes per microbatch, so 1F1B
  // holds 4 bytes per stage. Half of this memory and one chunk of one microbatch allow half of its
  // bubble.
  for (auto [p, m] : {std::pair(2u, 6u), {2u, 12u}, {4u, 12u}, {4u, 24u}, {8u, 24u}, {16u, 96u}}) {
    PipelineProblem problem = chain(ScheduleKind::zeroBubble, p, m, {}, 2);
    problem.stepsOverlap = true;
    auto bubbleOf = [&](int64_t capacity) {
      problem.capacity.assign(problem.stages, capacity);
      return schedule(problem).bubble(problem);
    };
    EXPECT_LE(bubbleOf(4 * p), 0.01) << p << " stages, " << m << " microbatches";
    EXPECT_LE(bubbleOf(2 * p + 2), (p - 1.) / (m + p - 1.) / 2 + 0.01)
        << p << " stages, " << m << " microbatches";
  }
}

TEST(PipelineSchedule, SchedulesManyChunks) {
  const PipelineProblem problem = chain(ScheduleKind::zeroBubble, 32, 256, {}, 2);
  EXPECT_LT(schedule(problem).bubble(problem), 0.05);
}

/// Stage times in ms and bubbles of Qi et al., "Zero Bubble Pipeline Parallelism" (arXiv
/// 2401.10241). Each bubble is of 1F1B, ZB-1p and ZB-2p.
TEST(PipelineSchedule, PublishedBubbles) {
  struct Row {
    unsigned microbatches;
    double bubbles[3];
  };
  struct Model {
    unsigned stages;
    double forward, backward, weight, message;
    std::vector<Row> rows;
  };
  const std::vector<Model> models = {
      {8,
       18.522,
       18.086,
       9.337,
       0.601,
       {{24, {.2431, .1585, .0433}}, {32, {.1978, .1238, .0036}}, {64, {.1187, .0660, .0018}}}},
      {8,
       29.718,
       29.444,
       19.927,
       0.527,
       {{24, {.2347, .1323, .0029}}, {32, {.1889, .1026, .0022}}, {64, {.1090, .0541, .0011}}}},
      {16,
       11.347,
       11.248,
       8.132,
       0.377,
       {{48, {.2552, .1397, .0066}}, {64, {.2081, .1086, .0050}}, {128, {.1250, .0574, .0025}}}},
      {32,
       10.419,
       10.207,
       7.715,
       0.408,
       {{96, {.2646, .1421, .0038}}, {128, {.2168, .1105, .0028}}, {256, {.1322, .0585, .0014}}}},
  };
  auto ns = [](double ms) { return int64_t(std::llround(ms * 1e6)); };
  for (const Model &model : models)
    for (const Row &row : model.rows)
      for (unsigned i : {0u, 1u, 2u}) {
        PipelineProblem problem =
            chain(i ? ScheduleKind::zeroBubble : ScheduleKind::oneForwardOneBackward, model.stages,
                  row.microbatches,
                  {ns(model.forward), ns(model.backward), ns(model.weight), ns(model.message)});
        problem.stepsOverlap = i > 0;
        problem.capacity.assign(model.stages, i ? 2 * i * model.stages : 0);
        EXPECT_LE(schedule(problem).bubble(problem), row.bubbles[i] + 0.002)
            << model.stages << " stages, " << row.microbatches << " microbatches, schedule " << i;
      }
}

TEST(PipelineSchedule, RefusesUnsoundProblems) {
  auto refused = [](auto change) {
    PipelineProblem problem = chain(ScheduleKind::zeroBubble, 2, 2, {});
    change(problem);
    llvm::Expected<PipelineSchedule> made = schedulePipeline(problem);
    return made ? "" : messageOf(made.takeError());
  };
  using P = PipelineProblem;
  EXPECT_EQ(refused([](P &p) { p.stages = 0; }), "0 stages and 2 microbatches");
  EXPECT_EQ(refused([](P &p) { p.microbatches = 0; }), "2 stages and 0 microbatches");
  EXPECT_EQ(refused([](P &p) { p.capacity.pop_back(); }), "2 stages, but a capacity for 1");
  EXPECT_EQ(refused([](P &p) { p.capacity[1] = -5; }), "a stage may hold -5 bytes");
  EXPECT_EQ(refused([](P &p) { p.chunks[1].stage = 2; }), "chunk 1 is on stage 2 of 2");
  EXPECT_EQ(refused([](P &p) { p.chunks[1].stage = 0; }), "stage 1 has no chunk");
  EXPECT_EQ(refused([](P &p) { p.chunks[0].pieces[0].exists = false; }),
            "chunk 0 has no forward piece");
  EXPECT_EQ(refused([](P &p) { p.chunks[0].pieces[1].durationNs = -3; }),
            "a piece of chunk 0 takes -3 ns and holds 1 bytes");
  EXPECT_EQ(refused([](P &p) { p.edges[0].to = 7; }),
            "a message of 0 ns from chunk 0 to chunk 7 of 2");
  EXPECT_EQ(refused([](P &p) { p.edges[1].toKind = kF; }), "a message from 1B0 to 0F0");
  EXPECT_EQ(refused([](P &p) { p.edges.push_back({1, kF, 0, kF, 0}); }),
            "tasks wait for each other: 0, 1, 2, 3, 4, 5");
  EXPECT_EQ(refused([](P &p) { p.capacity[0] = 1; }),
            "the microbatches of stage 0 may hold 1 bytes, but they need at least 2");
  EXPECT_EQ(refused([](P &p) { p.chunks[1].pieces[2].heldBytes = 4; }),
            "chunk 1 holds 4 bytes after its last piece");
}

TEST(PipelineSchedule, RefusesUnsoundSchedules) {
  const PipelineProblem problem = chain(ScheduleKind::zeroBubble, 2, 2, {});
  const PipelineSchedule sound = schedule(problem);
  auto refused = [&](auto change, int64_t capacity = 0) {
    PipelineProblem own = problem;
    own.capacity[0] = capacity;
    PipelineSchedule other = sound;
    change(other);
    return messageOf(other.verify(own));
  };
  using S = PipelineSchedule;
  EXPECT_EQ(refused([](S &) {}), "");
  EXPECT_EQ(refused([](S &s) { s.stages.pop_back(); }), "orders the pieces of 1 stages of 2");
  EXPECT_EQ(refused([](S &s) { s.stages[0][0].chunk = 1; }),
            "stage 0 runs 1F0, which it does not have");
  EXPECT_EQ(refused([](S &s) { std::swap(s.stages[0][0], s.stages[0][1]); }),
            "stage 0 runs 0F1 instead of microbatch 0");
  EXPECT_EQ(refused([](S &s) { s.stages[1].pop_back(); }),
            "stage 1 runs 1 of 2 microbatches of 1W");
  EXPECT_EQ(refused([](S &s) { --s.makespanNs; }).substr(0, 7), "records");
  EXPECT_EQ(refused([](S &s) { ++s.peakBytes[0]; }), "records other bytes than its stages hold");
  EXPECT_EQ(refused([](S &) {}, 3), "stage 0 holds 4 bytes of 3");
  // A stage that runs its backward pieces first waits for ever.
  EXPECT_EQ(refused([](S &s) {
              s.stages[1] = {{kB, 1, 0}, {kF, 1, 0}, {kF, 1, 1},
                             {kB, 1, 1}, {kW, 1, 0}, {kW, 1, 1}};
            }).substr(0, 25),
            "tasks wait for each other");
}

/// Random chains and graphs of chunks: schedules are sound, and no slower than 1F1B.
TEST(PipelineSchedule, RandomPipelines) {
  std::mt19937 random(7);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const unsigned chunksPerStage = draw(1, 2);
    PipelineProblem problem =
        chain(ScheduleKind::zeroBubble, draw(1, 6), draw(1, 12), {}, chunksPerStage);
    for (PipelineProblem::Chunk &chunk : problem.chunks)
      for (PipelineProblem::Piece &piece : chunk.pieces)
        piece.durationNs = draw(0, 20);
    for (Edge &edge : problem.edges)
      edge.delayNs = draw(0, 5);
    for (unsigned to = 2; to < problem.chunks.size(); ++to)
      if (draw(0, 2) == 0)
        problem.edges.push_back({unsigned(draw(0, to - 2)), kF, to, kF, draw(0, 5)});
    // The first chunk may have no backward piece, and the last one may compute all in one piece.
    if (draw(0, 1) && problem.chunks.size() > 1) {
      problem.chunks[0].pieces[1].exists = false;
      llvm::erase_if(problem.edges, [](const Edge &e) { return e.to == 0 && e.toKind == kB; });
    }
    PipelineProblem plain = problem;
    plain.kind = ScheduleKind::oneForwardOneBackward;
    const PipelineSchedule fast = schedule(problem);
    for (PipelineProblem::Chunk &chunk : plain.chunks) {
      // 1F1B computes the gradients of weights at once.
      PipelineProblem::Piece &last = chunk.pieces[1].exists ? chunk.pieces[1] : chunk.pieces[2];
      if (chunk.pieces[1].exists) {
        last.durationNs += chunk.pieces[2].durationNs;
        last.heldBytes = 0;
        chunk.pieces[2].exists = false;
      }
    }
    const PipelineSchedule slow = schedule(plain);
    EXPECT_LE(fast.makespanNs, slow.makespanNs) << "round " << round;
    problem.capacity = slow.peakBytes;
    EXPECT_LE(schedule(problem).makespanNs, slow.makespanNs) << "round " << round << ", capped";
  }
}

/// Random chains with one or several chunks per stage: schedules are sound in each capacity that
/// one microbatch after the other keeps, and a smaller capacity is refused.
TEST(PipelineSchedule, RandomChunks) {
  std::mt19937 random(11);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    const bool isInterleaved = draw(0, 1);
    const unsigned stages = draw(2, 5), chunks = isInterleaved ? draw(2, 4) : draw(1, 2);
    const unsigned microbatches = isInterleaved ? stages * draw(1, 4) : draw(1, 16);
    const ScheduleKind kind = isInterleaved               ? ScheduleKind::interleaved
                              : chunks == 2 || draw(0, 1) ? ScheduleKind::zeroBubble
                              : draw(0, 1)                ? ScheduleKind::gpipe
                                                          : ScheduleKind::oneForwardOneBackward;
    PipelineProblem problem = chain(kind, stages, microbatches, {}, chunks);
    for (PipelineProblem::Chunk &chunk : problem.chunks) {
      for (PipelineProblem::Piece &piece : chunk.pieces)
        piece.durationNs = draw(1, 20);
      chunk.pieces[0].heldBytes = draw(0, 50);
      chunk.pieces[1].heldBytes = chunk.pieces[2].exists ? draw(0, 30) : 0;
    }
    for (Edge &edge : problem.edges)
      edge.delayNs = draw(0, 5);
    // The last chunk may compute its backward pass with its forward pass.
    if (draw(0, 1)) {
      PipelineProblem::Chunk &last = problem.chunks.back();
      last.pieces[0].durationNs += last.pieces[1].durationNs;
      last.pieces[1].exists = false;
      if (!last.pieces[2].exists)
        last.pieces[0].heldBytes = 0;
      for (Edge &edge : problem.edges)
        if (edge.from == problem.chunks.size() - 1 && edge.fromKind == kB)
          edge.fromKind = kF;
    }
    const PipelineSchedule free = schedule(problem);
    const std::vector<int64_t> least = findSmallestPeaks(problem);
    int64_t longest = 0; // if nothing runs beside anything else
    for (const PipelineProblem::Chunk &chunk : problem.chunks)
      for (const PipelineProblem::Piece &piece : chunk.pieces)
        longest += piece.exists ? piece.durationNs * microbatches : 0;
    for (const Edge &edge : problem.edges)
      longest += edge.delayNs * microbatches;
    for (int64_t percent : {80, 60, 40, 0}) {
      PipelineProblem capped = problem;
      for (unsigned stage = 0; stage < stages; ++stage) {
        EXPECT_LE(least[stage], free.peakBytes[stage]);
        capped.capacity[stage] = std::max(least[stage], free.peakBytes[stage] * percent / 100);
      }
      const PipelineSchedule made = schedule(capped);
      EXPECT_EQ(messageOf(made.verify(capped)), "");
      EXPECT_LE(made.makespanNs, longest) << "round " << round;
    }
    const unsigned small = draw(0, stages - 1);
    if (least[small] < 2)
      continue;
    problem.capacity[small] = least[small] - 1;
    EXPECT_EQ(messageOf(schedulePipeline(problem).takeError()),
              llvm::formatv("the microbatches of stage {0} may hold {1} bytes, but they need at "
                            "least {2}",
                            small, least[small] - 1, least[small])
                  .str());
  }
}

} // namespace
