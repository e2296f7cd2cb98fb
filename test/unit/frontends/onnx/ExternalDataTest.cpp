// Weights beside the model: paths, offsets and lengths, good and bad.

#include "Inputs.h"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace dpc::onnx;
namespace fs = std::filesystem;

namespace {

TEST(ExternalData, ReadsAlignedAndUnalignedRanges) {
  Prepared aligned(inputPath("external")), unaligned(inputPath("external-unaligned"));
  ASSERT_EQ(aligned.error, "");
  ASSERT_EQ(unaligned.error, "");
  auto values = aligned.graph.initializers[0].tensor.as<float>();
  EXPECT_EQ(values, llvm::ArrayRef<float>({1, 2, 3, 4}));
  EXPECT_EQ(unaligned.graph.initializers[0].tensor.numElements(), 4);
}

/// The view of an aligned range is the mapped file itself.
TEST(ExternalData, DoesNotCopyAlignedRanges) {
  auto model = loadModel(inputPath("external"));
  ASSERT_TRUE(bool(model));
  const auto &proto = (*model)->proto->graph().initializer(0);
  auto range = (*model)->files.read(proto, 16, "w");
  auto tensor = readTensor(proto, (*model)->proto, (*model)->files, "w");
  ASSERT_TRUE(bool(range) && bool(tensor));
  EXPECT_EQ(range->bytes.data(), tensor->bytes.data());
}

TEST(ExternalData, RejectsEachBadReference) {
  for (const BadInput &input : std::initializer_list<BadInput>{
           {"bad-external-missing", "external data file 'nowhere.bin': No such file"},
           {"bad-external-absolute", "location '/etc/passwd' is an absolute path"},
           {"bad-external-parent", "leaves the model's folder"},
           {"bad-external-inner-parent", "leaves the model's folder"},
           {"bad-external-backslash", "has a backslash"},
           {"bad-external-drive", "has a drive letter"},
           {"bad-external-empty", "location '' is empty"},
           {"bad-external-no-location", "has no location"},
           {"bad-external-negative", "offset '-4' is not a byte count"},
           {"bad-external-number", "offset '0x4' is not a byte count"},
           {"bad-external-huge", "is not a byte count"},
           {"bad-external-end", "ends past the 26 bytes of 'weights.bin'"},
           {"bad-external-length", "has 8 bytes but its shape and type need 16"},
           {"bad-external-key", "unknown key 'colour'"},
           {"bad-external-checksum",
            "has SHA1 6871c39d4cbe57e6e7cc0ab3767e8be480e1fe8b but the model "
            "says"}})
    expectError(input);
}

/// Without the file a tensor is zeros where that is allowed; all else is checked.
TEST(ExternalData, MayBeMissing) {
  auto model = loadModel(inputPath("bad-external-missing"));
  ASSERT_TRUE(bool(model));
  (*model)->files.allowMissing();
  auto graph = buildGraph(**model);
  ASSERT_TRUE(bool(graph)) << llvm::toString(graph.takeError());
  const Tensor &tensor = graph->initializers[0].tensor;
  EXPECT_TRUE(tensor.isMissing);
  EXPECT_EQ(tensor.as<float>(), llvm::ArrayRef<float>({0, 0, 0, 0}));
  auto there = loadModel(inputPath("external"));
  ASSERT_TRUE(bool(there));
  (*there)->files.allowMissing();
  auto complete = buildGraph(**there);
  ASSERT_TRUE(bool(complete));
  EXPECT_FALSE(complete->initializers[0].tensor.isMissing);
  EXPECT_EQ(complete->initializers[0].tensor.as<float>()[3], 4);
  auto absolute = loadModel(inputPath("bad-external-absolute"));
  ASSERT_TRUE(bool(absolute));
  (*absolute)->files.allowMissing();
  auto refused = buildGraph(**absolute);
  ASSERT_FALSE(bool(refused));
  EXPECT_NE(llvm::toString(refused.takeError()).find("is an absolute path"), std::string::npos);
}

/// Things a repository cannot hold are made beside copies of the models.
class SpecialFiles : public ::testing::Test {
protected:
  void SetUp() override {
    char pattern[] = "/tmp/dpc-external-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    folder = pattern;
    fs::copy(DPC_ONNX_INPUTS "/weights.bin", folder / "weights.bin");
  }
  void TearDown() override { fs::remove_all(folder); }
  void expect(const std::string &name, const std::string &message) {
    fs::copy(inputPath(name), folder / "model.onnx");
    std::string error = Prepared((folder / "model.onnx").string()).error;
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }
  fs::path folder;
};

TEST_F(SpecialFiles, RejectsASymbolicLink) {
  fs::create_symlink("weights.bin", folder / "link.bin");
  expect("bad-external-symlink", "goes through a symbolic link");
}

TEST_F(SpecialFiles, RejectsALinkedFolder) {
  fs::create_directory(folder / "real");
  fs::copy(folder / "weights.bin", folder / "real" / "weights.bin");
  fs::create_directory_symlink("real", folder / "linked");
  expect("bad-external-symlink-folder", "goes through a symbolic link");
}

TEST_F(SpecialFiles, RejectsAHardLink) {
  fs::create_hard_link(folder / "weights.bin", folder / "hard.bin");
  expect("bad-external-hardlink", "has 2 hard links but may have 1");
}

TEST_F(SpecialFiles, RejectsADirectory) {
  fs::create_directory(folder / "folder");
  expect("bad-external-directory", "is not a regular file");
}

TEST_F(SpecialFiles, RejectsAFifoWithoutWaiting) {
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  expect("bad-external-fifo", "is not a regular file");
}

TEST_F(SpecialFiles, ReadsTheModelThroughASymbolicLink) {
  fs::copy(inputPath("external"), folder / "model.onnx");
  fs::create_symlink("model.onnx", folder / "name.onnx");
  EXPECT_EQ(Prepared((folder / "name.onnx").string()).error, "");
}

TEST(MappedFile, NamesAMissingFile) {
  auto file = MappedFile::open("/nonexistent/model.onnx");
  ASSERT_FALSE(bool(file));
  EXPECT_EQ(llvm::toString(file.takeError()), "/nonexistent/model.onnx: No such file or directory");
}

TEST(MappedFile, RejectsADirectory) {
  auto file = MappedFile::open("/tmp");
  ASSERT_FALSE(bool(file));
  EXPECT_EQ(llvm::toString(file.takeError()), "/tmp: not a regular file");
}

} // namespace
