// Bytes of sound and damaged files, before protobuf parses them.

#include "frontends/onnx/Model/WireScan.h"

#include "Inputs.h"

#include <google/protobuf/stubs/logging.h>

using namespace dpc::onnx;

namespace {

std::string scan(llvm::StringRef bytes) { return llvm::toString(scanModelBytes(bytes)); }

std::string bytesOf(const std::string &name) {
  auto file = MappedFile::open(inputPath(name));
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return {};
  }
  return std::string((*file)->bytes().begin(), (*file)->bytes().end());
}

TEST(WireScan, AcceptsAModel) { EXPECT_EQ(scan(bytesOf("relu")), ""); }

TEST(WireScan, RejectsEachBadFile) {
  for (const BadInput &input : std::initializer_list<BadInput>{
           {"bad-empty", "the file is empty"},
           {"bad-truncated", "truncated file?"},
           {"bad-trailing", "does not belong to ModelProto"},
           {"bad-concatenated", "field 'ir_version' of ModelProto is given "
                                "twice (two models in one file?)"},
           {"bad-text", "the file is text"},
           {"bad-unknown-field", "field 15 does not belong to ModelProto"},
           {"bad-nul-in-name", "field 'name' of NodeProto holds a NUL"},
           {"bad-utf8", "not valid UTF-8"},
           {"bad-two-raw-data", "field 'raw_data' of TensorProto is given twice"},
           {"bad-nesting", "nested more than 100 deep"}})
    expectError(input);
}

/// Every proper prefix of a model is an error or, at a field's end, a shorter
/// message: never a crash.
TEST(WireScan, SurvivesEveryPrefix) {
  std::string bytes = bytesOf("functions");
  for (size_t length = 0; length < bytes.size(); ++length)
    (void)scan(llvm::StringRef(bytes).take_front(length));
}

/// Every single corrupted bit is survived, by the scan and, where it lets the
/// file pass, by what follows.
TEST(WireScan, SurvivesEveryFlippedByte) {
  std::string bytes = bytesOf("relu");
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[at] ^= char(1 << bit);
      if (!scan(flipped).empty())
        continue;
      google::protobuf::LogSilencer silence;
      dpc::onnxpb::ModelProto proto;
      if (proto.ParseFromString(flipped))
        llvm::consumeError(checkModel(proto));
    }
}

TEST(WireScan, RejectsALongNumber) {
  EXPECT_NE(scan(std::string("\x08") + std::string(11, '\xff')).find("longer than 64 bits"),
            std::string::npos);
}

TEST(WireScan, RejectsAWrongWireType) {
  EXPECT_NE(scan(std::string("\x0a\x01\x01", 3)).find("has wire type 2 but must have 0"),
            std::string::npos);
}

} // namespace
