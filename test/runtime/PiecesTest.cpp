// The algebra of pieces: which elements overlap, whether pieces are a whole
// tensor, who writes what, and what a manifest keeps of it.
#include "runtime/src/pieces/Manifest.h"
#include "runtime/src/pieces/TensorFiles.h"
#include "runtime/src/pieces/WritePlan.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <tuple>

using namespace dpc;
using namespace dpc::test;

namespace {

using Cover = std::vector<std::vector<Segments>>;

/// [begin, length, count, step, count, step]
Segments make(uint64_t begin, uint64_t length, uint64_t count = 1, uint64_t step = 0,
              uint64_t inner = 1, uint64_t innerStep = 0) {
  return {begin, length, {count, inner}, {step, innerStep}};
}

dpc_status_t check(const Cover &pieces, uint64_t elements) {
  std::vector<const std::vector<Segments> *> all;
  for (const std::vector<Segments> &piece : pieces)
    all.push_back(&piece);
  return checkCover(all, elements);
}

std::string refusal(const Cover &pieces, uint64_t elements) {
  EXPECT_EQ(check(pieces, elements), DPC_INVALID);
  return dpc_last_error();
}

/// The elements in their order, one by one.
std::vector<uint64_t> listed(const std::vector<Segments> &all) {
  std::vector<uint64_t> out;
  for (const Segments &each : all)
    for (uint64_t i = 0; i < each.count[0]; ++i)
      for (uint64_t j = 0; j < each.count[1]; ++j)
        for (uint64_t k = 0; k < each.length; ++k)
          out.push_back(each.begin + i * each.step[0] + j * each.step[1] + k);
  return out;
}

// Against a list of the elements: any segments, whether their loops nest or
// not, and any range.
TEST(Segments, OverlapIsWhatAListSays) {
  std::mt19937 random(1);
  auto below = [&](uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 3000; ++round) {
    std::vector<Segments> all;
    for (uint64_t n = 1 + below(3); n-- > 0;)
      all.push_back(make(below(20), 1 + below(4), 1 + below(4), below(9), 1 + below(4), below(9)));
    const uint64_t low = below(60), high = low + below(30);
    const std::vector<uint64_t> elements = listed(all);
    std::vector<std::pair<uint64_t, uint64_t>> want, got; // element, position
    for (uint64_t position = 0; position < elements.size(); ++position)
      if (elements[position] >= low && elements[position] < high)
        want.emplace_back(elements[position], position);
    forEachOverlap(all, low, high, [&](uint64_t global, uint64_t length, uint64_t position) {
      for (uint64_t k = 0; k < length; ++k)
        got.emplace_back(global + k, position + k);
    });
    ASSERT_EQ(got, want) << "round " << round;
  }
}

TEST(Segments, HalvesOfAMatrixAreIt) {
  // [4, 6]: its rows, its columns, a block and a flat cut through both.
  EXPECT_EQ(check({{make(0, 12)}, {make(12, 12)}}, 24), DPC_OK);
  EXPECT_EQ(check({{make(0, 3, 4, 6)}, {make(3, 3, 4, 6)}}, 24), DPC_OK);
  EXPECT_EQ(check({{make(0, 3, 2, 6)}, {make(3, 3, 2, 6)}, {make(12, 7)}, {make(19, 5)}}, 24),
            DPC_OK);
  EXPECT_EQ(check({{make(0, 1, 3, 1, 8, 3)}}, 24), DPC_OK); // the outer loop has the smaller step
  EXPECT_EQ(check({}, 0), DPC_OK);
}

TEST(Segments, WhatIsMissingIsNamed) {
  EXPECT_EQ(refusal({{make(0, 12)}, {make(13, 11)}}, 24), "no piece has element 12 of 24");
  EXPECT_EQ(refusal({{make(0, 3, 4, 6)}, {make(3, 3, 3, 6)}}, 24), "no piece has element 21 of 24");
  EXPECT_EQ(refusal({{make(1, 23)}}, 24), "no piece has element 0 of 24");
  EXPECT_EQ(refusal({{make(0, 23)}}, 24), "no piece has element 23 of 24");
  EXPECT_EQ(refusal({}, 24), "no piece has element 0 of 24");
}

TEST(Segments, WhatIsTwiceIsRefused) {
  EXPECT_EQ(refusal({{make(0, 13)}, {make(12, 12)}}, 24),
            "pieces overlap: they have 25 elements, the tensor 24");
  EXPECT_EQ(refusal({{make(0, 24)}, {make(5, 1)}}, 24),
            "pieces overlap: they have 25 elements, the tensor 24");
  EXPECT_EQ(refusal({{make(0, 24)}, {make(0, 24)}}, 24),
            "pieces overlap: they have 48 elements, the tensor 24");
  EXPECT_NE(refusal({{make(0, 24, 2, 0)}}, 24).find("one of them alone"), std::string::npos);
}

TEST(Segments, NumbersThatDoNotFitAreRefused) {
  const uint64_t huge = 1ull << 63;
  for (const Segments &each : {make(0, 25), make(24, 1), make(0, 0), make(0, 24, 0),
                               make(0, 24, 1, 0, 0, 0), make(huge, huge), make(0, 1, 2, UINT64_MAX),
                               make(0, 1, huge, 2), make(0, 12, 2, 13), make(0, 6, 2, 12, 2, 7)})
    EXPECT_NE(refusal({{each}}, 24).find("lies outside its 24"), std::string::npos);
  EXPECT_NE(refusal({{make(0, 1, huge, 0, 4, 0)}}, 24).find("alone"), std::string::npos);
}

// Random cuts of a tensor, one of them taken away or put in twice.
TEST(Segments, RandomCutsAreWholeOrNot) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const uint64_t rows = 1 + random() % 6, columns = 1 + random() % 6, elements = rows * columns;
    Cover pieces;
    for (uint64_t column = 0; column < columns;) { // blocks of columns, each cut flat
      const uint64_t width = 1 + random() % (columns - column), cut = random() % (rows + 1);
      if (cut)
        pieces.push_back({make(column, width, cut, columns)});
      if (cut < rows)
        pieces.push_back({make(column + cut * columns, width, rows - cut, columns)});
      column += width;
    }
    ASSERT_EQ(check(pieces, elements), DPC_OK) << dpc_last_error();
    Cover less = pieces, more = pieces;
    less.erase(less.begin() + std::ptrdiff_t(random() % less.size()));
    more.push_back(pieces[random() % pieces.size()]);
    ASSERT_EQ(check(less, elements), DPC_INVALID);
    ASSERT_EQ(check(more, elements), DPC_INVALID);
  }
}

// Any set of elements: the same ones, each once, and few segments where they
// repeat.
TEST(Segments, IntervalsAreTheSameElements) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Interval> intervals;
    std::vector<uint64_t> want;
    for (uint64_t at = random() % 3; intervals.size() < size_t(1 + round % 30);) {
      const uint64_t length = 1 + random() % 3;
      intervals.push_back({at, at + length});
      for (uint64_t k = 0; k < length; ++k)
        want.push_back(at + k);
      at += length + random() % 3;
    }
    std::vector<uint64_t> got = listed(segmentsOf(intervals));
    std::sort(got.begin(), got.end());
    ASSERT_EQ(got, want) << "round " << round;
  }
}

TEST(Segments, PartsThatRepeatAreFew) {
  // [20, 65]: column 0 and columns 33 to 64 of each row.
  std::vector<Interval> rows;
  for (uint64_t row = 0; row < 20; ++row) {
    rows.push_back({row * 65, row * 65 + 1});
    rows.push_back({row * 65 + 33, row * 65 + 65});
  }
  EXPECT_LE(segmentsOf(rows).size(), 3u); // the end of a row is one piece with the next one's begin
  // [4, 5, 6]: columns 1 and 2 of rows 1 to 3 of each.
  std::vector<Segments> each;
  for (uint64_t outer = 0; outer < 4; ++outer)
    for (uint64_t row = 1; row < 4; ++row)
      each.push_back(make(outer * 30 + row * 6 + 1, 2));
  const std::vector<Segments> few = compacted(each);
  ASSERT_EQ(few.size(), 1u);
  EXPECT_EQ(listed(few), listed(each));
  // What is one loop keeps its form.
  EXPECT_EQ(compacted({make(3, 3, 4, 6)}), (std::vector<Segments>{make(3, 3, 4, 6)}));
}

TEST(FileTensor, ReadsAnyRangeOfItsPieces) {
  // [3, 4] by columns: 0 1 | 2 3.
  const std::vector<float> left = {0, 1, 4, 5, 8, 9}, right = {2, 3, 6, 7, 10, 11};
  const dpc_array_t like = {"w", DPC_F32, 2, {3, 4}, nullptr};
  const FileTensor tensor(like,
                          {{reinterpret_cast<const char *>(left.data()), {make(0, 2, 3, 4)}},
                           {reinterpret_cast<const char *>(right.data()), {make(2, 2, 3, 4)}}});
  for (uint64_t begin = 0; begin <= 12; ++begin)
    for (uint64_t end = begin; end <= 12; ++end) {
      std::vector<float> got(end - begin), want(end - begin);
      std::iota(want.begin(), want.end(), float(begin));
      tensor.read(begin, end - begin, reinterpret_cast<char *>(got.data()));
      ASSERT_EQ(got, want);
    }
}

/// A program that only has states.
class Planned {
public:
  explicit Planned(uint32_t world) { program.world_size = world; }

  /// A state of f32 [elements]; of each rank its run, or none where the length
  /// is 0.
  void add(int64_t elements, const std::vector<dpc_run_t> &runs, bool owned = true) {
    shapes.push_back({elements});
    runLists.push_back(runs);
    placementLists.emplace_back();
    for (const dpc_run_t &run : runLists.back())
      placementLists.back().push_back({0, owned, 0, run.length, run.length ? 1u : 0u, &run});
    dpc_state_t state = {};
    state.name = "w";
    state.dtype = DPC_F32;
    state.dim_count = 1;
    state.shape = shapes.back().data();
    state.placements = placementLists.back().data();
    states.push_back(state);
  }

  /// A state of f32 [elements], of which each rank has several runs.
  void addRuns(int64_t elements, const std::vector<std::vector<dpc_run_t>> &runs) {
    shapes.push_back({elements});
    placementLists.emplace_back();
    for (const std::vector<dpc_run_t> &its : runs) {
      runLists.push_back(its);
      placementLists.back().push_back(
          {0, 1, 0, uint64_t(elements), runLists.back().size(), runLists.back().data()});
    }
    dpc_state_t state = {};
    state.name = "w";
    state.dtype = DPC_F32;
    state.dim_count = 1;
    state.shape = shapes.back().data();
    state.placements = placementLists.back().data();
    states.push_back(state);
  }

  dpc_status_t plan(std::vector<PlannedPiece> *out) {
    program.states = states.data();
    program.state_count = uint32_t(states.size());
    return planWriting(program, out);
  }

  /// State and writer of each piece.
  std::vector<std::pair<uint32_t, uint32_t>> plan() {
    std::vector<PlannedPiece> pieces;
    EXPECT_EQ(plan(&pieces), DPC_OK) << dpc_last_error();
    std::vector<std::pair<uint32_t, uint32_t>> out;
    for (const PlannedPiece &piece : pieces)
      out.emplace_back(piece.state, piece.rank);
    return out;
  }

private:
  dpc_program_t program = {};
  std::deque<std::vector<int64_t>> shapes;
  std::deque<std::vector<dpc_run_t>> runLists;
  std::deque<std::vector<dpc_placement_t>> placementLists;
  std::vector<dpc_state_t> states;
};

dpc_run_t run(uint64_t global, uint64_t length) { return {0, global, length, {1, 1}, {}, {}}; }
using Writers = std::vector<std::pair<uint32_t, uint32_t>>;

TEST(WritePlan, ReplicasAreWrittenOnceByWhoHasLeast) {
  Planned planned(2);
  for (int64_t elements : {10, 30, 15, 10}) // largest first: 30 | 15 10 10
    planned.add(elements, {run(0, uint64_t(elements)), run(0, uint64_t(elements))});
  EXPECT_EQ(planned.plan(), (Writers{{0, 1}, {1, 0}, {2, 1}, {3, 1}}));
}

TEST(WritePlan, ShardsAreWrittenByTheirRanks) {
  Planned planned(4); // halves, twice; rank 3 lacks the second state, and has the third alone
  planned.add(8, {run(0, 4), run(4, 4), run(0, 4), run(4, 4)});
  planned.add(8, {run(0, 8), run(0, 8), run(0, 8), run(0, 0)});
  planned.add(4, {run(0, 0), run(0, 0), run(0, 0), run(0, 4)});
  EXPECT_EQ(planned.plan(), (Writers{{0, 0}, {0, 1}, {1, 2}, {2, 3}}));
}

TEST(WritePlan, ElementsThatNobodyOwnsAreNamed) {
  std::vector<PlannedPiece> pieces;
  Planned planned(1);
  planned.add(8, {run(0, 8)}, false);
  EXPECT_EQ(planned.plan(&pieces), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "state \"w\": no piece has element 0 of 8");
  Planned short1(2);
  short1.add(8, {run(0, 5), run(3, 4)});
  EXPECT_EQ(short1.plan(&pieces), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "state \"w\": no piece has element 7 of 8");
}

// [1 + (64: model)] of columns: column 0 is on both ranks.
TEST(WritePlan, ElementsOnSeveralRanksAreWrittenOnce) {
  const uint64_t rows = 10, width = 65;
  std::vector<std::vector<dpc_run_t>> runs(2);
  for (uint64_t row = 0; row < rows; ++row)
    for (uint64_t rank = 0; rank < 2; ++rank) {
      runs[rank].push_back(run(row * width, 1));
      runs[rank].push_back(run(row * width + 1 + rank * 32, 32));
    }
  Planned planned(2);
  planned.addRuns(int64_t(rows * width), runs);
  std::vector<PlannedPiece> pieces;
  ASSERT_EQ(planned.plan(&pieces), DPC_OK) << dpc_last_error();
  ASSERT_EQ(pieces.size(), 2u);
  Cover cover;
  for (const PlannedPiece &piece : pieces) {
    EXPECT_LE(piece.segments.size(), 3u);
    cover.push_back(piece.segments);
  }
  EXPECT_EQ(check(cover, rows * width), DPC_OK) << dpc_last_error();
}

// Random owners of random elements, of which a rank may have some twice. Each
// element has one writer, and that one owns it.
TEST(WritePlan, RandomOwnersWriteEachElementOnce) {
  std::mt19937 random(4);
  for (int round = 0; round < 2000; ++round) {
    const uint64_t elements = 1 + random() % 40, world = 1 + random() % 4;
    std::vector<std::vector<dpc_run_t>> runs(world);
    std::vector<std::vector<bool>> owns(world, std::vector<bool>(elements));
    auto give = [&](uint64_t rank, uint64_t begin, uint64_t length, uint64_t count, uint64_t step) {
      if (begin + (count - 1) * step + length > elements)
        return;
      runs[rank].push_back({0, begin, length, {count, 1}, {0, 0}, {step, 0}});
      for (uint64_t i = 0; i < count; ++i)
        for (uint64_t k = 0; k < length; ++k)
          owns[rank][begin + i * step + k] = true;
    };
    for (uint64_t rank = 0; rank < world; ++rank)
      for (uint64_t n = random() % 4; n-- > 0;)
        give(rank, random() % elements, 1 + random() % 6, 1 + random() % 4, 1 + random() % 8);
    for (uint64_t e = 0; e < elements; ++e) // what nobody has yet
      if (std::none_of(owns.begin(), owns.end(), [&](const auto &its) { return its[e]; }))
        give(random() % world, e, 1, 1, 0);
    Planned planned{uint32_t(world)};
    planned.addRuns(int64_t(elements), runs);
    std::vector<PlannedPiece> pieces;
    ASSERT_EQ(planned.plan(&pieces), DPC_OK) << dpc_last_error();
    std::vector<int> written(elements);
    for (const PlannedPiece &piece : pieces)
      for (uint64_t element : listed(piece.segments)) {
        ++written[element];
        EXPECT_TRUE(owns[piece.rank][element]);
      }
    ASSERT_EQ(written, std::vector<int>(elements, 1)) << "round " << round;
  }
}

TEST(Manifest, IsReadAsItWasWritten) {
  Manifest manifest;
  manifest.step = 7, manifest.seed = 3, manifest.run = "r", manifest.program = "p";
  manifest.files = {{"state-0.safetensors", 100, 1}, {"state-12.safetensors", 200, UINT32_MAX}};
  manifest.tensors = {
      {"w", DPC_F64, {4, 6}, {{0, {make(0, 3, 4, 6)}}, {1, {make(3, 3, 4, 6)}}}},
      {"b", DPC_BF16, {}, {{1, {make(0, 1)}}}},
      {"c", DPC_F32, {2, 2, 2}, {{0, {make(0, 1, 2, 4, 2, 2), make(1, 1, 2, 4, 2, 2)}}}},
      {"d", DPC_F32, {4}, {{0, {make(0, 1, 1, 0, 4, 1)}}}}};
  const std::string text = manifestText(manifest);
  Manifest read;
  ASSERT_EQ(parseManifest(text.data(), text.size(), "m", &read), DPC_OK) << dpc_last_error();
  EXPECT_EQ(std::tie(read.step, read.seed, read.run, read.program),
            std::tie(manifest.step, manifest.seed, manifest.run, manifest.program));
  ASSERT_EQ(read.files.size(), 2u);
  EXPECT_EQ(read.files[1].crc, UINT32_MAX);
  ASSERT_EQ(read.tensors.size(), 4u);
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(read.tensors[t].shape, manifest.tensors[t].shape);
    EXPECT_EQ(read.tensors[t].dtype, manifest.tensors[t].dtype);
    ASSERT_EQ(read.tensors[t].pieces.size(), manifest.tensors[t].pieces.size());
    for (size_t k = 0; k < read.tensors[t].pieces.size(); ++k) {
      EXPECT_EQ(read.tensors[t].pieces[k].file, manifest.tensors[t].pieces[k].file);
      EXPECT_EQ(listed(read.tensors[t].pieces[k].segments),
                listed(manifest.tensors[t].pieces[k].segments));
    }
  }
  // A byte more or less is no manifest.
  EXPECT_EQ(parseManifest(text.data(), text.size() - 1, "m", &read), DPC_INVALID);
  EXPECT_EQ(parseManifest((text + " ").data(), text.size() + 1, "m", &read), DPC_INVALID);
}

TEST(Manifest, WhatItLacksIsSaid) {
  const std::string head = R"({"version": 2, "step": 1, "seed": 0, )",
                    file =
                        R"("files": [{"name": "state-0.safetensors", "bytes": 8, "crc32": 1}], )";
  const std::pair<std::string, const char *> refused[] = {
      {"[]", "m: not a checkpoint's manifest"},
      {"{}", "m: not a checkpoint's manifest"},
      {R"({"version": 0})", "checkpoint version 0, this program reads 1 and 2"},
      {R"({"version": 2, "step": 1})", "lacks step or seed"},
      {R"({"version": 2, "step": -1, "seed": 0})", "lacks step or seed"},
      {R"({"version": 1, "step": 1, "seed": 0, "bytes": 8})", "lacks bytes or crc32"},
      {R"({"version": 1, "step": 1, "seed": 0, "bytes": 8, "crc32": 4294967296})",
       "lacks bytes or crc32"},
      {head + R"("tensors": []})", "lacks files or tensors"},
      {head + R"("files": []})", "lacks files or tensors"},
      {head + R"("files": [{"name": "state-0.safetensors", "bytes": 8}], "tensors": []})",
       "no name, bytes and crc32"},
      {head + R"("files": [{"name": "state-0.safetensors", "bytes": 8, "crc32": 4294967296}],
                 "tensors": []})",
       "no name, bytes and crc32"},
      {head + file + R"("tensors": [{"name": "w", "dtype": "F32", "shape": [2]}]})",
       "lacks name, dtype, shape or pieces"},
      {head + file + R"("tensors": [{"name": "w", "dtype": "F32", "pieces": []}]})",
       "lacks name, dtype, shape or pieces"},
      {head + file + R"("tensors": [{"name": "w", "dtype": "F32", "shape": [1,1,1,1,1,1,1,1,1],
                                     "pieces": []}]})",
       "\"w\" has too large a shape"},
      {head + file + R"("tensors": [{"name": "w", "dtype": "F32", "shape": [2],
                                     "pieces": [{"file": "state-0.safetensors"}]}]})",
       "\"w\" has a piece without segments"},
      {head + file + R"("tensors": [{"name": "w", "dtype": "F32", "shape": [2], "pieces":
                        [{"file": "state-0.safetensors", "segments": [[0, -1]]}]}]})",
       "\"w\" has a segment"}};
  for (const auto &[text, message] : refused) {
    Manifest read;
    EXPECT_EQ(parseManifest((text + "\n").data(), text.size() + 1, "m", &read), DPC_INVALID);
    EXPECT_NE(std::string(dpc_last_error()).find(message), std::string::npos)
        << text << ": " << dpc_last_error();
  }
}

// A file whose tensors are not aligned is held as a copy, which cannot be read
// again.
TEST(TensorFiles, WhatIsNoFileIsNotForgotten) {
  TemporaryDirectory directory;
  const uint64_t count = 5u << 20;
  std::vector<float> values(count), got(count);
  std::iota(values.begin(), values.end(), 1.f);
  std::string header =
      R"({"w": {"dtype": "F32", "shape": [5242880], "data_offsets": [0, 20971520]}})";
  for (int padding : {0, 1}) { // one of them is not aligned
    header += ' ';
    writeFile(directory.path + "/w", little<uint64_t>(header.size()) + header +
                                         std::string(reinterpret_cast<const char *>(values.data()),
                                                     count * sizeof(float)));
    TensorFiles files;
    ASSERT_EQ(files.openPath(directory.path + "/w"), DPC_OK) << dpc_last_error();
    for (int twice : {0, 1}) {
      files.all()[0].read(0, count, reinterpret_cast<char *>(got.data()));
      EXPECT_TRUE(got == values) << padding << twice;
    }
  }
}

TEST(Manifest, NamesOfItsFiles) {
  for (const char *name :
       {"state-0.safetensors", "state-10.safetensors", "state-123456789.safetensors"})
    EXPECT_TRUE(isPieceFileName(name)) << name;
  for (const char *name : {"state-.safetensors", "state-01.safetensors", "state-1.safetensor",
                           "state-1x.safetensors", "../state-0.safetensors", "state.safetensors",
                           "state-0.safetensors.tmp1", "state-1234567890.safetensors"})
    EXPECT_FALSE(isPieceFileName(name)) << name;
}

} // namespace
