#ifndef DPC_PROCESSES_MEMORYLIMIT_H
#define DPC_PROCESSES_MEMORYLIMIT_H

#include <cstdint>

namespace dpc {

/// Keeps a tool within the memory of the machine. Linux grants more memory than
/// the machine has, and kills the process when it uses that memory. The process
/// could then not say which part of its work needed the memory. With a limit,
/// the allocation fails instead, and the tool can report it.
class MemoryLimit {
public:
  /// Limits this process to 15/16 of the memory that the machine has available, or of the memory
  /// that the control groups of the process allow if this is less. The rest is for memory that the
  /// limit does not count, such as stacks. An allocation beyond the limit fails. If the process
  /// already has a lower limit, keeps it. Does nothing under a sanitizer, because the limit would
  /// count the sanitizer's shadow memory too.
  static void set();

  /// Restores the limit that was in force before set(). A child process calls
  /// it between fork and exec, so that the new program does not inherit the
  /// limit of this tool.
  static void lift();

  /// Returns the number of bytes that the process may allocate; 0 if there is
  /// no limit. The limit comes from set(), or the process was started with it.
  /// Allocates no memory.
  static uint64_t bytes();
};

} // namespace dpc

#endif // DPC_PROCESSES_MEMORYLIMIT_H
