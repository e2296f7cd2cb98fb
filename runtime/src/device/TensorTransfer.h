#ifndef DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H
#define DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H

#include "dpc/records.h"
#include "runtime/src/device/Queue.h"

#include <functional>

namespace dpc {

/// Calls visit(local, count) for this rank's part of elements [begin, end) of a
/// logical tensor, in the placement's order, until a call fails. Elements that
/// are contiguous in the buffer are visited together, at most 1 MiB of them.
/// `size` is the size of an element.
dpc_status_t forEachSpan(const dpc_placement_t &placement, uint64_t size, uint64_t begin,
                         uint64_t end,
                         const std::function<dpc_status_t(uint64_t, uint64_t)> &visit);

/// Reads elements [begin, begin + count) of a logical tensor to `to`; they take
/// at most 1 MiB in the buffer's type.
using ReadElements = std::function<dpc_status_t(uint64_t begin, uint64_t count, char *to)>;

/// Writes this rank's part of a logical tensor into its buffer. `read` gives
/// elements of type `fromDtype`; the buffer's type is `dtype`. Elements of the
/// buffer that no run of the placement covers are not changed.
dpc_status_t uploadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                          uint32_t fromDtype, const ReadElements &read);

/// The same with the complete tensor, row-major, at `from`.
dpc_status_t uploadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                          uint32_t fromDtype, const void *from);

/// Sets all elements of this rank's part to `value`.
dpc_status_t uploadSplat(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                         double value);

/// Copies this rank's part of elements [begin, end) of a logical tensor.
/// Element i goes to position i - begin of `to`; other positions are not
/// changed. The buffer starts `extraOffset` bytes after the placement's.
dpc_status_t downloadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                            uint64_t extraOffset, uint64_t begin, uint64_t end, char *to);

/// Receives elements [begin, begin + count) of a logical tensor.
using TakeElements = std::function<void(uint64_t begin, uint64_t count, const char *elements)>;

/// Passes all of this rank's part of a logical tensor to `take`, piece by
/// piece.
dpc_status_t downloadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                            const TakeElements &take);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H
