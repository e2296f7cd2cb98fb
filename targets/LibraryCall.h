#ifndef DPC_TARGETS_LIBRARYCALL_H
#define DPC_TARGETS_LIBRARYCALL_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dpc {

/// A library call (dpc/calls.h) that may compute the results of a launch instead of the
/// launch's function.
struct LibraryCall {
  /// A part of one of a kernel's buffers.
  struct Buffer {
    unsigned buffer = 0;
    /// Distance in bytes from the start of the buffer.
    int64_t offset = 0;
    /// Most bytes that the library may use. If absent, all bytes after `offset`.
    std::optional<int64_t> bytes = std::nullopt;
  };

  /// DPC_CALL_*.
  uint32_t kind = 0;
  /// The bytes of the kind's C struct.
  std::string description;
  /// The buffers of the call, in the order that the kind defines.
  llvm::SmallVector<Buffer> buffers;
};

} // namespace dpc

#endif // DPC_TARGETS_LIBRARYCALL_H
