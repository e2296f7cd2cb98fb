// Where elements of slices lie in shared memory: each at a place of its own, and no
// access of a warp that kernels make has a bank conflict.

#include "targets/CUDA/Ops/SliceLayout.h"

#include "targets/CUDA/Grids/SharedBanks.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include "gtest/gtest.h"

#include <set>

using namespace dpc;

namespace {

using Layouts = std::vector<SliceLayout>;

/// The sizes of tiles along one dimension.
const int64_t extents[] = {32, 64, 128};

Layouts chunkLayouts() {
  Layouts layouts;
  for (int64_t extent : extents)
    for (bool depthIsInner : {false, true})
      layouts.push_back(SliceLayout::forChunks(extent, 32, 2, depthIsInner));
  for (int64_t extent : extents)
    for (int64_t depth : {16, 64})
      layouts.push_back(SliceLayout::forChunks(extent, depth, 4, /*depthIsInner=*/true));
  return layouts;
}

/// Layouts for groups of `pairs` pairs of lines.
Layouts pairLayouts(int64_t pairs) {
  Layouts layouts;
  for (int64_t extent : extents)
    for (int64_t bytes : {2, 4})
      layouts.push_back(
          SliceLayout::forChunks(extent, 64 / bytes, bytes, /*depthIsInner=*/true, pairs));
  return layouts;
}

Layouts elementLayouts() {
  Layouts layouts;
  for (int64_t extent : extents)
    layouts.push_back(SliceLayout::forElements(extent, 16, 4, /*depthIsInner=*/false));
  for (int64_t extent : extents)
    for (bool depthIsInner : {false, true})
      for (int64_t depth : {8, 32})
        layouts.push_back(SliceLayout::forElements(extent, depth, 8, depthIsInner));
  return layouts;
}

Layouts fragmentLayouts() {
  Layouts layouts;
  for (int64_t extent : extents)
    layouts.push_back(SliceLayout::forFragments(extent, 16));
  return layouts;
}

Layouts vectorLayouts() {
  Layouts layouts;
  for (int64_t extent : extents)
    for (int64_t bytes : {4, 8})
      layouts.push_back(SliceLayout::forVectors(extent, 16, bytes));
  return layouts;
}

Layouts rowLayouts() {
  Layouts layouts;
  for (int64_t bytes : {2, 4})
    for (int64_t elements : {16, 48, 64, 80, 128})
      layouts.push_back(SliceLayout::forRows(64, elements, bytes));
  return layouts;
}

Layouts allLayouts() {
  Layouts layouts = chunkLayouts();
  for (const Layouts &more : {pairLayouts(2), pairLayouts(4), elementLayouts(), fragmentLayouts(),
                              vectorLayouts(), rowLayouts()})
    layouts.insert(layouts.end(), more.begin(), more.end());
  return layouts;
}

std::string nameOf(const SliceLayout &layout) {
  return std::to_string(layout.extent) + " x " + std::to_string(layout.depth) + " of " +
         std::to_string(layout.bytes) + " bytes, " +
         (layout.depthIsInner ? "lines along the depth" : "lines along the extent");
}

/// The wavefronts of an access by `lanes` lanes. `place` gives the line of a lane and its
/// position in the line.
int64_t countOf(const SliceLayout &layout, int64_t lanes, int64_t bytes,
                llvm::function_ref<std::pair<int64_t, int64_t>(int64_t lane)> place) {
  std::vector<int64_t> offsets;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    auto [line, inLine] = place(lane);
    offsets.push_back(layout.depthIsInner ? layout.offsetOf(inLine, line)
                                          : layout.offsetOf(line, inLine));
  }
  return countWavefronts(offsets, bytes);
}

TEST(SliceLayout, ElementsHaveTheirOwnPlaces) {
  for (const SliceLayout &layout : allLayouts()) {
    SCOPED_TRACE(nameOf(layout));
    EXPECT_FALSE(bool(layout.verify()));
    std::set<int64_t> places;
    for (int64_t k = 0; k < layout.depth; ++k)
      for (int64_t i = 0; i < layout.extent; ++i) {
        const int64_t offset = layout.offsetOf(k, i);
        EXPECT_GE(offset, 0);
        EXPECT_LE(offset + layout.bytes, layout.getBytes());
        EXPECT_EQ(offset % layout.bytes, 0);
        places.insert(offset);
      }
    EXPECT_EQ(places.size(), size_t(layout.depth * layout.extent));
  }
}

// The elements of a chunk stay neighbours, so that one instruction can copy or load them.
TEST(SliceLayout, ChunksStayTogether) {
  for (const SliceLayout &layout : allLayouts()) {
    SCOPED_TRACE(nameOf(layout));
    for (int64_t line = 0; line < layout.getLines(); ++line)
      for (int64_t inLine = 0; inLine < layout.getLineElements(); ++inLine) {
        const int64_t first = inLine / layout.getChunkElements() * layout.getChunkElements();
        auto offsetOf = [&](int64_t at) {
          return layout.depthIsInner ? layout.offsetOf(at, line) : layout.offsetOf(line, at);
        };
        EXPECT_EQ(offsetOf(first) % SliceLayout::kChunk, 0);
        EXPECT_EQ(offsetOf(inLine), offsetOf(first) + (inLine - first) * layout.bytes);
      }
  }
}

// ldmatrix loads the eight lines of a matrix at once.
TEST(SliceLayout, MatricesHaveNoConflicts) {
  Layouts layouts = chunkLayouts();
  for (const SliceLayout &layout : rowLayouts())
    layouts.push_back(layout);
  for (const SliceLayout &layout : layouts) {
    SCOPED_TRACE(nameOf(layout));
    for (int64_t line = 0; line < layout.getLines(); line += 8)
      for (int64_t inLine = 0; inLine < layout.getLineElements();
           inLine += layout.getChunkElements())
        EXPECT_EQ(countOf(layout, 8, SliceLayout::kChunk,
                          [&](int64_t lane) { return std::pair(line + lane, inLine); }),
                  1);
  }
}

// The eight lines of a matrix may also be pairs of four groups. Then matrices of a group have the
// same swizzle, so that their addresses differ by a constant.
TEST(SliceLayout, PairsOfLinesHaveNoConflicts) {
  for (int64_t pairs : {1, 2, 4})
    for (const SliceLayout &layout : pairLayouts(pairs)) {
      SCOPED_TRACE(nameOf(layout));
      for (int64_t line = 0; line < layout.getLines(); line += 8 * pairs)
        for (int64_t matrix = 0; matrix < pairs; ++matrix)
          for (int64_t inLine = 0; inLine < layout.getLineElements();
               inLine += layout.getChunkElements()) {
            auto placeOf = [&](int64_t lane) {
              return std::pair(line + lane / 2 * 2 * pairs + matrix * 2 + lane % 2, inLine);
            };
            EXPECT_EQ(countOf(layout, 8, SliceLayout::kChunk, placeOf), 1);
            EXPECT_EQ(layout.offsetOf(inLine, line + matrix * 2),
                      layout.offsetOf(inLine, line) + matrix * 2 * layout.getPitch());
          }
    }
}

// A lane loads the element at depth lane % 4 and at lane / 4 along the extent. A wavefront
// has 32 elements of 4 bytes, or 16 of 8 bytes.
TEST(SliceLayout, ElementsOfMatricesHaveNoConflicts) {
  for (const SliceLayout &layout : elementLayouts()) {
    SCOPED_TRACE(nameOf(layout));
    for (int64_t k = 0; k < layout.depth; k += 4)
      for (int64_t i = 0; i < layout.extent; i += 8)
        EXPECT_EQ(countOf(layout, 32, layout.bytes,
                          [&](int64_t lane) {
                            std::pair place(k + lane % 4, i + lane / 4);
                            return layout.depthIsInner ? std::pair(place.second, place.first)
                                                       : place;
                          }),
                  layout.bytes / 4);
  }
}

// A lane loads `count` neighbours in line lane % 4. Those of lane / 4 are neighbours too, or they
// are four vectors of 16 bytes apart if lane / 4 is odd.
TEST(SliceLayout, FragmentsHaveNoConflicts) {
  for (const SliceLayout &layout : fragmentLayouts()) {
    SCOPED_TRACE(nameOf(layout));
    for (bool isApart : {false, true})
      for (int64_t count : {1, 2, 4})
        for (int64_t k = 0; k < layout.depth; k += 4)
          for (int64_t i = 0; i < layout.extent; i += 8 * count) {
            if (isApart && count < 4)
              continue;
            EXPECT_EQ(countOf(layout, 32, count * 4,
                              [&](int64_t lane) {
                                const int64_t column = lane / 4,
                                              vector =
                                                  isApart ? column / 2 + column % 2 * 4 : column;
                                return std::pair(k + lane % 4, i + vector * count);
                              }),
                      count);
          }
  }
}

// A lane loads neighbours in line 2 (lane % 4): those from number lane / 4 on of a row of vectors.
TEST(SliceLayout, VectorsOfRowsHaveNoConflicts) {
  for (const SliceLayout &layout : rowLayouts())
    for (int64_t neighbours : {2, 4}) {
      const int64_t columns = 8 * neighbours;
      if (layout.bytes != 4 || layout.getLineElements() % columns != 0)
        continue;
      SCOPED_TRACE(nameOf(layout));
      for (int64_t line = 0; line < layout.getLines(); line += 8)
        for (int64_t column = 0; column < layout.getLineElements(); column += columns)
          EXPECT_EQ(countOf(layout, 32, neighbours * 4,
                            [&](int64_t lane) {
                              return std::pair(line + 2 * (lane % 4),
                                               column + lane / 4 * neighbours);
                            }),
                    neighbours);
    }
}

// Threads of a half warp load neighbouring vectors of a line.
TEST(SliceLayout, VectorsHaveNoConflicts) {
  for (const SliceLayout &layout : vectorLayouts()) {
    SCOPED_TRACE(nameOf(layout));
    for (int64_t k = 0; k < layout.depth; ++k)
      EXPECT_EQ(countOf(layout, 32, SliceLayout::kChunk,
                        [&](int64_t lane) {
                          return std::pair(k, lane % 16 * layout.getChunkElements() %
                                                  layout.getLineElements());
                        }),
                4);
  }
}

// Threads fill neighbouring chunks, or words. If a wavefront reaches a second line, padding may
// separate its chunks, so lines of rows are whole wavefronts here.
TEST(SliceLayout, FillsHaveNoConflicts) {
  for (const SliceLayout &layout : allLayouts()) {
    SCOPED_TRACE(nameOf(layout));
    if (layout.depthIsInner && layout.padding != 0 &&
        layout.getLineElements() * layout.bytes % 128 != 0)
      continue;
    for (int64_t bytes : {int64_t(4), SliceLayout::kChunk}) {
      const int64_t elements = std::max<int64_t>(1, bytes / layout.bytes),
                    inLine = layout.getLineElements() / elements,
                    lanes = 128 / std::max(bytes, layout.bytes);
      for (int64_t first = 0; first < layout.getLines() * inLine; first += lanes)
        EXPECT_EQ(countOf(layout, lanes, std::max(bytes, layout.bytes),
                          [&](int64_t lane) {
                            return std::pair((first + lane) / inLine,
                                             (first + lane) % inLine * elements);
                          }),
                  1);
    }
  }
}

// A warp transposes pieces of 8 positions along the depth and 4 along the extent.
TEST(SliceLayout, TranspositionsHaveNoConflicts) {
  for (int64_t extent : extents) {
    const SliceLayout layout = SliceLayout::forVectors(extent, 16, 4);
    SCOPED_TRACE(nameOf(layout));
    for (int64_t k = 0; k < layout.depth; k += 8)
      for (int64_t i = 0; i < layout.extent; i += 4)
        EXPECT_EQ(countOf(layout, 32, 4,
                          [&](int64_t lane) { return std::pair(k + lane % 8, i + lane / 8); }),
                  1);
  }
}

// Without a swizzle, eight lines of 128 bytes have their chunks in the same banks.
TEST(SliceLayout, WavefrontsAreCounted) {
  const SliceLayout plain{64, 64, 2, /*depthIsInner=*/true};
  auto column = [](int64_t lane) { return std::pair(lane, int64_t(0)); };
  EXPECT_EQ(countOf(plain, 8, 16, column), 8);
  EXPECT_EQ(countOf(SliceLayout::forChunks(64, 64, 2, true), 8, 16, column), 1);
  // Lanes that load the same word share it.
  EXPECT_EQ(countWavefronts({0, 0, 4, 4}, 4), 1);
  EXPECT_EQ(countWavefronts({0, 128, 256, 4}, 4), 3);
  // A quarter of a warp is served at once if each lane has a chunk.
  EXPECT_EQ(countWavefronts({0, 16, 32, 48, 64, 80, 96, 112, 0}, 16), 2);
}

TEST(SliceLayout, VerifyFindsBrokenLayouts) {
  auto messageOf = [](const SliceLayout &layout) { return llvm::toString(layout.verify()); };
  EXPECT_EQ(messageOf({0, 16, 4}), "a slice of 0 x 16 elements of 4 bytes has no elements that fit "
                                   "chunks");
  EXPECT_EQ(messageOf({30, 16, 4}),
            "a slice of 30 x 16 elements of 4 bytes has lines of incomplete chunks");
  SliceLayout leaving{32, 16, 4, /*depthIsInner=*/true};
  leaving.modulus = 8;
  EXPECT_EQ(messageOf(leaving),
            "a slice of 32 x 16 elements of 4 bytes exchanges chunks of different lines");
  leaving.modulus = 4;
  EXPECT_EQ(messageOf(leaving), "");
}

} // namespace
