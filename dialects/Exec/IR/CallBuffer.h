#ifndef DPC_DIALECTS_EXEC_IR_CALLBUFFER_H
#define DPC_DIALECTS_EXEC_IR_CALLBUFFER_H

#include "llvm/ADT/Hashing.h"

#include <cstdint>
#include <optional>

namespace dpc::exec {

/// A buffer of a library call: a part of one of the kernel's buffers. In IR, e.g.
/// `3 at 6400 for 4096`.
struct CallBuffer {
  /// The number of the kernel's buffer. Operands are numbered first, then results, then
  /// scratch memory.
  int64_t buffer = 0;
  /// Distance in bytes from the start of the kernel's buffer to the start of this part.
  int64_t offset = 0;
  /// The number of bytes that the library may use. If absent, it may use all bytes after
  /// `offset`.
  std::optional<int64_t> bytes = std::nullopt;

  bool operator==(const CallBuffer &other) const {
    return buffer == other.buffer && offset == other.offset && bytes == other.bytes;
  }
};

inline llvm::hash_code hash_value(const CallBuffer &buffer) {
  return llvm::hash_combine(buffer.buffer, buffer.offset, buffer.bytes.value_or(-1));
}

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_CALLBUFFER_H
