// A damaged launch table is refused, with a line that names what is wrong.
#include "runtime/src/program/ProgramCheck.h"
#include "test/runtime/TinyProgram.h"

using namespace dpc;
using namespace dpc::test;

namespace {

const dpc_image_t kImage = {DPC_IMAGE_PTX, 80, "ptx", 4};

struct Damaged {
  Damaged() { tiny.program.device = &device.device; }
  /// The same table for a CUDA device.
  void makeCuda(const dpc_image_t *image) {
    device.device.kind = DPC_DEVICE_CUDA;
    device.kernels[0].image = image;
    device.kernels[0].symbol = "add_one";
    device.launches[1].blocks = 4;
    device.launches[1].threads = 32;
  }
  TinyDevice device;
  TinyProgram tiny;
};

TEST(DeviceCheck, AcceptsASoundTable) {
  Damaged sound;
  EXPECT_EQ(checkProgram(sound.tiny.program, 0), DPC_OK) << dpc_last_error();
  sound.makeCuda(&kImage);
  EXPECT_EQ(checkProgram(sound.tiny.program, 0), DPC_OK) << dpc_last_error();
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
      {"step.0: launch 1: unknown kind 4",
       [](Damaged &d) { d.device.launches[1].kind = DPC_LAUNCH_KIND_COUNT; }},
      {"launch 1: kernel 1 of 1", [](Damaged &d) { d.device.launches[1].kernel = 1; }},
      {"launch 1: kernel 0 has no code", [](Damaged &d) { d.device.kernels[0].code = nullptr; }},
      {"a device of unknown kind 2", [](Damaged &d) { d.device.device.kind = 2; }},
      {"launch 1: kernel 0 has no image",
       [](Damaged &d) { d.device.device.kind = DPC_DEVICE_CUDA; }},
      {"launch 1: kernel 0 has no image",
       [](Damaged &d) {
         static const dpc_image_t endless = {DPC_IMAGE_PTX, 80, "ptx", 3};
         d.makeCuda(&endless);
       }},
      {"launch 1: kernel 0 has no image",
       [](Damaged &d) {
         static const dpc_image_t unknown = {DPC_IMAGE_KIND_COUNT, 80, "ptx", 4};
         d.makeCuda(&unknown);
       }},
      {"launch 1: kernel 0 has no image",
       [](Damaged &d) {
         d.makeCuda(&kImage);
         d.device.kernels[0].symbol = nullptr;
       }},
      {"launch 1: a grid of 0 blocks of 32 threads",
       [](Damaged &d) {
         d.makeCuda(&kImage);
         d.device.launches[1].blocks = 0;
       }},
      {"launch 1: a grid of 4 blocks of 1025 threads",
       [](Damaged &d) {
         d.makeCuda(&kImage);
         d.device.launches[1].threads = 1025;
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
      // Microbatch 3 is the last: 3 x 1398096 + 16 bytes fit, and no more.
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

// The last byte of a space belongs to it, whatever moves a buffer there.
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
