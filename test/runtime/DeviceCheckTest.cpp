// Tests that the runtime refuses damaged launch tables, with one line that names the defect.
#include "dpc/product.h"
#include "runtime/src/program/ProgramCheck.h"
#include "test/runtime/TinyProgram.h"

using namespace dpc;
using namespace dpc::test;

namespace {

const dpc_image_t kImage[] = {{DPC_IMAGE_PTX, 80, "ptx", 4}, {DPC_IMAGE_CUBIN, 90, "elf", 3}, {}};

struct Damaged {
  Damaged() { tiny.program.device = &device.device; }
  /// Changes the tables to those of a CUDA device.
  void makeCuda(const dpc_image_t *image) {
    device.device.kind = DPC_DEVICE_CUDA;
    device.kernels[0].images = image;
    device.kernels[0].symbol = "add_one";
    device.launches[1].blocks = 4;
    device.launches[1].threads = 32;
  }
  /// Changes the second launch to a library call. It computes two products, each of a
  /// matrix of 3 x 4 and a transposed matrix of 4 x 2, and adds a bias to the columns.
  void makeProduct() {
    makeCuda(kImage);
    std::copy(std::begin(device.params), std::end(device.params), params);
    const uint64_t bytes[] = {192, 128, 96, 512, 16};
    for (uint64_t i = 0; i < 5; ++i)
      params[5 + i] = {DPC_SPACE_ARENA, DPC_NONE, 4096 + 1024 * i, 0, 0, bytes[i]};
    product.dtype = product.result_dtype = DPC_F64;
    product.epilogue = DPC_EPILOGUE_BIAS;
    product.batches = 2;
    product.rows = 3;
    product.columns = 2;
    product.depth = 4;
    product.a = {4, 12, 0, 0};
    product.b = {4, 8, 1, 0};
    product.d = {2, 6, 0, 0};
    device.device.params = params;
    device.device.param_count = 10;
    device.device.calls = &call;
    device.device.call_count = 1;
    device.launches[1].kind = DPC_LAUNCH_CALL;
    device.launches[1].first_call_param = 5;
    device.launches[1].call_param_count = 5;
  }
  TinyDevice device;
  TinyProgram tiny;
  dpc_product_t product = {};
  dpc_library_call_t call = {DPC_CALL_PRODUCT, sizeof product, &product};
  dpc_param_t params[10];
};

TEST(DeviceCheck, AcceptsASoundTable) {
  Damaged sound;
  EXPECT_EQ(checkProgram(sound.tiny.program, 0), DPC_OK) << dpc_last_error();
  sound.makeCuda(kImage);
  EXPECT_EQ(checkProgram(sound.tiny.program, 0), DPC_OK) << dpc_last_error();
  sound.makeProduct();
  EXPECT_EQ(checkProgram(sound.tiny.program, 0), DPC_OK) << dpc_last_error();
  sound.product.epilogue = DPC_EPILOGUE_ADD;
  sound.params[9].bytes = 96;
  EXPECT_EQ(checkProgram(sound.tiny.program, 0), DPC_OK) << dpc_last_error();
}

TEST(DeviceCheck, RefusesEveryBrokenProduct) {
  const struct {
    const char *words;
    std::function<void(Damaged &)> breakIt;
  } cases[] = {
      {"step.0: launch 1: library call 1 of 1", [](Damaged &d) { d.device.launches[1].call = 1; }},
      {"a library call of unknown kind 0", [](Damaged &d) { d.call.kind = 0; }},
      {"a library call of unknown kind", [](Damaged &d) { d.call.kind = DPC_CALL_KIND_COUNT; }},
      {"a product has a description of 127 bytes, not 120", [](Damaged &d) { d.call.bytes = 127; }},
      {"a product has a description of 0 bytes, not 120",
       [](Damaged &d) { d.call.description = nullptr; }},
      {"a product has 4 buffers, not 5",
       [](Damaged &d) { d.device.launches[1].call_param_count = 4; }},
      {"a product has 5 buffers, not 4", [](Damaged &d) { d.product.epilogue = 0; }},
      {"launch 1: kernel 1 of 1", [](Damaged &d) { d.device.launches[1].kernel = 1; }},
      {"launch 1: parameters 6 to 6 + 5 of 10",
       [](Damaged &d) { d.device.launches[1].first_call_param = 6; }},
      {"parameters 18446744073709551615",
       [](Damaged &d) { d.device.launches[1].first_call_param = UINT64_MAX; }},
      {"a product of type 6 with", [](Damaged &d) { d.product.dtype = DPC_I32; }},
      {"a product of type 1 with results of type 2",
       [](Damaged &d) { d.product.result_dtype = DPC_F32; }},
      {"a product of type 2 with results of type 1", [](Damaged &d) { d.product.dtype = DPC_F32; }},
      {"a product of type 4 with results of type 3",
       [](Damaged &d) {
         d.product.dtype = DPC_BF16;
         d.product.result_dtype = DPC_F16;
       }},
      {"and epilogue 3, 2 batches of 3 x 2 sums of 4",
       [](Damaged &d) { d.product.epilogue = DPC_EPILOGUE_COUNT; }},
      {"0 batches", [](Damaged &d) { d.product.batches = 0; }},
      {"2 batches of 0 x 2", [](Damaged &d) { d.product.rows = 0; }},
      {"3 x 2147483648 sums", [](Damaged &d) { d.product.columns = 1ull << 31; }},
      {"sums of 0", [](Damaged &d) { d.product.depth = 0; }},
      {"a product of type 2",
       [](Damaged &d) {
         d.product.dtype = d.product.result_dtype = DPC_F32;
         d.product.tf32 = 2;
       }},
      {"a product of type 1", [](Damaged &d) { d.product.tf32 = 1; }}, // of f64
      {"matrix 0 of a product: its buffer (space 2",
       [](Damaged &d) { d.params[5].space = DPC_SPACE_COUNT; }},
      {"matrix 3 of a product: its buffer", [](Damaged &d) { d.params[8].bytes = kArenaBytes; }},
      {"matrix 0 of a product, 3 x 4 with strides of 4 and 12, has a buffer of 191 bytes",
       [](Damaged &d) { d.params[5].bytes = 191; }},
      {"matrix 1 of a product, 4 x 2 with strides of 4 and 8, has a buffer of 127 bytes",
       [](Damaged &d) { d.params[6].bytes = 127; }},
      {"matrix 2 of a product, 3 x 2 with strides of 2 and 6, has a buffer of 95 bytes",
       [](Damaged &d) { d.params[7].bytes = 95; }},
      {"matrix 4 of a product, 1 x 2 with strides of 2 and 0, has a buffer of 15 bytes",
       [](Damaged &d) { d.params[9].bytes = 15; }},
      {"matrix 4 of a product, 3 x 2 with strides of 2 and 6, has a buffer of 16 bytes",
       [](Damaged &d) { d.product.epilogue = DPC_EPILOGUE_ADD; }},
      // Rows that overlap, and strides that are larger than any memory.
      {"strides of 3 and 12", [](Damaged &d) { d.product.a.stride = 3; }},
      {"strides of 3 and 8", [](Damaged &d) { d.product.b.stride = 3; }},
      {"matrix 0 of a product", [](Damaged &d) { d.product.a.stride = 1ull << 63; }},
      {"matrix 2 of a product, 3 x 2", [](Damaged &d) { d.product.d.transposed = 2; }},
      {"matrix 1 of a product", [](Damaged &d) { d.product.b.batch_stride = UINT64_MAX; }},
  };
  for (const auto &broken : cases) {
    Damaged damaged;
    damaged.makeProduct();
    broken.breakIt(damaged);
    EXPECT_EQ(checkProgram(damaged.tiny.program, 0), DPC_INVALID) << broken.words;
    EXPECT_NE(std::string(dpc_last_error()).find(broken.words), std::string::npos)
        << broken.words << ": " << dpc_last_error();
  }
}

TEST(DeviceCheck, RefusesEveryBrokenEntry) {
  const struct {
    const char *words;
    std::function<void(Damaged &)> breakIt;
  } cases[] = {
      {"the device's tables have 8 bytes", [](Damaged &d) { d.device.device.struct_size = 8; }},
      {"step.0 is host code in a program for a device",
       [](Damaged &d) { d.tiny.functions[0].fn = [](dpc_call_t *) -> int32_t { return 0; }; }},
      {"step.0 is without code", [](Damaged &d) { d.tiny.program.device = nullptr; }},
      {"step.1: launches 4 to 4 + 0 of 3", [](Damaged &d) { d.device.functions[1] = {4, 0}; }},
      {"step.0: launches 1 to 1 + 3 of 3", [](Damaged &d) { d.device.functions[0].first = 1; }},
      {"step.0: launch 1: unknown kind 5",
       [](Damaged &d) { d.device.launches[1].kind = DPC_LAUNCH_KIND_COUNT; }},
      {"launch 1: kernel 1 of 1", [](Damaged &d) { d.device.launches[1].kernel = 1; }},
      {"launch 1: kernel 0 has no code", [](Damaged &d) { d.device.kernels[0].code = nullptr; }},
      {"a device of unknown kind 2", [](Damaged &d) { d.device.device.kind = 2; }},
      {"launch 1: kernel 0 has no image",
       [](Damaged &d) { d.device.device.kind = DPC_DEVICE_CUDA; }},
      {"launch 1: kernel 0 has no image",
       [](Damaged &d) {
         static const dpc_image_t none[] = {{}};
         d.makeCuda(none);
       }},
      {"launch 1: kernel 0: image 0 is none",
       [](Damaged &d) {
         static const dpc_image_t endless[] = {{DPC_IMAGE_PTX, 80, "ptx", 3}, {}};
         d.makeCuda(endless);
       }},
      {"launch 1: kernel 0: image 1 is none",
       [](Damaged &d) {
         static const dpc_image_t unknown[] = {
             {DPC_IMAGE_CUBIN, 80, "elf", 3}, {DPC_IMAGE_KIND_COUNT, 80, "ptx", 4}, {}};
         d.makeCuda(unknown);
       }},
      {"launch 1: kernel 0: image 16 is none",
       [](Damaged &d) {
         static std::vector<dpc_image_t> many(DPC_MAX_IMAGES + 2, {DPC_IMAGE_PTX, 80, "ptx", 4});
         many.back() = {};
         d.makeCuda(many.data());
       }},
      {"launch 1: kernel 0 has no image",
       [](Damaged &d) {
         d.makeCuda(kImage);
         d.device.kernels[0].symbol = nullptr;
       }},
      {"launch 1: a grid of 0 blocks of 32 threads",
       [](Damaged &d) {
         d.makeCuda(kImage);
         d.device.launches[1].blocks = 0;
       }},
      {"launch 1: a grid of 4 blocks of 1025 threads",
       [](Damaged &d) {
         d.makeCuda(kImage);
         d.device.launches[1].threads = 1025;
       }},
      {"launch 1: a block has 232449 bytes of shared memory",
       [](Damaged &d) {
         d.makeCuda(kImage);
         d.device.launches[1].shared_bytes = (227 << 10) + 1;
       }},
      {"launch 2: parameters 5 to 5 + 1 of 5",
       [](Damaged &d) { d.device.launches[2].first_param = 5; }},
      {"launch 2: parameters 6 to 6 + 1 of 5",
       [](Damaged &d) { d.device.launches[2].first_param = 6; }},
      {"launch 0: a copy has not two buffers",
       [](Damaged &d) { d.device.launches[0].param_count = 1; }},
      {"launch 0: a copy has not two buffers of one size",
       [](Damaged &d) { d.device.params[1].bytes = 8; }},
      {"launch 2: a fill has not one buffer of 8 bytes",
       [](Damaged &d) { d.device.params[4].bytes = 4; }},
      {"launch 2: a fill has not one buffer",
       [](Damaged &d) { d.device.launches[2].param_count = 0; }},
      {"launch 1: parameter 1: its buffer (space 2",
       [](Damaged &d) { d.device.params[3].space = DPC_SPACE_COUNT; }},
      {"launch 1: parameter 0: its buffer (space 1, offset 241, 16 bytes",
       [](Damaged &d) { d.device.params[2].offset = 241; }},
      {"is outside its space", [](Damaged &d) { d.device.params[3].bytes = kArenaBytes; }},
      {"is outside its space", [](Damaged &d) { d.device.params[3].offset = UINT64_MAX - 8; }},
      // Microbatch 3 is the last. A stride of 1398096 is the largest that fits: the buffer
      // of microbatch 3 then ends at byte 3 x 1398096 + 16.
      {"moved 3 x 1398097", [](Damaged &d) { d.device.params[0].micro_stride = 1398097; }},
      {"moved 3 x 9223372036854775808",
       [](Damaged &d) { d.device.params[0].micro_stride = 1ull << 63; }},
      {"group family 1 of 1", [](Damaged &d) { d.device.params[1].family = 1; }},
      {"and 1 x 177) is outside its space",
       [](Damaged &d) {
         static const uint32_t members[] = {0, 1};
         d.tiny.family = {"world", 1, 2, members};
         d.device.params[1].index_stride = 177;
       }},
      {"step.0 is computed for microbatches -1 to -1 + 3",
       [](Damaged &d) { d.tiny.actions[1].micro = -1; }},
      {"step.0 is computed for microbatches 0 to 0 + 4294967296",
       [](Damaged &d) { d.tiny.actions[0].count = 1ull + (1ull << 32); }},
  };
  for (const auto &broken : cases) {
    Damaged damaged;
    broken.breakIt(damaged);
    EXPECT_EQ(checkProgram(damaged.tiny.program, 0), DPC_INVALID) << broken.words;
    EXPECT_NE(std::string(dpc_last_error()).find(broken.words), std::string::npos)
        << broken.words << ": " << dpc_last_error();
  }
}

// A buffer may end with the last byte of its space. This holds for its offset and for both
// strides.
TEST(DeviceCheck, AcceptsWhatEndsWithItsSpace) {
  Damaged sound;
  sound.device.params[0].micro_stride = 1398096;
  sound.device.params[2].offset = 240;
  static const uint32_t members[] = {0, 1};
  sound.tiny.family = {"world", 1, 2, members};
  sound.device.params[1].index_stride = 176;
  EXPECT_EQ(checkProgram(sound.tiny.program, 0), DPC_OK) << dpc_last_error();
}

} // namespace
