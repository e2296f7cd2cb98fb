// Measures the algorithms of each product on the device, one after the other, and
// keeps the fastest.

#include "runtime/src/device/ProductTuner.h"

#include "runtime/src/device/TunedProducts.h"

#include <algorithm>
#include <cstdio>

namespace dpc {

/// The tuner tries at most kMostChoices algorithms per product, and runs each one
/// kRuns times. The first run does not count, because it loads the code. Of the
/// other runs, the shortest time counts.
static constexpr size_t kMostChoices = 16;
static constexpr int kRuns = 4;

ProductTuner::~ProductTuner() {
  for (cuda::Event event : {begin, end})
    if (event)
      device.driver.cuEventDestroy_v2(event);
}

dpc_status_t ProductTuner::run() {
  LibraryProducts &library = products.getLibrary();
  std::string name;
  if (dpc_status_t status = device.readName(&name))
    return status;
  TunedProducts known(name, library.getVersion());
  if (dpc_status_t status = known.read(path))
    return status;
  for (cuda::Event *event : {&begin, &end})
    if (dpc_status_t status =
            device.check(device.driver.cuEventCreate(event, 0), "measuring products"))
      return status;
  size_t measured = 0;
  const std::vector<uint64_t> launches = products.getExamples();
  for (uint64_t launch : launches) {
    const uint32_t number = products.numberOf(launch);
    const LibraryProducts::Wanted &wanted = library.getWanted(number);
    if (const cuda::MatmulAlgorithm *algorithm = known.find(wanted))
      if (library.take(number, {*algorithm, 1, 0}) == DPC_OK)
        continue;
    LibraryProducts::Choice fastest;
    double microseconds = 0;
    if (dpc_status_t status = tune(launch, &fastest, &microseconds))
      return status;
    if (dpc_status_t status = library.take(number, fastest))
      return status;
    known.add(wanted, fastest.algorithm, microseconds);
    ++measured;
  }
  if (measured == 0) {
    std::fprintf(stderr, "note: --tune: %s has all %zu products of this program\n", path.c_str(),
                 launches.size());
    return DPC_OK;
  }
  std::fprintf(stderr,
               "note: --tune: %zu of %zu products measured: %.1f us, as cuBLASLt would choose "
               "%.1f us\n",
               measured, launches.size(), best, first);
  return known.write(path);
}

dpc_status_t ProductTuner::tune(uint64_t launch, LibraryProducts::Choice *fastest,
                                double *microseconds) {
  LibraryProducts &library = products.getLibrary();
  const uint32_t number = products.numberOf(launch);
  std::vector<LibraryProducts::Choice> choices;
  if (dpc_status_t status = library.findChoices(number, kMostChoices, &choices))
    return status;
  for (const LibraryProducts::Choice &choice : choices) {
    double mine = 0;
    const bool isFirst = &choice == &choices[0];
    dpc_status_t status = library.take(number, choice);
    if (status == DPC_OK)
      status = measure(launch, &mine);
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

dpc_status_t ProductTuner::measure(uint64_t launch, double *microseconds) {
  const cuda::Driver &driver = device.driver;
  const char *const what = "measuring a product";
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
