#ifndef DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H
#define DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H

#include "dpc/records.h"
#include "runtime/src/device/Queue.h"

#include <functional>

namespace dpc {

/// Calls visit(local, count) for what this rank has of elements [begin, end) of
/// a logical tensor, in the placement's order, until one call fails: what
/// follows each other in the buffer comes together, at most 1 MiB of it. `size`
/// is that of an element.
dpc_status_t forEachSpan(const dpc_placement_t &placement, uint64_t size, uint64_t begin,
                         uint64_t end,
                         const std::function<dpc_status_t(uint64_t, uint64_t)> &visit);

/// Gives elements [begin, begin + count) of a logical tensor, at most 1 MiB of
/// them as they will be uploaded.
using ReadElements = std::function<dpc_status_t(uint64_t begin, uint64_t count, char *to)>;

/// Writes this rank's part of a logical tensor into its buffer. What is read is
/// of type `fromDtype`; `dtype` is the buffer's. What no run of the placement
/// names stays as it is.
dpc_status_t uploadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                          uint32_t fromDtype, const ReadElements &read);

/// The same from the whole tensor, row-major, at `from`.
dpc_status_t uploadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                          uint32_t fromDtype, const void *from);

/// Sets every element of this rank's part to `value`.
dpc_status_t uploadSplat(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                         double value);

/// Copies what this rank has of elements [begin, end) of a logical tensor.
/// Element i comes to `to` + (i - begin) elements; the others there stay as
/// they are. The buffer starts `extraOffset` bytes after the placement's.
dpc_status_t downloadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                            uint64_t extraOffset, uint64_t begin, uint64_t end, char *to);

/// Takes elements [begin, begin + count) of a logical tensor.
using TakeElements = std::function<void(uint64_t begin, uint64_t count, const char *elements)>;

/// Gives `take` all that this rank has of a logical tensor, part after part.
dpc_status_t downloadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                            const TakeElements &take);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H
