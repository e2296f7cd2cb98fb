// Counts what happened, for tests that ask how often: with DPC_EMU_COUNT=FILE the
// process appends a line `PID NAME NUMBER` for each name when it ends. LaunchReport.cpp appends the
// lines of launches.
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Api.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

namespace {
struct Counters {
  std::mutex mutex;
  std::map<std::string, uint64_t> numbers;
  const std::string &file = dpc::emulator::Options::get().countFile;
};
} // namespace

static Counters &counters() {
  static Counters *all = new Counters;
  return *all;
}

static void write() {
  FILE *file = std::fopen(counters().file.c_str(), "a");
  if (!file)
    return;
  std::lock_guard<std::mutex> lock(counters().mutex);
  for (const auto &[name, number] : counters().numbers)
    std::fprintf(file, "%d %s %llu\n", getpid(), name.c_str(),
                 static_cast<unsigned long long>(number));
  std::fclose(file);
}

void dpc::cuda::dpcEmulatorCount(const char *what) {
  Counters &all = counters();
  if (all.file.empty())
    return;
  static const bool registered = [] { return std::atexit(write) == 0; }();
  (void)registered;
  std::lock_guard<std::mutex> lock(all.mutex);
  ++all.numbers[what];
}
