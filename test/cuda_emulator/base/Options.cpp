// Reads the environment, and ends the process where nothing else helps.
#include "test/cuda_emulator/base/Options.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

using namespace dpc::emulator;

static const char *read(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? value : nullptr;
}

[[noreturn]] static void refuse(const char *name, const char *value, const char *allowed) {
  std::fprintf(stderr, "cuda emulator: %s is '%s', not %s\n", name, value, allowed);
  _exit(97);
}

static unsigned number(const char *name, unsigned otherwise) {
  const char *value = read(name);
  if (!value)
    return otherwise;
  char *end = nullptr;
  unsigned long parsed = std::strtoul(value, &end, 10);
  if (*end || parsed > 1u << 30)
    refuse(name, value, "a number");
  return static_cast<unsigned>(parsed);
}

template <size_t count>
static int choice(const char *name, const char *const (&names)[count], const char *allowed) {
  const char *value = read(name);
  if (!value)
    return 0;
  for (size_t i = 0; i < count; ++i)
    if (!std::strcmp(value, names[i]))
      return static_cast<int>(i);
  refuse(name, value, allowed);
}

/// NUMBER:TIMES, if it is set: else no number at all.
static void readFailure(const char *name, int &number, uint64_t &times) {
  number = -1;
  times = 0;
  unsigned at = 0;
  const char *failure = read(name);
  if (failure && std::sscanf(failure, "%d:%u", &number, &at) != 2)
    refuse(name, failure, "NUMBER:NUMBER");
  times = at;
}

static Options fromEnvironment() {
  Options options;
  options.check = number("DPC_EMU_CHECK", 0) != 0;
  options.threadOrder = ThreadOrder(
      choice("DPC_EMU_ORDER", {"forward", "reverse", "random"}, "forward, reverse or random"));
  options.seed = number("DPC_EMU_SEED", 1);
  options.streamOrder =
      StreamOrder(choice("DPC_EMU_STREAM", {"async", "eager", "lazy", "lazy-newest"},
                         "async, eager, lazy or lazy-newest"));
  options.jitterMicros = number("DPC_EMU_JITTER_US", 0);
  options.droppedEvent = number("DPC_EMU_DROP_EVENT", 0);
  options.kernelMicros = number("DPC_EMU_KERNEL_US", 0);
  options.graceMillis = number("DPC_EMU_GRACE_MS", 500);
  options.devices = number("DPC_EMU_DEVICES", 8);
  options.multiprocessors = number("DPC_EMU_MULTIPROCESSORS", 4);
  options.capability = number("DPC_EMU_SM", 80);
  options.memoryMegabytes = number("DPC_EMU_MEMORY_MB", 4096);
  options.threads = number("DPC_EMU_THREADS", std::max(1u, std::thread::hardware_concurrency()));
  options.blocks = number("DPC_EMU_BLOCKS", 0);
  options.ncclSeconds = number("DPC_EMU_NCCL_TIMEOUT_S", 120);
  options.ncclKnown = number("DPC_EMU_NCCL_KNOWN", 0) != 0;
  readFailure("DPC_EMU_NCCL_FAIL", options.ncclFailRank, options.ncclFailAt);
  readFailure("DPC_EMU_KERNEL_FAIL", options.kernelFailDevice, options.kernelFailAt);
  options.slowAlgorithm = read("DPC_EMU_LT_SLOW") ? int(number("DPC_EMU_LT_SLOW", 0)) : -1;
  options.slowSetting = read("DPC_EMU_DNN_SLOW") ? int(number("DPC_EMU_DNN_SLOW", 0)) : -1;
  if (const char *folder = read("DPC_EMU_CACHE"))
    options.cacheFolder = folder;
  if (const char *file = read("DPC_EMU_COUNT"))
    options.countFile = file;
  if (const char *file = read("DPC_EMU_DUMP"))
    options.dumpFile = file;
  return options;
}

const Options &Options::get() {
  static const Options options = fromEnvironment();
  return options;
}

std::string (*dpc::emulator::describeFailure)() = nullptr;

void dpc::emulator::fail(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::string where = describeFailure ? describeFailure() : "";
  std::fprintf(stderr, "cuda emulator: %s%s\n", text, where.c_str());
  _exit(97);
}
