#ifndef DPC_PROCESSES_MEMORYLIMIT_H
#define DPC_PROCESSES_MEMORYLIMIT_H

#include <cstdint>

namespace dpc {

/// Keeps a tool within the memory of the machine. Without a limit, the kernel
/// grants more memory than exists and kills the process when it uses that
/// memory; then no message names the part of the work that needed it.
class MemoryLimit {
public:
  /// Limits this process to the memory that the machine has available, or to
  /// less if the control groups of the process allow less. Further allocations
  /// then fail. A lower limit that already exists is kept. Does nothing under a
  /// sanitizer, whose shadow memory would count.
  static void set();

  /// Restores the limit from before set(). For a child process between fork and
  /// exec.
  static void lift();

  /// The number of bytes that the process may allocate, by set() or by the
  /// limits with which it was started; 0 if there is no limit. Allocates no
  /// memory.
  static uint64_t bytes();
};

} // namespace dpc

#endif // DPC_PROCESSES_MEMORYLIMIT_H
