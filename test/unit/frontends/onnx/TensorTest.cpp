// Elements of ONNX tensors of every type and encoding.

#include "Inputs.h"

using namespace dpc::onnx;

namespace {

TEST(Tensor, ReadsTypedData) {
  Prepared prepared(inputPath("typed-data"));
  ASSERT_EQ(prepared.error, "");
  EXPECT_EQ(prepared.graph.initializers[0].tensor.as<float>(), llvm::ArrayRef<float>({1, 2, 3, 4}));
}

TEST(Tensor, RejectsEachBadTensor) {
  for (const BadInput &input : std::initializer_list<BadInput>{
           {"bad-raw-size", "raw_data has 15 bytes but its shape and type need 16"},
           {"bad-count", "has 3 elements but its shape needs 4"},
           {"bad-raw-and-typed", "has both raw_data and float_data"},
           {"bad-two-typed", "has both float_data and int64_data"},
           {"bad-wrong-field", "element type is FLOAT but the elements are in int64_data"},
           {"bad-negative-dim", "dimension -4 is negative"},
           {"bad-overflow", "the number of elements overflows"},
           {"bad-byte-overflow", "the number of bytes overflows"},
           {"bad-rank", "rank 65 is above 64"},
           {"bad-data-type", "unknown data type 77"},
           {"bad-string", "element type STRING is not supported"},
           {"bad-float8", "element type FLOAT8E4M3FN is not supported"},
           {"bad-narrow", "an element does not fit INT8"}})
    expectError(input);
}

dpc::onnxpb::TensorProto scalar(int32_t type, int32_t bits) {
  dpc::onnxpb::TensorProto proto;
  proto.set_data_type(type);
  proto.add_int32_data(bits);
  return proto;
}

TEST(Tensor, ConvertsNarrowTypes) {
  ExternalFiles files{""};
  auto half = readTensor(scalar(dpc::onnxpb::TensorProto::FLOAT16, 0x3e00), nullptr, files, "h");
  auto brain = readTensor(scalar(dpc::onnxpb::TensorProto::BFLOAT16, 0x3fc0), nullptr, files, "b");
  auto small = readTensor(scalar(dpc::onnxpb::TensorProto::INT8, -3), nullptr, files, "i");
  ASSERT_TRUE(half && brain && small);
  EXPECT_EQ(half->asDouble(0), 1.5);
  EXPECT_EQ(brain->asDouble(0), 1.5);
  EXPECT_EQ(small->asInt(0), -3);
}

TEST(Tensor, RejectsABoolThatIsNeither) {
  ExternalFiles files{""};
  auto tensor = readTensor(scalar(dpc::onnxpb::TensorProto::BOOL, 2), nullptr, files, "flag");
  ASSERT_FALSE(bool(tensor));
  EXPECT_EQ(llvm::toString(tensor.takeError()), "flag: a BOOL element is 2 but must be 0 or 1");
}

TEST(Tensor, CountsElements) {
  auto count = [](llvm::ArrayRef<int64_t> shape) -> int64_t {
    auto elements = checkedNumElements(shape, 4, "t");
    if (elements)
      return *elements;
    llvm::consumeError(elements.takeError());
    return -1;
  };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({3, 0, 5}), 0);
  EXPECT_EQ(count({int64_t(1) << 62, 0}),
            -1); // the other extents alone overflow
  EXPECT_EQ(count({2, 3}), 6);
}

} // namespace
