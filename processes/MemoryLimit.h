#ifndef DPC_PROCESSES_MEMORYLIMIT_H
#define DPC_PROCESSES_MEMORYLIMIT_H

#include <cstdint>

namespace dpc {

/// Keeps a tool within the memory that the machine has. The kernel hands out
/// more than there is, and kills a process once it uses it: no message says
/// then what took the memory.
class MemoryLimit {
public:
  /// From here on, memory beyond what the machine can give is refused: what it
  /// has available, or the process's control groups allow. A limit that is lower
  /// already stays. Nothing happens where a sanitizer counts its shadow memory.
  static void set();

  /// In a child between fork and exec: the limit from before set().
  static void lift();

  /// The bytes that the process may have, by set() or by the limits it was started
  /// with; 0 if there is no limit. It asks for no memory.
  static uint64_t bytes();
};

} // namespace dpc

#endif // DPC_PROCESSES_MEMORYLIMIT_H
