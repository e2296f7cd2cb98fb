// Measures the device's time for each launch of a step, for --profile.

#include "runtime/src/device/LaunchTimes.h"

#include "dpc/device.h"
#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace dpc {

/// So many runs of an entry count. More would only need memory.
static constexpr size_t kMostRuns = 100;
/// The stream does not wait longer for the host. The driver lets a host enqueue only some thousand
/// launches, and blocks it until the device has done some of them.
static constexpr std::chrono::milliseconds kLongestHold(50);

LaunchTimes::~LaunchTimes() {
  for (cuda::Event event : events)
    device.driver.cuEventDestroy_v2(event);
}

/// Runs in a thread of the driver, and keeps the stream from going on.
void LaunchTimes::hold(void *times) {
  auto &own = *static_cast<LaunchTimes *>(times);
  std::unique_lock<std::mutex> lock(own.mutex);
  own.changed.wait_for(lock, kLongestHold, [&] { return own.isEnqueued; });
}

dpc_status_t LaunchTimes::record(size_t number) {
  while (events.size() <= number) {
    cuda::Event event = nullptr;
    if (dpc_status_t status = device.check(device.driver.cuEventCreate(&event, 0), "an event"))
      return status;
    events.push_back(event);
  }
  return device.check(device.driver.cuEventRecord(events[number], device.stream), "an event");
}

dpc_status_t LaunchTimes::begin(uint32_t entry) {
  current = entry;
  count = 0;
  if (holds) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isEnqueued = false;
    }
    if (dpc_status_t status = device.check(
            device.driver.cuLaunchHostFunc(device.stream, hold, this), "holding the device"))
      return status;
  }
  return record(0);
}

dpc_status_t LaunchTimes::mark(const Piece &piece) {
  std::vector<Timed> &pieces = entries[current].pieces;
  if (count == pieces.size())
    pieces.push_back({piece, {}});
  return record(++count);
}

void LaunchTimes::end() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isEnqueued = true;
  }
  changed.notify_one();
}

dpc_status_t LaunchTimes::read() {
  if (current == DPC_NONE)
    return DPC_OK;
  Entry &entry = entries[current];
  current = DPC_NONE;
  ++entry.runs;
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> &times = entry.pieces[i].microseconds;
    // In the first run, the driver loads code.
    if (entry.runs == 2)
      times.clear();
    float milliseconds = 0;
    if (dpc_status_t status =
            device.check(device.driver.cuEventElapsedTime(&milliseconds, events[i], events[i + 1]),
                         "measuring a launch"))
      return status;
    if (times.size() < kMostRuns)
      times.push_back(1000.0 * static_cast<double>(milliseconds));
  }
  return DPC_OK;
}

std::string LaunchTimes::format(const char *entry, const Timed &timed) const {
  const Piece &piece = timed.piece;
  nlohmann::ordered_json line = {{"entry", entry}};
  if (piece.kind == Piece::launch) {
    const dpc_device_program_t &tables = *program.device;
    const dpc_launch_t &launch = tables.launches[piece.number];
    line["function"] = program.functions[piece.function].name;
    line["number"] = piece.number - tables.functions[piece.function].first;
    line["micro"] = piece.micro;
    line["kind"] = launch.kind == DPC_LAUNCH_COPY   ? "copy"
                   : launch.kind == DPC_LAUNCH_FILL ? "fill"
                   : piece.isLibrarys               ? "library"
                                                    : "kernel";
    if (launch.kernel != DPC_NONE)
      line["name"] = tables.kernels[launch.kernel].name;
  } else {
    line["kind"] = piece.kind == Piece::zero ? "zero" : "wait";
  }
  std::vector<double> sorted = timed.microseconds;
  std::sort(sorted.begin(), sorted.end());
  line["runs"] = sorted.size();
  if (!sorted.empty()) {
    line["us"] = sorted[sorted.size() / 2];
    line["least_us"] = sorted.front();
  }
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

dpc_status_t LaunchTimes::write() const {
  AtomicFile file;
  if (dpc_status_t status = file.create(path))
    return status;
  static const char *const names[DPC_ENTRY_COUNT] = {"step", "eval", "infer"};
  for (uint32_t entry = 0; entry < DPC_ENTRY_COUNT; ++entry)
    for (const Timed &timed : entries[entry].pieces) {
      const std::string line = format(names[entry], timed);
      if (dpc_status_t status = file.write(line.data(), line.size()))
        return status;
    }
  return file.commit();
}

} // namespace dpc
