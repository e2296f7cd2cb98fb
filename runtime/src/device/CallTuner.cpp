// Measures the algorithms of each library call on the device, one after the other,
// and keeps the fastest.

#include "runtime/src/device/CallTuner.h"

#include "runtime/src/device/TunedCalls.h"

#include <algorithm>
#include <cstdio>

namespace dpc {

/// The tuner tries at most kMostChoices algorithms per call, and runs each one
/// kRuns times. The first run does not count, because it loads the code. Of the
/// other runs, the shortest time counts.
static constexpr size_t kMostChoices = 16;
static constexpr int kRuns = 4;

CallTuner::~CallTuner() {
  for (cuda::Event event : {begin, end})
    if (event)
      device.driver.cuEventDestroy_v2(event);
}

dpc_status_t CallTuner::run() {
  std::string name;
  if (dpc_status_t status = device.readName(&name))
    return status;
  TunedCalls known(name, library.getVersion());
  if (dpc_status_t status = known.read(path))
    return status;
  for (cuda::Event *event : {&begin, &end})
    if (dpc_status_t status = device.check(device.driver.cuEventCreate(event, 0),
                                           ("measuring " + std::string(own.kind->plural)).c_str()))
      return status;
  size_t measured = 0, all = 0;
  for (uint32_t number = 0; number < library.size(); ++number) {
    if (!library.isMade(number))
      continue;
    ++all;
    const std::string key = library.getKey(number);
    if (const CallChoice *choice = known.find(key))
      if (library.take(number, *choice) == DPC_OK)
        continue;
    CallChoice fastest;
    double microseconds = 0;
    if (dpc_status_t status = tune(number, &fastest, &microseconds))
      return status;
    if (dpc_status_t status = library.take(number, fastest))
      return status;
    known.add(key, library.describe(number), fastest, microseconds);
    ++measured;
  }
  if (measured == 0) {
    std::fprintf(stderr, "note: --tune: %s has all %zu %s of this program\n", path.c_str(), all,
                 own.kind->plural);
    return DPC_OK;
  }
  std::fprintf(stderr,
               "note: --tune: %zu of %zu %s measured: %.1f us, as %s would choose %.1f us\n",
               measured, all, own.kind->plural, best, own.kind->library, first);
  return known.write(path);
}

dpc_status_t CallTuner::tune(uint32_t number, CallChoice *fastest, double *microseconds) {
  std::vector<CallChoice> choices;
  if (dpc_status_t status = library.findChoices(number, kMostChoices, &choices))
    return status;
  for (const CallChoice &choice : choices) {
    double mine = 0;
    const bool isFirst = &choice == &choices[0];
    dpc_status_t status = library.take(number, choice);
    if (status == DPC_OK)
      status = measure(own.examples[number], &mine);
    if (status && isFirst)
      return status;
    if (status) // the library returned an algorithm that does not run
      continue;
    if (isFirst)
      first += mine;
    if (isFirst || mine < *microseconds) {
      *fastest = choice;
      *microseconds = mine;
    }
  }
  best += *microseconds;
  return DPC_OK;
}

dpc_status_t CallTuner::measure(uint64_t launch, double *microseconds) {
  const cuda::Driver &driver = device.driver;
  const std::string measuring = "measuring a " + std::string(own.kind->name);
  const char *const what = measuring.c_str();
  for (int run = 0; run < kRuns; ++run) {
    float milliseconds = 0;
    if (dpc_status_t status = device.check(driver.cuEventRecord(begin, device.stream), what))
      return status;
    if (dpc_status_t status = perform(launch))
      return status;
    if (dpc_status_t status = device.check(driver.cuEventRecord(end, device.stream), what))
      return status;
    if (dpc_status_t status = device.check(driver.cuEventSynchronize(end), "the device's work"))
      return status;
    if (dpc_status_t status =
            device.check(driver.cuEventElapsedTime(&milliseconds, begin, end), what))
      return status;
    const double mine = 1000.0 * static_cast<double>(milliseconds);
    if (run == 1 || (run > 1 && mine < *microseconds))
      *microseconds = mine;
  }
  return DPC_OK;
}

} // namespace dpc
