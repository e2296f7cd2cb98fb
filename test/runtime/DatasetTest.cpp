// How --data specifications are bound to a program's inputs, and which rows and
// pieces a rank loads.
#include "runtime/src/data/Dataset.h"
#include "runtime/src/data/SettleLayouts.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

using namespace dpc;
using namespace dpc::test;

namespace {

/// A program of batch 4 with two inputs, held whole by the one rank.
struct TwoInputs {
  TwoInputs(const char *first, uint32_t firstType, std::vector<int64_t> shape,
            std::vector<int64_t> labelShape, uint32_t labelRole = DPC_INPUT_LABEL)
      : shapes{shape, labelShape} {
    for (int i = 0; i < 2; ++i) {
      uint64_t elements = 1;
      for (int64_t extent : shapes[i])
        elements *= uint64_t(extent);
      runs[i] = {0, 0, elements, {1, 1}, {0, 0}, {0, 0}};
      places[i] = {DPC_SPACE_ARENA, 1, 0, elements, 1, &runs[i]};
      inputs[i].struct_size = sizeof inputs[i];
      inputs[i].name = i ? (labelRole == DPC_INPUT_LABEL ? "label" : "labels") : first;
      inputs[i].role = i ? labelRole : uint32_t(DPC_INPUT_GRAPH);
      inputs[i].dtype = i ? uint32_t(DPC_I64) : firstType;
      inputs[i].dim_count = uint32_t(shapes[i].size());
      inputs[i].shape = shapes[i].data();
      inputs[i].micro_count = 1;
      inputs[i].placements = &places[i];
    }
    program.batch = 4;
    program.microbatches = 1;
    program.inputs = inputs;
    program.input_count = 2;
  }
  TwoInputs(const TwoInputs &) = delete;
  std::vector<int64_t> shapes[2];
  dpc_run_t runs[2];
  dpc_placement_t places[2];
  dpc_input_t inputs[2] = {};
  dpc_program_t program = {};
};

class DatasetTest : public testing::Test {
protected:
  std::string file(const char *name, const std::string &bytes) {
    writeFile(directory.path + "/" + name, bytes);
    return directory.path + "/" + name;
  }
  TemporaryDirectory directory;
  MemoryMaker memory;
  Dataset data;
};

TEST_F(DatasetTest, IdxIsScaledAndTakesTheGraphsShape) {
  TwoInputs inputs("image", DPC_F32, {4, 1, 2, 2}, {4});
  std::string pixels;
  for (int i = 0; i < 24; ++i)
    pixels += char(i * 10);
  const std::string images =
      file("images", std::string("\0\0\x08\x03\0\0\0\x06\0\0\0\x02\0\0\0\x02", 16) + pixels);
  const std::string labels =
      file("labels", std::string("\0\0\x08\x01\0\0\0\x06", 8) + "\1\2\3\4\5\6");
  ASSERT_EQ(data.open(inputs.program, 0,
                      {"idx:" + images + "," + labels + ",scale=1/255,mean=0.5,std=0.25"}, memory),
            DPC_OK)
      << dpc_last_error();
  EXPECT_EQ(data.rows(), 6u);
  InputLoader loader(inputs.program, 0);
  data.activate(loader);
  data.select(loader, 1, false, 0); // rows 4, 5, and two that do not count
  float x[16];
  int64_t y[4];
  ASSERT_EQ(loader.load(0, 0, reinterpret_cast<char *>(x)), DPC_OK);
  ASSERT_EQ(loader.load(1, 0, reinterpret_cast<char *>(y)), DPC_OK);
  EXPECT_FLOAT_EQ(x[5], (210 / 255.f - 0.5f) / 0.25f);
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], 6);
}

TEST_F(DatasetTest, TokensAreShiftedForALossOutsideTheGraph) {
  std::string tokens;
  for (uint16_t i = 0; i < 41; ++i)
    tokens += little(i);
  const std::string path = file("tokens.bin", tokens);
  for (uint32_t role : {DPC_INPUT_LABEL, DPC_INPUT_GRAPH}) {
    TwoInputs inputs("input_ids", DPC_I64, {4, 5}, {4, 5}, role);
    Dataset tokensData;
    ASSERT_EQ(
        tokensData.open(inputs.program, 0, {"tokens:" + path + ",dtype=uint16,length=5"}, memory),
        DPC_OK)
        << dpc_last_error();
    EXPECT_EQ(tokensData.rows(), 8u);
    InputLoader loader(inputs.program, 0);
    tokensData.activate(loader);
    tokensData.select(loader, 1, false, 0);
    int64_t x[20], y[20];
    ASSERT_EQ(loader.load(0, 0, reinterpret_cast<char *>(x)), DPC_OK);
    ASSERT_EQ(loader.load(1, 0, reinterpret_cast<char *>(y)), DPC_OK);
    EXPECT_EQ(x[0], 20);
    EXPECT_EQ(y[0], role == DPC_INPUT_LABEL ? 21 : 20);
    EXPECT_EQ(y[19], role == DPC_INPUT_LABEL ? 40 : 39);
  }
}

// Columns of an input have each its own bounds, whatever row of the data they
// come from; a column without bounds may be anything.
TEST_F(DatasetTest, ElementsHaveTheirBounds) {
  TwoInputs inputs("ids", DPC_I64, {4, 3}, {4});
  const dpc_bounds_t bounds[] = {
      {1, 0, 2, 0, 0, 0}, {1, INT64_MIN, INT64_MAX, 0, 0, 0}, {1, -5, 4, -100, 1, 0}};
  inputs.inputs[0].bounds = bounds;
  inputs.inputs[0].bounds_count = 3;
  auto load = [&](std::vector<int64_t> ids) {
    std::string name = "ids" + std::to_string(ids[3]) + ".npz";
    const std::string path =
        file(name.c_str(), zipOf({{"ids.npy", npyOf("<i8", "4, 3", ids)},
                                  {"label.npy", npyOf<int64_t>("<i8", "4,", {0, 1, 2, 3})}}));
    Dataset opened;
    EXPECT_EQ(opened.open(inputs.program, 0, {path}, memory), DPC_OK);
    InputLoader loader(inputs.program, 0);
    opened.activate(loader);
    opened.select(loader, 0, false, 0);
    int64_t x[12];
    return loader.load(0, 0, reinterpret_cast<char *>(x));
  };
  EXPECT_EQ(load({0, 99, 4, 2, -99, -5, 1, 7, -100, 0, 0, 0}), DPC_OK) << dpc_last_error();
  EXPECT_EQ(load({0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0}), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error())
                .find("value 5 in sample 2 at [2] is outside [-5, 4], the "
                      "range of input ids there"),
            std::string::npos)
      << dpc_last_error();
  EXPECT_EQ(load({0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0}), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("value 3 in sample 1 at [0]"), std::string::npos)
      << dpc_last_error();
}

// Labels that would fit another axis of the logits are told so.
TEST_F(DatasetTest, LabelsOfAnotherAxis) {
  TwoInputs inputs("x", DPC_I64, {4, 2}, {4, 3});
  const int64_t logits[] = {4, 3, 5};
  inputs.inputs[1].logits_shape = logits;
  inputs.inputs[1].logits_dim_count = 3;
  inputs.inputs[1].class_axis = 2;
  auto open = [&](const char *shape, size_t elements) {
    const std::string path =
        file("d.npz", zipOf({{"x.npy", npyOf("<i8", "4, 2", std::vector<int64_t>(8))},
                             {"label.npy", npyOf("<i8", shape, std::vector<int64_t>(elements))}}));
    Dataset opened;
    return opened.open(inputs.program, 0, {path}, memory);
  };
  EXPECT_EQ(open("4, 3", 12), DPC_OK) << dpc_last_error();
  EXPECT_EQ(open("4, 5", 20), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error())
                .find("they fit logits [4, 3, 5] with the classes along axis "
                      "1: compile with --loss=cross-entropy,axis=1"),
            std::string::npos)
      << dpc_last_error();
  EXPECT_EQ(open("4, 7", 28), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("--label-shape"), std::string::npos)
      << dpc_last_error();
}

// The batch is the second dimension of the input and the first of the data.
TEST_F(DatasetTest, TimeMajorInput) {
  TwoInputs inputs("x", DPC_I64, {3, 4, 2}, {4});
  inputs.inputs[0].batch_dim = 1;
  std::vector<int64_t> samples(4 * 3 * 2);
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i] = int64_t(i);
  const std::string path =
      file("d.npz", zipOf({{"x.npy", npyOf("<i8", "4, 3, 2", samples)},
                           {"label.npy", npyOf<int64_t>("<i8", "4,", {0, 1, 2, 3})}}));
  ASSERT_EQ(data.open(inputs.program, 0, {path}, memory), DPC_OK) << dpc_last_error();
  InputLoader loader(inputs.program, 0);
  data.activate(loader);
  data.select(loader, 0, false, 0);
  int64_t x[24];
  ASSERT_EQ(loader.load(0, 0, reinterpret_cast<char *>(x)), DPC_OK);
  for (int t = 0; t < 3; ++t)
    for (int b = 0; b < 4; ++b)
      for (int k = 0; k < 2; ++k)
        EXPECT_EQ(x[(t * 4 + b) * 2 + k], b * 6 + t * 2 + k);
}

// Where the samples are not first in the file, they are where the input has them.
TEST_F(DatasetTest, TimeMajorFile) {
  TwoInputs inputs("x", DPC_I64, {3, 4, 2}, {3, 4});
  inputs.inputs[0].batch_dim = inputs.inputs[1].batch_dim = 1;
  const dpc_bounds_t bounds[] = {{5, 0, 59, 0, 0, 0}, {1, 0, 58, 0, 0, 0}};
  inputs.inputs[0].bounds = bounds;
  inputs.inputs[0].bounds_count = 2;
  // Element [t, s, k] of x is 20 t + 2 s + k, of ten samples.
  std::vector<int64_t> x(60), label(30);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = int64_t(i);
  for (size_t i = 0; i < label.size(); ++i)
    label[i] = int64_t(i);
  auto open = [&](Dataset &opened) {
    return opened.open(inputs.program, 0,
                       {file("t.npz", zipOf({{"x.npy", npyOf("<i8", "3, 10, 2", x)},
                                             {"label.npy", npyOf("<i8", "3, 10", label)}}))},
                       memory);
  };
  ASSERT_EQ(open(data), DPC_OK) << dpc_last_error();
  EXPECT_EQ(data.rows(), 10u);
  EXPECT_TRUE(data.notes().empty());
  InputLoader loader(inputs.program, 0);
  data.activate(loader);
  data.select(loader, 1, false, 0); // samples 4 to 7
  int64_t batch[24], labels[12];
  ASSERT_EQ(loader.load(0, 0, reinterpret_cast<char *>(batch)), DPC_OK);
  ASSERT_EQ(loader.load(1, 0, reinterpret_cast<char *>(labels)), DPC_OK);
  for (int t = 0; t < 3; ++t)
    for (int b = 0; b < 4; ++b) {
      EXPECT_EQ(labels[t * 4 + b], t * 10 + 4 + b);
      for (int k = 0; k < 2; ++k)
        EXPECT_EQ(batch[(t * 4 + b) * 2 + k], t * 20 + (4 + b) * 2 + k);
    }
  // The last element of the last sample alone is out of its bounds.
  EXPECT_EQ(data.checkValues(), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("value 59 in sample 9 at [2, 1] is outside"),
            std::string::npos)
      << dpc_last_error();
}

// As many samples as steps: the first dimension is the sample, and a note says so.
TEST_F(DatasetTest, TimeMajorOrNot) {
  TwoInputs inputs("x", DPC_F32, {4, 4}, {4});
  inputs.inputs[0].batch_dim = 1;
  const std::string path =
      file("d.npz", zipOf({{"x.npy", npyOf("<f4", "4, 4", std::vector<float>(16))},
                           {"label.npy", npyOf<int64_t>("<i8", "4,", {0, 1, 2, 3})}}));
  ASSERT_EQ(data.open(inputs.program, 0, {path}, memory), DPC_OK) << dpc_last_error();
  ASSERT_EQ(data.notes().size(), 1u);
  EXPECT_NE(data.notes()[0].find("from dimension 0; the array would also fit with them in "
                                 "dimension 1: move them to the front"),
            std::string::npos);
}

// Arrays that can be read in two ways are read as the others: of the same input, in the data or
// in that for evaluation; else of any input. Where the others contradict each other, as before.
TEST_F(DatasetTest, TimeMajorAsOtherArrays) {
  TwoInputs inputs("x", DPC_I64, {4, 4}, {3, 4});
  inputs.inputs[0].batch_dim = inputs.inputs[1].batch_dim = 1;
  auto x = [&](const char *name, const char *shape, int64_t count) {
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = int64_t(i);
    return file(name, npyOf("<i8", shape, values));
  };
  const std::string square = "x=" + x("square", "4, 4", 16), time = "x=" + x("time", "4, 5", 20),
                    samples = "x=" + x("samples", "5, 4", 20);
  auto label = [&](const char *name, const char *shape, size_t count) {
    return "label=" + file(name, npyOf("<i8", shape, std::vector<int64_t>(count)));
  };
  const std::string label9 = label("label9", "9, 3", 27), time9 = label("time9", "3, 9", 27),
                    label4 = label("label4", "4, 3", 12), time4 = label("time4", "3, 4", 12),
                    label14 = label("label14", "14, 3", 42);
  const struct {
    std::vector<std::string> data, held;
    size_t notes;
    int64_t second; // of x: element 1 of step 0 is of sample 1
  } cases[] = {{{square, time, label9}, {}, 0, 1},
               {{square, samples, label9}, {}, 0, 4},
               {{square, time4}, {}, 0, 1},
               {{square, label4}, {}, 0, 4},
               {{square, time, time9}, {}, 0, 1},
               {{square, samples, time9}, {}, 0, 4},
               {{square, label4}, {time, label("label5", "5, 3", 15)}, 0, 1},
               {{square, time, samples, label14}, {}, 1, 4}};
  for (const auto &[specs, held, notes, second] : cases) {
    Dataset opened, evaluation;
    ASSERT_EQ(opened.open(inputs.program, 0, specs, memory), DPC_OK) << dpc_last_error();
    std::vector<InputLoader *> loaders = {opened.loader()};
    if (!held.empty()) {
      ASSERT_EQ(evaluation.open(inputs.program, 0, held, memory), DPC_OK) << dpc_last_error();
      loaders.push_back(evaluation.loader());
    }
    settleLayouts(inputs.program, loaders);
    EXPECT_EQ(opened.notes().size(), notes) << specs[1];
    InputLoader loader(inputs.program, 0);
    opened.activate(loader);
    opened.select(loader, 0, false, 0);
    int64_t batch[16];
    ASSERT_EQ(loader.load(0, 0, reinterpret_cast<char *>(batch)), DPC_OK);
    EXPECT_EQ(batch[1], second) << specs[1];
  }
}

// Samples are counted over all files; an empty file, first, between or last, has none. Types may
// differ from file to file.
TEST_F(DatasetTest, FilesFollowEachOther) {
  TwoInputs inputs("x", DPC_I64, {4, 1}, {4});
  const std::string none = file("none", npyOf<int64_t>("<i8", "0, 1", {}));
  const std::string wide = file("wide", npyOf<int64_t>("<i8", "3, 1", {0, 1, 2}));
  const std::string narrow = file("narrow", npyOf<int32_t>("<i4", "5, 1", {3, 4, 5, 6, 7}));
  const std::string label = file("label", npyOf<int64_t>("<i8", "8,", {0, 1, 2, 3, 4, 5, 6, 7}));
  std::vector<std::string> specs = {"label=" + label};
  for (const std::string &each : {none, wide, none, narrow, none})
    specs.push_back("x=" + each);
  ASSERT_EQ(data.open(inputs.program, 0, specs, memory), DPC_OK) << dpc_last_error();
  EXPECT_EQ(data.rows(), 8u);
  InputLoader loader(inputs.program, 0);
  data.activate(loader);
  for (int64_t batch : {1, 0}) {
    data.select(loader, uint64_t(batch), false, 0);
    int64_t x[4];
    ASSERT_EQ(loader.load(0, 0, reinterpret_cast<char *>(x)), DPC_OK);
    for (int64_t b = 0; b < 4; ++b)
      EXPECT_EQ(x[b], batch * 4 + b);
  }
}

// Hosts compare the files that open() reads, and no others.
TEST_F(DatasetTest, FilesOfData) {
  const TwoInputs inputs("image", DPC_F32, {4, 1}, {4});
  const std::string first = file("part-1", ""), second = file("part-2", "");
  const std::string parts = directory.path + "/part-*";
  using Names = std::vector<std::string>;
  EXPECT_EQ(Dataset::filesOf(inputs.program, {parts, "absent.npz"}),
            (Names{first, second, "absent.npz"}));
  EXPECT_EQ(Dataset::filesOf(inputs.program, {"image=a.npy", "tokens:b,length=4", "none-*"}),
            (Names{"a.npy", "b"}));
  EXPECT_EQ(Dataset::filesOf(inputs.program, {"idx:i,l,scale=2"}), (Names{"i", "l"}));
  dpc_program_t withoutLabels = inputs.program;
  withoutLabels.input_count = 1;
  EXPECT_EQ(Dataset::filesOf(withoutLabels, {"idx:i,l"}), Names{"i"});
}

// An array without samples is one for all files.
TEST_F(DatasetTest, WholeArrayInSeveralFiles) {
  TwoInputs inputs("table", DPC_F32, {2}, {4});
  inputs.inputs[0].batch_dim = -1;
  auto part = [&](const char *name, std::vector<float> table) {
    return file(name, zipOf({{"table.npy", npyOf("<f4", "2,", table)},
                             {"label.npy", npyOf<int64_t>("<i8", "2,", {0, 1})}}));
  };
  const std::string first = part("first", {7, 8}), same = part("same", {7, 8}),
                    other = part("other", {7, 9});
  ASSERT_EQ(data.open(inputs.program, 0, {first, same}, memory), DPC_OK) << dpc_last_error();
  EXPECT_EQ(data.rows(), 4u);
  Dataset differs;
  EXPECT_EQ(differs.open(inputs.program, 0, {first, other}, memory), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("other: array \"table\": differs from"),
            std::string::npos)
      << dpc_last_error();
}

TEST_F(DatasetTest, WholeArrayInputIsNotCutIntoRows) {
  TwoInputs inputs("table", DPC_F32, {3}, {4});
  inputs.inputs[0].batch_dim = -1;
  const std::string table = file("t.npy", npyOf<float>("<f4", "3,", {7, 8, 9}));
  const std::string label = file("l.npy", npyOf<int32_t>("<i4", "8,", {0, 1, 2, 3, 4, 5, 6, 7}));
  ASSERT_EQ(data.open(inputs.program, 0, {"table=" + table, "label=" + label}, memory), DPC_OK)
      << dpc_last_error();
  EXPECT_EQ(data.rows(), 8u);
  InputLoader loader(inputs.program, 0);
  data.activate(loader);
  data.select(loader, 1, false, 0);
  float x[3];
  ASSERT_EQ(loader.load(0, 0, reinterpret_cast<char *>(x)), DPC_OK);
  EXPECT_EQ(x[2], 9);
}

TEST_F(DatasetTest, Refuses) {
  TwoInputs inputs("x", DPC_I64, {4, 5}, {4, 5});
  const std::string tokens = file("tokens", std::string(82, 0));
  const struct {
    std::string spec;
    dpc_status_t status;
    const char *words;
  } cases[] = {
      {"tokens:" + tokens + ",length=7", DPC_INVALID, "length 7"},
      {"tokens:" + tokens + ",dtype=float", DPC_USAGE, "dtype=float"},
      {"tokens:" + tokens + ",dtype=int64", DPC_INVALID, "82 bytes"},
      {"tokens:" + file("few", std::string(8, 0)), DPC_INVALID, "fewer than"},
      {"tokens:/no/such/file", DPC_IO, "/no/such/file"},
      {"idx:one", DPC_USAGE, "IMAGES,LABELS"},
      {"idx:a,b,scale=x", DPC_USAGE, "scale=x"},
      {"idx:a,b,std=0", DPC_USAGE, "std=0"},
      {"z=" + tokens, DPC_INVALID, "no input \"z\""},
      {"x=" + file("f.npy", npyOf<float>("<f4", "4, 5", std::vector<float>(20))), DPC_INVALID,
       "needs integers"},
      {"x=" + file("i.npy", npyOf<int64_t>("<i8", "4, 5", std::vector<int64_t>(20))), DPC_INVALID,
       "no data for input \"label\": there is data for x, the program's inputs are x, label"},
      {file("x.npz", zipOf({})), DPC_INVALID, "it has no named arrays"},
      {file("lone.npy", npyOf<int64_t>("<i8", "4, 5", std::vector<int64_t>(20))), DPC_INVALID,
       "lone.npy: an npy file, not an npz file: --data=NAME=FILE.npy"}};
  for (const auto &bad : cases) {
    Dataset fresh;
    EXPECT_EQ(fresh.open(inputs.program, 0, {bad.spec}, memory), bad.status) << bad.spec;
    EXPECT_NE(std::string(dpc_last_error()).find(bad.words), std::string::npos)
        << bad.spec << ": " << dpc_last_error();
  }
}

} // namespace
