// What is kept of measured products: it comes back as it was, apart for each
// device, and a damaged file is refused by its line.

#include "runtime/src/device/TunedProducts.h"

#include "dpc/status.h"
#include "test/runtime/ForkRanks.h"
#include "gtest/gtest.h"

#include <cstring>
#include <fstream>
#include <sstream>

using namespace dpc;
using dpc::test::TemporaryDirectory;

namespace {

class TunedProductsTest : public testing::Test {
protected:
  TunedProductsTest() {
    product.product.dtype = DPC_F32;
    product.product.batches = 1;
    product.product.rows = 96;
    product.product.columns = 32;
    product.product.depth = 64;
    product.workspaceBytes = 4096;
    algorithm.data[0] = 0x123456789abcdef0;
    algorithm.data[7] = 7;
  }

  std::string read() const {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string &text) const { std::ofstream(path) << text; }
  /// The message with which the file is refused; "" if it is not.
  std::string refusal() const {
    TunedProducts tuned("H200", 130000);
    return tuned.read(path) ? dpc_last_error() : "";
  }

  TemporaryDirectory directory;
  const std::string path = directory.path + "/tuned";
  LibraryProducts::Wanted product;
  cuda::MatmulAlgorithm algorithm = {};
};

TEST_F(TunedProductsTest, ComesBackAsItWas) {
  TunedProducts tuned("H200", 130000);
  ASSERT_EQ(tuned.read(path), DPC_OK); // is not there
  EXPECT_EQ(tuned.find(product), nullptr);
  tuned.add(product, algorithm, 12.34);
  ASSERT_EQ(tuned.write(path), DPC_OK);
  EXPECT_NE(read().find("H200\t130000\t96x64 64x32 f32\t"), std::string::npos) << read();
  EXPECT_NE(read().find("\t12.3\n"), std::string::npos) << read();

  TunedProducts again("H200", 130000);
  ASSERT_EQ(again.read(path), DPC_OK);
  const cuda::MatmulAlgorithm *found = again.find(product);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::memcmp(found, &algorithm, sizeof algorithm), 0);
  // Another product, be it one that lies otherwise alone.
  product.alignments[0] = 16;
  EXPECT_EQ(again.find(product), nullptr);
}

TEST_F(TunedProductsTest, DevicesAndVersionsAreApart) {
  TunedProducts tuned("H200", 130000);
  tuned.add(product, algorithm, 1);
  ASSERT_EQ(tuned.write(path), DPC_OK);
  TunedProducts newer("H200", 130100), other("A100", 130000);
  ASSERT_EQ(newer.read(path), DPC_OK);
  EXPECT_EQ(newer.find(product), nullptr);
  ASSERT_EQ(other.read(path), DPC_OK);
  EXPECT_EQ(other.find(product), nullptr);
  // What others have measured stays.
  other.add(product, algorithm, 2);
  ASSERT_EQ(other.write(path), DPC_OK);
  TunedProducts again("H200", 130000);
  ASSERT_EQ(again.read(path), DPC_OK);
  EXPECT_NE(again.find(product), nullptr);
}

// Each field of a line, one after the other.
TEST_F(TunedProductsTest, DamagedFiles) {
  TunedProducts tuned("H200", 130000);
  tuned.add(product, algorithm, 1);
  ASSERT_EQ(tuned.write(path), DPC_OK);
  const std::string sound = read(), line = sound.substr(sound.find('\n') + 1);
  EXPECT_EQ(refusal(), "");
  write("");
  EXPECT_EQ(refusal(), path + ": line 1 is not \"dpc products 1\"");
  write("PK\x03\x04");
  EXPECT_EQ(refusal(), path + ": line 1 is not \"dpc products 1\"");
  const std::string wrong = path + ": line 3 is no product with its algorithm";
  for (size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', tab + 1)) {
    write(sound + line.substr(0, tab) + "\n");
    EXPECT_EQ(refusal(), wrong) << line.substr(0, tab);
  }
  const size_t inProduct = line.find("f32\t") + 6, inAlgorithm = line.rfind('\t') - 3;
  for (size_t at : {inProduct, inAlgorithm}) {
    std::string damaged = line;
    damaged[at] = 'x';
    write(sound + damaged);
    EXPECT_EQ(refusal(), wrong) << damaged;
    damaged = line;
    damaged.erase(at, 1);
    write(sound + damaged);
    EXPECT_EQ(refusal(), wrong) << damaged;
  }
  write(sound + "\n");
  EXPECT_EQ(refusal(), wrong);
}

TEST_F(TunedProductsTest, FilesThatCannotBe) {
  TunedProducts tuned("H200", 130000);
  EXPECT_EQ(tuned.write(directory.path + "/none/tuned"), DPC_IO);
  EXPECT_NE(std::string(dpc_last_error()).find(directory.path + "/none"), std::string::npos);
}

} // namespace
