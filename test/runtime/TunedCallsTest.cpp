// Tests the file of measured library calls. Entries that are written can be read again, each
// only for its device and library version. A damaged file is refused with the number of the
// damaged line.

#include "runtime/src/device/TunedCalls.h"

#include "dpc/convolution.h"
#include "dpc/product.h"
#include "dpc/status.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/device/CallKind.h"
#include "test/runtime/ForkRanks.h"
#include "gtest/gtest.h"

#include <fstream>
#include <sstream>

using namespace dpc;
using dpc::test::TemporaryDirectory;

namespace {

class TunedCallsTest : public testing::Test {
protected:
  TunedCallsTest() {
    product.dtype = product.result_dtype = DPC_F32;
    product.batches = 1;
    product.rows = 96;
    product.columns = 32;
    product.depth = 64;
    wanted.description = &product;
    wanted.buffers.resize(4);
    wanted.buffers[DPC_PRODUCT_WORKSPACE].bytes = 4096;
    choice.algorithm.assign(64, '\0');
    choice.algorithm[0] = '\x12';
    choice.algorithm[63] = '\7';
    add();
  }

  /// Sets `key` and `words` to the key and the description of `wanted`.
  void add() {
    const uint32_t number = products->add(wanted);
    key = products->getKey(number);
    words = products->describe(number);
  }

  std::string read() const {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string &text) const { std::ofstream(path) << text; }
  /// The message with which `read` refuses the file; "" if it accepts the file.
  std::string refusal() const {
    TunedCalls tuned("H200", 130000);
    return tuned.read(path) ? dpc_last_error() : "";
  }

  TemporaryDirectory directory;
  const std::string path = directory.path + "/tuned";
  const std::unique_ptr<LibraryCalls> products = kProductCalls.make();
  dpc_product_t product = {};
  WantedCall wanted;
  std::string key, words;
  CallChoice choice;
};

TEST_F(TunedCallsTest, ComesBackAsItWas) {
  TunedCalls tuned("H200", 130000);
  ASSERT_EQ(tuned.read(path), DPC_OK); // the file does not exist yet
  EXPECT_EQ(tuned.find(key), nullptr);
  tuned.add(key, words, choice, 12.34);
  ASSERT_EQ(tuned.write(path), DPC_OK);
  EXPECT_NE(read().find("H200\t130000\t96x64 64x32 f32\t"), std::string::npos) << read();
  EXPECT_NE(read().find("\t12.3\n"), std::string::npos) << read();

  TunedCalls again("H200", 130000);
  ASSERT_EQ(again.read(path), DPC_OK);
  const CallChoice *found = again.find(key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->algorithm, choice.algorithm);
  // A product that differs only in the alignment of a buffer has another key.
  wanted.buffers[0].alignment = 16;
  add();
  EXPECT_EQ(again.find(key), nullptr);
}

TEST_F(TunedCallsTest, DevicesAndVersionsAreApart) {
  TunedCalls tuned("H200", 130000);
  tuned.add(key, words, choice, 1);
  ASSERT_EQ(tuned.write(path), DPC_OK);
  TunedCalls newer("H200", 130100), other("A100", 130000);
  ASSERT_EQ(newer.read(path), DPC_OK);
  EXPECT_EQ(newer.find(key), nullptr);
  ASSERT_EQ(other.read(path), DPC_OK);
  EXPECT_EQ(other.find(key), nullptr);
  // The entries of other devices remain in the file.
  other.add(key, words, choice, 2);
  ASSERT_EQ(other.write(path), DPC_OK);
  TunedCalls again("H200", 130000);
  ASSERT_EQ(again.read(path), DPC_OK);
  EXPECT_NE(again.find(key), nullptr);
}

// The line is one that the first versions of dpc wrote. Its key has the fields of
// dpc_product_t, the alignments of the buffers (0 for the workspace) and the bytes of the
// workspace.
TEST_F(TunedCallsTest, ReadsFilesOfEarlierVersions) {
  product.a = {64, 0, 0, 0};
  product.b = {64, 0, 1, 0};
  product.d = {32, 0, 0, 0};
  product.epilogue = DPC_EPILOGUE_BIAS;
  wanted.buffers = {{256, 24576}, {64, 8192}, {256, 12288}, {256, 4096}, {4, 128}};
  add();
  auto number = [](uint64_t value) {
    std::string text = toHex(&value, sizeof value);
    return text;
  };
  const std::string fields = "0200000000000000"
                             "0200000000000000" +
                             number(1) + number(96) + number(32) + number(64) + number(64) +
                             number(0) + number(0) + number(64) + number(0) + number(1) +
                             number(32) + number(0) + number(0) + number(256) + number(64) +
                             number(256) + number(0) + number(4) + number(4096);
  write("dpc products 1\nH200\t130000\t96x64 64x32t f32\t" + fields + "\t" +
        toHex(choice.algorithm.data(), choice.algorithm.size()) + "\t12.3\n");
  TunedCalls tuned("H200", 130000);
  ASSERT_EQ(tuned.read(path), DPC_OK) << dpc_last_error();
  ASSERT_NE(tuned.find(key), nullptr) << key << "\n" << fields;
  EXPECT_EQ(tuned.find(key)->algorithm, choice.algorithm);
  EXPECT_EQ(words, "96x64 64x32t f32");
  product.dtype = DPC_BF16;
  add();
  EXPECT_EQ(words, "96x64 64x32t bf16 to f32");
  product.result_dtype = DPC_BF16;
  add();
  EXPECT_EQ(words, "96x64 64x32t bf16");
}

// Plans of convolutions are texts of any length. The key of one kind of calls with the algorithm of
// another one is no entry.
TEST_F(TunedCallsTest, KindsAreApart) {
  dpc_convolution_t convolution = {};
  convolution.dtype = DPC_BF16;
  convolution.spatial = 2;
  WantedCall call;
  call.description = &convolution;
  call.buffers.resize(DPC_CONVOLUTION_BUFFERS);
  const std::unique_ptr<LibraryCalls> convolutions = kConvolutionCalls.make();
  const std::string other = convolutions->getKey(convolutions->add(call));
  const CallChoice plan = {"{\"engine\": 62, \"version\": 91900}"};
  TunedCalls tuned("H200", 130000);
  tuned.add(key, words, choice, 1);
  tuned.add(other, convolutions->describe(0), plan, 2);
  ASSERT_EQ(tuned.write(path), DPC_OK);
  TunedCalls again("H200", 130000);
  ASSERT_EQ(again.read(path), DPC_OK) << dpc_last_error();
  ASSERT_NE(again.find(other), nullptr);
  EXPECT_EQ(again.find(other)->algorithm, plan.algorithm);
  EXPECT_EQ(again.find(key)->algorithm, choice.algorithm);
  for (const auto &[first, second] : {std::pair(key, plan), std::pair(other, choice)}) {
    TunedCalls mixed("H200", 130000);
    mixed.add(first, "words", second, 1);
    ASSERT_EQ(mixed.write(path), DPC_OK);
    EXPECT_EQ(refusal(), path + ": line 2 is no product or convolution with its algorithm");
  }
}

// Damages each field of a line, one after the other.
TEST_F(TunedCallsTest, DamagedFiles) {
  TunedCalls tuned("H200", 130000);
  tuned.add(key, words, choice, 1);
  ASSERT_EQ(tuned.write(path), DPC_OK);
  const std::string sound = read(), line = sound.substr(sound.find('\n') + 1);
  EXPECT_EQ(refusal(), "");
  write("");
  EXPECT_EQ(refusal(), path + ": line 1 is not \"dpc products 1\"");
  write("PK\x03\x04");
  EXPECT_EQ(refusal(), path + ": line 1 is not \"dpc products 1\"");
  // The message may go on with the names of other kinds, so compare only its beginning.
  const std::string wrong = path + ": line 3 is no product ";
  auto refusedLine = [&] { return refusal().substr(0, wrong.size()); };
  for (size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', tab + 1)) {
    write(sound + line.substr(0, tab) + "\n");
    EXPECT_EQ(refusedLine(), wrong) << line.substr(0, tab);
  }
  const size_t inProduct = line.find("f32\t") + 6, inAlgorithm = line.rfind('\t') - 3;
  for (size_t at : {inProduct, inAlgorithm}) {
    std::string damaged = line;
    damaged[at] = 'x';
    write(sound + damaged);
    EXPECT_EQ(refusedLine(), wrong) << damaged;
    damaged = line;
    damaged.erase(at, 1);
    write(sound + damaged);
    EXPECT_EQ(refusedLine(), wrong) << damaged;
  }
  write(sound + "\n");
  EXPECT_EQ(refusedLine(), wrong);
}

TEST_F(TunedCallsTest, FilesThatCannotBe) {
  TunedCalls tuned("H200", 130000);
  EXPECT_EQ(tuned.write(directory.path + "/none/tuned"), DPC_IO);
  EXPECT_NE(std::string(dpc_last_error()).find(directory.path + "/none"), std::string::npos);
}

} // namespace
