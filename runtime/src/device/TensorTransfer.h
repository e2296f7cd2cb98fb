#ifndef DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H
#define DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H

#include "dpc/records.h"
#include "runtime/src/device/Queue.h"

#include <functional>

namespace dpc {

/// Calls visit(local, count) for the elements among [begin, end) of a logical tensor
/// that this rank holds, until a call fails. One call visits `count` elements that
/// are contiguous in the buffer, from the element `local` on, at most 1 MiB. The
/// calls have the order of the placement. `size` is the size of an element in bytes.
dpc_status_t forEachSpan(const dpc_placement_t &placement, uint64_t size, uint64_t begin,
                         uint64_t end,
                         const std::function<dpc_status_t(uint64_t, uint64_t)> &visit);

/// Reads elements [begin, begin + count) of a logical tensor to `to`. Converted to the
/// type of the buffer, these elements occupy at most 1 MiB.
using ReadElements = std::function<dpc_status_t(uint64_t begin, uint64_t count, char *to)>;

/// Writes into the rank's buffer those elements of a logical tensor that this rank
/// holds. `read` gives elements of type `fromDtype`, which are converted to the
/// buffer's type `dtype`. Does not change elements of the buffer that no run of the
/// placement covers.
dpc_status_t uploadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                          uint32_t fromDtype, const ReadElements &read);

/// Like the other uploadTensor, but takes the elements from the complete tensor at
/// `from`, which is row-major.
dpc_status_t uploadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                          uint32_t fromDtype, const void *from);

/// Sets to `value` all elements of a logical tensor that this rank holds.
dpc_status_t uploadSplat(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                         double value);

/// Copies the elements among [begin, end) of a logical tensor that this rank holds.
/// Element i goes to position i - begin of `to`. Other positions of `to` are not
/// changed. The buffer begins `extraOffset` bytes after the offset of the placement.
dpc_status_t downloadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                            uint64_t extraOffset, uint64_t begin, uint64_t end, char *to);

/// A function that receives elements [begin, begin + count) of a logical tensor.
using TakeElements = std::function<void(uint64_t begin, uint64_t count, const char *elements)>;

/// Calls `take`, piece by piece, for all elements of a logical tensor that this rank
/// holds.
dpc_status_t downloadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                            const TakeElements &take);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_TENSORTRANSFER_H
