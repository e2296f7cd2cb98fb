// Copies tensors between a rank's buffer and host memory. A placement may have
// thousands of small pieces, for example the rows of a matrix whose columns are
// sharded. Each copy to or from a device has a fixed cost. Therefore pieces that
// are contiguous in the buffer are collected in host memory and copied together.
#include "runtime/src/device/TensorTransfer.h"

#include "dpc/data.h"
#include "runtime/src/base/Placement.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace dpc {

namespace {

/// At most this many bytes are copied together.
constexpr uint64_t kMostBytes = 1u << 20;

/// Elements [local, local + length) of the buffer, which are elements [global,
/// global + length) of the tensor.
struct Piece {
  uint64_t local, global, length;
};

/// Calls visit(pieces) for groups of pieces, until a call fails. The pieces of a
/// group are contiguous in the buffer. All groups together have the elements among
/// [begin, end) of the tensor that this rank holds.
template <typename Visit>
dpc_status_t forEachGroup(const dpc_placement_t &placement, uint64_t size, uint64_t begin,
                          uint64_t end, Visit visit) {
  const uint64_t most = kMostBytes / size;
  std::vector<Piece> group;
  uint64_t held = 0;
  auto flush = [&]() -> dpc_status_t {
    const dpc_status_t status = group.empty() ? DPC_OK : visit(group);
    group.clear();
    held = 0;
    return status;
  };
  auto add = [&](uint64_t local, uint64_t global, uint64_t length) -> dpc_status_t {
    const uint64_t low = std::max(global, begin), high = std::min(global + length, end);
    for (uint64_t at = low; at < high;) {
      const uint64_t place = local + (at - global);
      const bool follows = group.empty() || group.back().local + group.back().length == place;
      if (!follows || held == most)
        if (dpc_status_t status = flush())
          return status;
      const uint64_t count = std::min(high - at, most - held);
      group.push_back({place, at, count});
      held += count;
      at += count;
    }
    return DPC_OK;
  };
  if (dpc_status_t status = forEachPiece(placement, add))
    return status;
  return flush();
}

uint64_t elementsOf(const std::vector<Piece> &group) {
  return group.back().local + group.back().length - group.front().local;
}

} // namespace

dpc_status_t forEachSpan(const dpc_placement_t &placement, uint64_t size, uint64_t begin,
                         uint64_t end,
                         const std::function<dpc_status_t(uint64_t, uint64_t)> &visit) {
  return forEachGroup(placement, size, begin, end, [&](const std::vector<Piece> &group) {
    return visit(group.front().local, elementsOf(group));
  });
}

dpc_status_t uploadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                          uint32_t fromDtype, const ReadElements &read) {
  const uint64_t size = dpc_dtype_size(dtype), fromSize = dpc_dtype_size(fromDtype);
  std::vector<char> gathered, raw;
  auto upload = [&](const std::vector<Piece> &group) -> dpc_status_t {
    const Piece &first = group.front();
    gathered.resize(std::max(gathered.size(), elementsOf(group) * size));
    for (const Piece &piece : group) {
      char *to = gathered.data() + (piece.local - first.local) * size;
      if (dtype != fromDtype)
        raw.resize(std::max(raw.size(), piece.length * fromSize));
      if (dpc_status_t status =
              read(piece.global, piece.length, dtype == fromDtype ? to : raw.data()))
        return status;
      if (dtype != fromDtype)
        if (dpc_status_t status = dpc_convert(dtype, to, fromDtype, raw.data(), piece.length))
          return status;
    }
    return queue.upload({placement.space, placement.offset + first.local * size}, gathered.data(),
                        elementsOf(group) * size);
  };
  return forEachGroup(placement, size, 0, UINT64_MAX, upload);
}

dpc_status_t uploadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                          uint32_t fromDtype, const void *from) {
  const uint64_t size = dpc_dtype_size(fromDtype);
  auto read = [&](uint64_t begin, uint64_t count, char *to) -> dpc_status_t {
    std::memcpy(to, static_cast<const char *>(from) + begin * size, count * size);
    return DPC_OK;
  };
  return uploadTensor(queue, placement, dtype, fromDtype, ReadElements(read));
}

dpc_status_t uploadSplat(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                         double value) {
  const uint64_t size = dpc_dtype_size(dtype);
  char one[8];
  if (dpc_status_t status = dpc_convert(dtype, one, DPC_F64, &value, 1))
    return status;
  std::vector<char> filled(std::min(placement.elements * size, kMostBytes));
  for (uint64_t at = 0; at + size <= filled.size(); at += size)
    std::memcpy(filled.data() + at, one, size);
  return forEachSpan(placement, size, 0, UINT64_MAX, [&](uint64_t local, uint64_t count) {
    return queue.upload({placement.space, placement.offset + local * size}, filled.data(),
                        count * size);
  });
}

dpc_status_t downloadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                            uint64_t extraOffset, uint64_t begin, uint64_t end, char *to) {
  const uint64_t size = dpc_dtype_size(dtype);
  std::vector<char> gathered;
  auto download = [&](const std::vector<Piece> &group) -> dpc_status_t {
    const Piece &first = group.front();
    const DeviceAddress from = {placement.space,
                                placement.offset + extraOffset + first.local * size};
    if (group.size() == 1)
      return queue.download(to + (first.global - begin) * size, from, first.length * size);
    gathered.resize(std::max(gathered.size(), elementsOf(group) * size));
    if (dpc_status_t status = queue.download(gathered.data(), from, elementsOf(group) * size))
      return status;
    for (const Piece &piece : group)
      std::memcpy(to + (piece.global - begin) * size,
                  gathered.data() + (piece.local - first.local) * size, piece.length * size);
    return DPC_OK;
  };
  return forEachGroup(placement, size, begin, end, download);
}

dpc_status_t downloadTensor(Queue &queue, const dpc_placement_t &placement, uint32_t dtype,
                            const TakeElements &take) {
  const uint64_t size = dpc_dtype_size(dtype);
  std::vector<char> gathered;
  auto download = [&](const std::vector<Piece> &group) -> dpc_status_t {
    const Piece &first = group.front();
    gathered.resize(std::max(gathered.size(), elementsOf(group) * size));
    if (dpc_status_t status = queue.download(
            gathered.data(), {placement.space, placement.offset + first.local * size},
            elementsOf(group) * size))
      return status;
    for (const Piece &piece : group)
      take(piece.global, piece.length, gathered.data() + (piece.local - first.local) * size);
    return DPC_OK;
  };
  return forEachGroup(placement, size, 0, UINT64_MAX, download);
}

} // namespace dpc
