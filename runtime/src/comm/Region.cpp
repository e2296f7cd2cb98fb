#include "runtime/src/comm/Region.h"

#include "dpc/types.h"
#include "runtime/src/base/Status.h"

namespace dpc {

dpc_status_t Region::allocate(uint64_t wanted, void **outMemory) {
  *outMemory = nullptr;
  const uint64_t left = bytes - used;
  // Padding is not required after the last piece, so `wanted` is not rounded up
  // before this comparison.
  if (wanted > left)
    return fail(DPC_INVALID,
                "%llu bytes of communication memory are asked for, %llu of %llu "
                "are left",
                static_cast<unsigned long long>(wanted), static_cast<unsigned long long>(left),
                static_cast<unsigned long long>(bytes));
  *outMemory = start + used;
  const uint64_t padded = (wanted + DPC_ALIGNMENT - 1) / DPC_ALIGNMENT * DPC_ALIGNMENT;
  used += padded < left ? padded : left;
  return DPC_OK;
}

bool Region::holds(const void *pointer, uint64_t size) const {
  const char *first = static_cast<const char *>(pointer);
  return first >= start && first <= start + used &&
         size <= static_cast<uint64_t>(start + used - first);
}

} // namespace dpc
