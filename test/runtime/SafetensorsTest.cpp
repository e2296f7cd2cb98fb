// safetensors: what is written is read, and every defect of facts 1.10 is
// refused.
#include "dpc/safetensors.h"
#include "runtime/src/data/SafetensorsWriter.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/resource.h>

using namespace dpc::test;

namespace {

class Safetensors : public testing::Test {
protected:
  ~Safetensors() override { dpc_array_file_close(file); }
  /// Opens a file of this header and this many zero bytes of data.
  dpc_status_t open(const std::string &header, size_t dataBytes) {
    return openBytes(little<uint64_t>(header.size()) + header + std::string(dataBytes, 0));
  }
  dpc_status_t openBytes(const std::string &bytes) {
    dpc_array_file_close(file);
    file = nullptr;
    writeFile(path, bytes);
    return dpc_safetensors_open(path.c_str(), &file);
  }
  TemporaryDirectory directory;
  std::string path = directory.path + "/x.safetensors";
  dpc_array_file_t *file = nullptr;
};

// A file that is written part by part is as long as its header says, or is not
// there.
TEST_F(Safetensors, PartsThatAreNotAllAreNoFile) {
  const float a[] = {1, 2, 3, 4};
  for (size_t missing : {0u, 1u, 4u}) {
    std::filesystem::remove(path);
    dpc::SafetensorsWriter writer;
    ASSERT_EQ(writer.create(path.c_str(), {{"a", DPC_F32, 1, {4}, nullptr}}, nullptr, 0), DPC_OK);
    ASSERT_EQ(writer.write(a, 8), DPC_OK);
    ASSERT_EQ(writer.write(a + 2, 8 - missing), DPC_OK);
    EXPECT_EQ(writer.commit(), missing ? DPC_INVALID : DPC_OK);
    EXPECT_EQ(std::filesystem::exists(path), missing == 0);
  }
}

TEST_F(Safetensors, RoundTrip) {
  const float a[] = {1, 2, 3, 4, 5, 6};
  const double b[] = {7};
  const uint8_t c[] = {1, 0, 1};
  const dpc_array_t arrays[] = {{"layer/0.\"w\"", DPC_F32, 2, {2, 3}, a},
                                {"scalar", DPC_F64, 0, {}, b},
                                {"mask", DPC_BOOL, 1, {3}, c},
                                {"empty", DPC_F32, 2, {0, 4}, nullptr}};
  const dpc_metadata_t metadata[] = {{"step", "12"}};
  ASSERT_EQ(dpc_safetensors_write(path.c_str(), arrays, 4, metadata, 1), DPC_OK)
      << dpc_last_error();
  ASSERT_EQ(dpc_safetensors_open(path.c_str(), &file), DPC_OK) << dpc_last_error();
  EXPECT_EQ(dpc_array_file_count(file), 4u);
  EXPECT_STREQ(dpc_safetensors_metadata(file, "step"), "12");
  EXPECT_EQ(dpc_safetensors_metadata(file, "other"), nullptr);
  for (const dpc_array_t &want : arrays) {
    const dpc_array_t *got = dpc_array_file_find(file, want.name);
    ASSERT_TRUE(got) << want.name;
    EXPECT_EQ(got->dtype, want.dtype);
    ASSERT_EQ(got->dim_count, want.dim_count);
    for (uint32_t d = 0; d < want.dim_count; ++d)
      EXPECT_EQ(got->shape[d], want.shape[d]);
    if (want.data) {
      EXPECT_EQ(
          std::memcmp(got->data, want.data, dpc_array_elements(&want) * dpc_dtype_size(want.dtype)),
          0);
    }
  }
  const std::string whole = readFile(path);
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_EQ(openBytes(whole.substr(0, length)), DPC_INVALID) << length;
  EXPECT_EQ(openBytes(whole + "x"), DPC_INVALID);
}

TEST_F(Safetensors, WriterRefuses) {
  const float a[] = {1};
  const dpc_array_t twice[] = {{"a", DPC_F32, 1, {1}, a}, {"a", DPC_F32, 1, {1}, a}};
  EXPECT_EQ(dpc_safetensors_write(path.c_str(), twice, 2, nullptr, 0), DPC_INVALID);
  const dpc_array_t reserved[] = {{"__metadata__", DPC_F32, 1, {1}, a}};
  EXPECT_EQ(dpc_safetensors_write(path.c_str(), reserved, 1, nullptr, 0), DPC_INVALID);
  EXPECT_EQ(dpc_safetensors_write("/no/such/x", twice, 1, nullptr, 0), DPC_IO);
  EXPECT_EQ(access(path.c_str(), F_OK), -1);
}

// A full disk is told, and leaves the old file as it was with nothing beside
// it. The limit on file sizes stands in for it.
TEST_F(Safetensors, FullDiskKeepsTheOldFile) {
  std::vector<float> values(10000, 1);
  const dpc_array_t array = {"a", DPC_F32, 1, {10000}, values.data()};
  writeFile(path, "old");
  auto result = forkRanks(1, [&](uint32_t, RankReport &report) {
    const rlimit limit = {4096, 4096};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = dpc_safetensors_write(path.c_str(), &array, 1, nullptr, 0);
    std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
    return code;
  });
  EXPECT_EQ(result[0].exitCode, DPC_IO) << result[0].message;
  EXPECT_EQ(readFile(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path),
                          std::filesystem::directory_iterator()),
            1);
}

TEST_F(Safetensors, RefusesDefects) {
  ASSERT_EQ(open(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8), DPC_OK)
      << dpc_last_error();
  ASSERT_EQ(
      open(R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}   )",
           4),
      DPC_OK)
      << dpc_last_error();
  const struct {
    const char *header;
    size_t bytes;
    const char *words;
  } defects[] = {
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "truncated"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 12, "after the last"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12, "hole"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8, "needs 12"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
       12, "overlaps"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
       16, "twice"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "twice"},
      {R"({"a":{"dtype":"F8_E5M2","shape":[8],"data_offsets":[0,8]}})", 8, "F8_E5M2"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8, "negative"},
      {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8, "fraction"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,0]}})", 0,
       "too large"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "outside"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", 8, "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8, "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, "lacks"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", 8, "unknown key"},
      {R"({"a":[1]})", 0, "array"},
      {R"({"a":{"dtype":{"x":1}}})", 0, "object"},
      {R"({"a":{"shape":[[[[1]]]]}})", 0, "array"},
      {R"({"a":7})", 0, "number"},
      {R"({"__metadata__":{"k":7}})", 0, "number"},
      {R"([1,2])", 0, "JSON object"},
      {R"({"a":)", 0, "not JSON"},
      {"", 0, "JSON object"}};
  for (const auto &defect : defects) {
    EXPECT_EQ(open(defect.header, defect.bytes), DPC_INVALID) << defect.header;
    EXPECT_NE(std::string(dpc_last_error()).find(defect.words), std::string::npos)
        << defect.header << ": " << dpc_last_error();
  }
  const std::string onnx("\x08\x0a\x12\x07pytorch\x1a", 12), floats("\x3f\x12\x07pytorch\x08", 11);
  for (const auto &[bytes, words] :
       {std::pair<std::string, const char *>{little<uint64_t>(UINT64_MAX) + "{}",
                                             "truncated: a header"},
        {"short", "not a safetensors file: 5 bytes"},
        {onnx, "not a safetensors file but an ONNX model"},
        {floats, "not a safetensors file: it does not begin"}}) {
    EXPECT_EQ(openBytes(bytes), DPC_INVALID);
    EXPECT_NE(std::string(dpc_last_error()).find(words), std::string::npos) << dpc_last_error();
  }
  std::string deep = R"({"a":{"shape":)" + std::string(100000, '[');
  EXPECT_EQ(open(deep, 0), DPC_INVALID);
}

} // namespace
