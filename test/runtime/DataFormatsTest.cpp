// npy, npz, idx and element conversion: what is read, and what is refused.
#include "dpc/data.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sys/stat.h>

using namespace dpc::test;

namespace {

class DataFormats : public testing::Test {
protected:
  ~DataFormats() override { dpc_array_file_close(file); }
  std::string write(const std::string &bytes) {
    std::string path = directory.path + "/file";
    writeFile(path, bytes);
    return path;
  }
  dpc_status_t npz(const std::string &bytes) { return reopen(dpc_npz_open, bytes); }
  dpc_status_t npy(const std::string &bytes) { return reopen(dpc_npy_open, bytes); }
  dpc_status_t idx(const std::string &bytes) { return reopen(dpc_idx_open, bytes); }
  dpc_status_t reopen(dpc_status_t (*open)(const char *, dpc_array_file_t **),
                      const std::string &bytes) {
    dpc_array_file_close(file);
    file = nullptr;
    return open(write(bytes).c_str(), &file);
  }
  TemporaryDirectory directory;
  dpc_array_file_t *file = nullptr;
};

const std::string kX = npyOf<float>("<f4", "2, 3", {0, 1, 2, 3, 4, 5});
const std::string kLabel = npyOf<int64_t>("<i8", "2,", {7, 8});

TEST_F(DataFormats, NpzStoredAndDeflated) {
  for (bool compress : {false, true}) {
    ASSERT_EQ(npz(zipOf({{"x.npy", kX, compress}, {"label.npy", kLabel, compress}})), DPC_OK)
        << dpc_last_error();
    ASSERT_EQ(dpc_array_file_count(file), 2u);
    const dpc_array_t *x = dpc_array_file_find(file, "x"),
                      *label = dpc_array_file_find(file, "label");
    ASSERT_TRUE(x && label);
    EXPECT_EQ(x->dtype, DPC_F32);
    ASSERT_EQ(x->dim_count, 2u);
    EXPECT_EQ(x->shape[1], 3);
    EXPECT_EQ(static_cast<const float *>(x->data)[5], 5);
    EXPECT_EQ(static_cast<const int64_t *>(label->data)[1], 8);
    EXPECT_EQ(dpc_array_file_find(file, "absent"), nullptr);
  }
}

// Every prefix of a valid file is refused, with a message and without a crash;
// so is every file with one byte changed, or it still opens with the same
// shapes (a changed element of a stored member cannot be seen).
TEST_F(DataFormats, NpzTruncatedAnywhereIsRefused) {
  for (bool compress : {false, true}) {
    const std::string whole = zipOf({{"x.npy", kX, compress}, {"label.npy", kLabel, compress}});
    for (size_t length = 0; length < whole.size(); ++length)
      EXPECT_EQ(npz(whole.substr(0, length)), DPC_INVALID) << length;
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = char(damaged[at] ^ 0x41);
      EXPECT_LE(npz(damaged), DPC_INVALID);
    }
  }
}

TEST_F(DataFormats, NpzHostile) {
  EXPECT_EQ(npz(zipOf({{"x.npy", kX}, {"x.npy", kX}})), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("twice"), std::string::npos);
  // A deflated member whose header promises a terabyte: refused before memory
  // is taken.
  const std::string bomb =
      npyImage("{'descr': '<f8', 'fortran_order': False, 'shape': (137438953472,), }", "x");
  EXPECT_EQ(npz(zipOf({{"x.npy", bomb, true}})), DPC_INVALID);
  EXPECT_EQ(npz(zipOf({{"x.npy", bomb, false}})), DPC_INVALID);
  for (bool compress : {true, false}) {
    std::string badCrc = zipOf({{"y.npy", kX, compress}, {"x.npy", kX, compress}});
    badCrc[badCrc.rfind("PK\x01\x02") + 16] ^= 1;
    EXPECT_EQ(npz(badCrc), DPC_INVALID);
    const std::string error = dpc_last_error();
    for (const char *words : {"/file", "\"x.npy\"", "checksum"})
      EXPECT_NE(error.find(words), std::string::npos) << error;
  }
  EXPECT_EQ(npz("this is a text file, not an archive at all"), DPC_INVALID);
}

// Without a writer, and nobody waits for one.
TEST_F(DataFormats, PipeIsRefused) {
  const std::string path = directory.path + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(dpc_npz_open(path.c_str(), &file), DPC_INVALID);
}

TEST_F(DataFormats, MissingFileIsIo) {
  EXPECT_EQ(dpc_npz_open((directory.path + "/absent.npz").c_str(), &file), DPC_IO);
  EXPECT_NE(std::string(dpc_last_error()).find("absent.npz"), std::string::npos);
  EXPECT_EQ(dpc_npz_open(directory.path.c_str(), &file),
            DPC_INVALID); // a directory
}

TEST_F(DataFormats, NpyFortranOrderIsTurned) {
  const float columns[] = {0, 3, 1, 4, 2, 5};
  ASSERT_EQ(npy(npyImage("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
                         std::string(reinterpret_cast<const char *>(columns), 24))),
            DPC_OK)
      << dpc_last_error();
  const float *x = static_cast<const float *>(dpc_array_file_at(file, 0)->data);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(x[i], i);
}

// From version 2.0 on the header's length has four bytes instead of two.
TEST_F(DataFormats, NpyOfEveryVersion) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  header.resize(128 - 12 - 1, ' ');
  header += '\n';
  const std::string elements = little(1.5f) + little(-2.f);
  for (char version : {2, 3}) {
    ASSERT_EQ(npy("\x93NUMPY" + std::string{version, 0} + little(uint32_t(header.size())) + header +
                  elements),
              DPC_OK)
        << dpc_last_error();
    EXPECT_EQ(std::memcmp(dpc_array_file_at(file, 0)->data, elements.data(), 8), 0);
  }
  EXPECT_EQ(
      npy("\x93NUMPY" + std::string{4, 0} + little(uint32_t(header.size())) + header + elements),
      DPC_INVALID);
}

TEST_F(DataFormats, NpyRefuses) {
  for (const char *dictionary :
       {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(9223372036854775807, 9223372036854775807), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(1,1,1,1,1,1,1,1,1), }",
        "{'descr': '<f4', 'shape': (1,), }",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': "
        "(1,), }",
        "{'descr': '<f4'", "", "{"})
    EXPECT_EQ(npy(npyImage(dictionary, "abcd")), DPC_INVALID) << dictionary;
}

TEST_F(DataFormats, NpyWrittenIsRead) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  dpc_array_t array = {"", DPC_F32, 2, {3, 2}, values};
  const std::string path = directory.path + "/out.npy";
  ASSERT_EQ(dpc_npy_write(path.c_str(), &array), DPC_OK) << dpc_last_error();
  ASSERT_EQ(dpc_npy_open(path.c_str(), &file), DPC_OK) << dpc_last_error();
  EXPECT_EQ(dpc_array_file_at(file, 0)->shape[0], 3);
  EXPECT_EQ(std::memcmp(dpc_array_file_at(file, 0)->data, values, sizeof values), 0);
  EXPECT_EQ(dpc_npy_write("/no/such/directory/x.npy", &array), DPC_IO);
}

TEST_F(DataFormats, IdxRawAndGzipped) {
  const std::string image = std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12) + "abcdef";
  ASSERT_EQ(idx(image), DPC_OK) << dpc_last_error();
  const std::string zipped = directory.path + "/file.gz";
  writeGzip(zipped, image);
  dpc_array_file_close(file);
  ASSERT_EQ(dpc_idx_open(zipped.c_str(), &file), DPC_OK) << dpc_last_error();
  const dpc_array_t *array = dpc_array_file_at(file, 0);
  EXPECT_EQ(array->dtype, DPC_U8);
  EXPECT_EQ(array->shape[1], 3);
  EXPECT_EQ(static_cast<const char *>(array->data)[5], 'f');
  for (size_t length = 0; length < image.size(); ++length)
    EXPECT_EQ(idx(image.substr(0, length)), DPC_INVALID) << length;
  EXPECT_EQ(idx(image + "g"), DPC_INVALID);
  EXPECT_EQ(idx(std::string("\0\0\x08\x03\x7f\xff\xff\xff\x7f\xff\xff\xff\0\0\0\x10", 16)),
            DPC_INVALID);
}

TEST_F(DataFormats, IdxWideElementsAreBigEndian) {
  ASSERT_EQ(idx(std::string("\0\0\x0c\x01\0\0\0\x01\0\0\x01\x02", 12)), DPC_OK) << dpc_last_error();
  EXPECT_EQ(*static_cast<const int32_t *>(dpc_array_file_at(file, 0)->data), 258);
}

TEST_F(DataFormats, IdxHasSignedBytes) {
  ASSERT_EQ(idx(std::string("\0\0\x09\x01\0\0\0\x02\xff\x01", 10)), DPC_OK) << dpc_last_error();
  const dpc_array_t *array = dpc_array_file_at(file, 0);
  EXPECT_EQ(array->dtype, DPC_I8);
  EXPECT_EQ(static_cast<const int8_t *>(array->data)[0], -1);
}

TEST_F(DataFormats, RawTokens) {
  const std::string path = write(little<uint16_t>(513) + little<uint16_t>(50256));
  ASSERT_EQ(dpc_raw_open(path.c_str(), DPC_U16, &file), DPC_OK);
  EXPECT_EQ(static_cast<const uint16_t *>(dpc_array_file_at(file, 0)->data)[1], 50256);
  dpc_array_file_close(file);
  file = nullptr;
  EXPECT_EQ(dpc_raw_open(path.c_str(), DPC_F64, &file), DPC_INVALID); // 4 bytes
}

// Every half-precision value survives the way through double, float and back.
TEST(Convert, HalfRoundTrip) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint16_t in = uint16_t(bits), back;
    double wide;
    float single;
    dpc_convert(DPC_F64, &wide, DPC_F16, &in, 1);
    dpc_convert(DPC_F16, &back, DPC_F64, &wide, 1);
    dpc_convert(DPC_F32, &single, DPC_F16, &in, 1);
    if (std::isnan(wide))
      EXPECT_EQ(back & 0x7e00, 0x7e00);
    else {
      EXPECT_EQ(back, in);
      EXPECT_EQ(double(single), wide);
    }
  }
}

TEST(Convert, HalfRoundsToNearestEven) {
  const double in[] = {1 + std::ldexp(1, -11), 1 + 3 * std::ldexp(1, -11), 65519.9, 65520,
                       std::ldexp(1, -25),     std::ldexp(3, -25)};
  uint16_t out[6];
  dpc_convert(DPC_F16, out, DPC_F64, in, 6);
  EXPECT_EQ(out[0], 0x3c00);
  EXPECT_EQ(out[1], 0x3c02);
  EXPECT_EQ(out[2], 0x7bff);
  EXPECT_EQ(out[3], 0x7c00);
  EXPECT_EQ(out[4], 0);
  EXPECT_EQ(out[5], 2);
}

TEST(Convert, BetweenKinds) {
  const uint8_t bytes[] = {0, 200, 255};
  float floats[3];
  dpc_convert(DPC_F32, floats, DPC_U8, bytes, 3);
  EXPECT_EQ(floats[1], 200);
  const double doubles[] = {-1.9, 1e300, NAN};
  int32_t ints[3];
  dpc_convert(DPC_I32, ints, DPC_F64, doubles, 3);
  EXPECT_EQ(ints[0], -1);
  EXPECT_EQ(ints[1], INT32_MAX);
  EXPECT_EQ(ints[2], 0);
  uint16_t brain;
  const float third = 1.f / 3;
  dpc_convert(DPC_BF16, &brain, DPC_F32, &third, 1);
  EXPECT_EQ(brain, 0x3eab);
  uint8_t truth;
  const float half = 0.5f;
  dpc_convert(DPC_BOOL, &truth, DPC_F32, &half, 1);
  EXPECT_EQ(truth, 1);
  EXPECT_EQ(dpc_convert(99, &truth, DPC_F32, &half, 1), DPC_INVALID);
}

// The bits that tell a NaN from an infinity may be among those cut off.
TEST(Convert, BrainKeepsNan) {
  for (uint32_t bits : {0x7f800001u, 0xff80ffffu, 0x7fffffffu}) {
    float in, back;
    std::memcpy(&in, &bits, 4);
    uint16_t brain;
    dpc_convert(DPC_BF16, &brain, DPC_F32, &in, 1);
    dpc_convert(DPC_F32, &back, DPC_BF16, &brain, 1);
    EXPECT_TRUE(std::isnan(back)) << std::hex << bits << " is " << brain;
  }
}

TEST(Bounds, FirstOutside) {
  const int64_t labels[] = {0, 9, -100, 10};
  const int64_t ignore = -100;
  EXPECT_EQ(dpc_first_out_of_bounds(DPC_I64, labels, 3, 0, 9, &ignore), 3u);
  EXPECT_EQ(dpc_first_out_of_bounds(DPC_I64, labels, 4, 0, 9, &ignore), 3u);
  EXPECT_EQ(dpc_first_out_of_bounds(DPC_I64, labels, 4, 0, 9, nullptr), 2u);
  const uint64_t large[] = {UINT64_MAX};
  EXPECT_EQ(dpc_first_out_of_bounds(DPC_U64, large, 1, -1, INT64_MAX, nullptr), 0u);
  const float floats[] = {NAN};
  EXPECT_EQ(dpc_first_out_of_bounds(DPC_F32, floats, 1, 0, 9, nullptr), 0u);
}

} // namespace
