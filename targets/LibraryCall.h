#ifndef DPC_TARGETS_LIBRARYCALL_H
#define DPC_TARGETS_LIBRARYCALL_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dpc {

/// A library call (dpc/calls.h). If the machine has the library, the call computes the
/// results of a launch instead of the launch's function.
struct LibraryCall {
  /// A buffer of the call: a part of one of the kernel's buffers.
  struct Buffer {
    /// The number of the kernel's buffer (Target::emitKernel).
    unsigned buffer = 0;
    /// Distance in bytes from the start of the kernel's buffer to the start of the part.
    int64_t offset = 0;
    /// The number of bytes that the library may use. If absent, it may use all bytes
    /// after `offset`.
    std::optional<int64_t> bytes = std::nullopt;
  };

  /// The kind of the call, DPC_CALL_*.
  uint32_t kind = 0;
  /// The bytes of the C struct that the kind defines, e.g. of a dpc_product_t.
  std::string description;
  /// The buffers of the call, in the order that the kind defines.
  llvm::SmallVector<Buffer> buffers;
};

} // namespace dpc

#endif // DPC_TARGETS_LIBRARYCALL_H
