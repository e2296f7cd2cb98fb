#ifndef DPC_RUNTIME_SRC_DEVICE_CALLKIND_H
#define DPC_RUNTIME_SRC_DEVICE_CALLKIND_H

#include "dpc/calls.h"
#include "dpc/status.h"

#include <memory>
#include <string>
#include <vector>

namespace dpc {

class LibraryCalls;

/// A kind of library calls, e.g. products of matrices. One source file implements
/// each kind. All other code of the runtime treats library calls alike: it calls the
/// functions here, so it need not know the kind. `description` points to the C struct
/// of the kind, e.g. a dpc_product_t.
struct CallKind {
  uint32_t number; ///< DPC_CALL_*
  // Words for messages, with those of products as examples.
  const char *name;    ///< "product"
  const char *plural;  ///< "products"
  const char *title;   ///< "products of matrices"
  const char *buffer;  ///< the object that a buffer holds: "matrix"
  const char *library; ///< the library that computes the calls: "cuBLASLt"

  uint64_t bytes; ///< size of the kind's C struct
  /// Checks the fields of the struct, without regard to the sizes of buffers.
  dpc_status_t (*check)(const void *description);
  /// The number of buffers that the call has.
  uint32_t (*countBuffers)(const void *description);
  /// Checks that the call's buffer with the number `buffer`, which has `bytes` bytes,
  /// is large enough for the fields of the struct.
  dpc_status_t (*checkBuffer)(const void *description, uint32_t buffer, uint64_t bytes);
  /// Whether `text` can be the key of a call of this kind in a file of measured calls
  /// (LibraryCalls::getKey).
  bool (*isKey)(const std::string &text);
  /// Whether `algorithm` can be an algorithm of such a call (CallChoice::algorithm).
  bool (*isAlgorithm)(const std::string &algorithm);
  /// Creates an empty list of calls of this kind. The library is not opened yet.
  std::unique_ptr<LibraryCalls> (*make)();
};

/// All kinds of library calls that this runtime supports.
const std::vector<const CallKind *> &callKinds();
/// The kind with the number `number` (DPC_CALL_*); null if there is none.
const CallKind *findCallKind(uint32_t number);

extern const CallKind kProductCalls;     // LibraryProducts.cpp
extern const CallKind kConvolutionCalls; // LibraryConvolutions.cpp

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CALLKIND_H
