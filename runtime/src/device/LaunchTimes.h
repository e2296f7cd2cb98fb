#ifndef DPC_RUNTIME_SRC_DEVICE_LAUNCHTIMES_H
#define DPC_RUNTIME_SRC_DEVICE_LAUNCHTIMES_H

#include "runtime/src/device/CudaDevice.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace dpc {

/// Measures how long the device takes for each piece of work in its stream, by an event after each.
/// The time of a piece is that from the end of the piece before it to its own end, so it includes
/// the start of a kernel.
///
/// A host that is slower than the device would be measured instead of the device. So the stream
/// waits at the begin of a run until the host has enqueued the whole run.
class LaunchTimes {
public:
  /// A piece of work: a launch of the table, memory that is set to zero, or a wait for a
  /// collective.
  struct Piece {
    enum Kind { launch, zero, wait } kind = launch;
    uint32_t function = 0; ///< launch: of the function table
    uint64_t number = 0;   ///< launch: of the launch table
    uint32_t micro = 0;    ///< launch: the microbatch
    bool isLibrarys = false;
  };

  /// Writes to `path`. `holds`: the stream waits for the host. This is not possible if the host
  /// waits for the stream while it enqueues a run.
  LaunchTimes(const CudaDevice &device, const dpc_program_t &program, std::string path, bool holds)
      : device(device), program(program), path(std::move(path)), holds(holds) {}
  ~LaunchTimes();

  /// Begins a run of an entry.
  dpc_status_t begin(uint32_t entry);
  bool isUnderWay() const { return current != DPC_NONE; }
  /// The piece of work was enqueued.
  dpc_status_t mark(const Piece &piece);
  /// The run was enqueued: the device may begin.
  void end();
  /// Reads the times of the run, if there is one. The device must be done with it.
  dpc_status_t read();
  /// Writes a line of JSON per piece of work: docs/training.md lists the fields.
  dpc_status_t write() const;

private:
  /// A piece of an entry, which has the same pieces in each run, and its time in each counted run.
  struct Timed {
    Piece piece;
    std::vector<double> microseconds;
  };
  struct Entry {
    std::vector<Timed> pieces;
    uint64_t runs = 0;
  };
  static void hold(void *times);
  dpc_status_t record(size_t number);
  std::string format(const char *entry, const Timed &timed) const;

  const CudaDevice &device;
  const dpc_program_t &program;
  const std::string path;
  const bool holds;
  Entry entries[DPC_ENTRY_COUNT];
  uint32_t current = DPC_NONE; ///< the entry that is under way
  size_t count = 0;            ///< its enqueued pieces
  /// Event 0 is recorded at the begin of a run, event i + 1 after its piece i.
  std::vector<cuda::Event> events;
  std::mutex mutex; ///< of isEnqueued
  std::condition_variable changed;
  bool isEnqueued = true;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_LAUNCHTIMES_H
