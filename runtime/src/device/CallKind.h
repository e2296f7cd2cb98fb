#ifndef DPC_RUNTIME_SRC_DEVICE_CALLKIND_H
#define DPC_RUNTIME_SRC_DEVICE_CALLKIND_H

#include "dpc/calls.h"
#include "dpc/status.h"

#include <memory>
#include <string>
#include <vector>

namespace dpc {

class LibraryCalls;

/// A kind of library calls (DPC_CALL_*). Each kind is implemented in a file of
/// its own; no other code of the runtime distinguishes kinds.
struct CallKind {
  uint32_t number; ///< DPC_CALL_*
  // For messages.
  const char *name;    ///< "product"
  const char *plural;  ///< "products"
  const char *title;   ///< "products of matrices"
  const char *buffer;  ///< what its buffers hold: "matrix"
  const char *library; ///< "cuBLASLt"

  uint64_t bytes; ///< size of its struct
  /// Checks all fields of the struct that do not depend on its buffers.
  dpc_status_t (*check)(const void *description);
  uint32_t (*countBuffers)(const void *description);
  /// Checks that a buffer is large enough.
  dpc_status_t (*checkBuffer)(const void *description, uint32_t buffer, uint64_t bytes);
  /// Whether `text`, a field in a file of measured calls (TunedCalls), is the key
  /// of a call of this kind.
  bool (*isKey)(const std::string &text);
  std::unique_ptr<LibraryCalls> (*make)();
};

/// The kinds of this runtime.
const std::vector<const CallKind *> &callKinds();
/// The kind with this number; null if there is none.
const CallKind *findCallKind(uint32_t number);

extern const CallKind kProductCalls; // LibraryProducts.cpp

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CALLKIND_H
