// Messages between ranks outside of entries. Ranks send tensors and records to
// rank 0, and rank 0 sends data to all ranks. The data passes through the window,
// a region of each rank's communication memory.

#include "runtime/src/base/Placement.h"
#include "runtime/src/session/Session.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace dpc;

/// One operation on the first `bytes` bytes of the window. `peer` is the root of a broadcast, or
/// the other rank of a send or receive.
dpc_comm_op_t dpc_session::windowOperation(uint32_t op, uint32_t peer, uint64_t bytes) const {
  dpc_comm_op_t operation = {};
  operation.op = op;
  operation.peer = peer;
  operation.dtype = DPC_U8;
  operation.location = DPC_NONE;
  operation.count = bytes;
  operation.buffer_id = DPC_CONTROL_BUFFER;
  operation.in = operation.out = memory.window();
  return operation;
}

dpc_status_t dpc_session::exchange(uint32_t op, uint32_t peer, uint64_t bytes) {
  const dpc_comm_op_t operation = windowOperation(op, peer, bytes);
  return dpc_comm_run(comm, &operation);
}

/// Sends the window to the lowest rank of each other host, to all at once.
dpc_status_t dpc_session::sendToHosts(uint64_t bytes) {
  std::vector<dpc_request_t> requests;
  for (uint32_t r = 1; r < comm->world_size; ++r) {
    if (comm->hosts[r] != r)
      continue;
    const dpc_comm_op_t operation = windowOperation(DPC_OP_SEND, r, bytes);
    if (dpc_status_t status = comm->vtable->start(comm, &operation, &requests.emplace_back()))
      return status;
  }
  for (dpc_request_t request : requests)
    if (dpc_status_t status = comm->vtable->wait(comm, request))
      return status;
  return DPC_OK;
}

dpc_status_t dpc_session::deliverToHosts(void *data, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t part = std::min(bytes - at, RankMemory::kWindowBytes);
    char *piece = static_cast<char *>(data) + at;
    if (options.rank == 0)
      std::memcpy(memory.window(), piece, part);
    if (dpc_status_t status =
            options.rank == 0 ? sendToHosts(part) : exchange(DPC_OP_RECV, 0, part))
      return status;
    if (options.rank != 0)
      std::memcpy(piece, memory.window(), part);
    at += part;
  }
  return DPC_OK;
}

dpc_status_t dpc_session::broadcast(void *data, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes && comm->world_size > 1;) {
    const uint64_t part = std::min(bytes - at, RankMemory::kWindowBytes);
    char *piece = static_cast<char *>(data) + at;
    if (options.rank == 0)
      std::memcpy(memory.window(), piece, part);
    if (dpc_status_t status = exchange(DPC_OP_BROADCAST, 0, part))
      return status;
    if (options.rank != 0)
      std::memcpy(piece, memory.window(), part);
    at += part;
  }
  return DPC_OK;
}

dpc_status_t dpc_session::collect(const void *record, uint64_t bytes, std::vector<char> *outAll) {
  outAll->resize(options.rank == 0 ? bytes * options.world_size : 0);
  if (options.rank == 0)
    std::memcpy(outAll->data(), record, bytes);
  else
    std::memcpy(memory.window(), record, bytes);
  for (uint32_t r = 1; r < options.world_size; ++r) {
    if (options.rank != 0 && options.rank != r)
      continue;
    if (dpc_status_t status =
            options.rank == r ? exchange(DPC_OP_SEND, 0, bytes) : exchange(DPC_OP_RECV, r, bytes))
      return status;
    if (options.rank == 0)
      std::memcpy(outAll->data() + r * bytes, memory.window(), bytes);
  }
  return DPC_OK;
}

/// Sends to rank 0 those elements of a range that this rank holds, in the order
/// of the placement. One download gets elements that are contiguous in the
/// buffer.
dpc_status_t dpc_session::sendShard(const dpc_placement_t &place, uint64_t elementSize, Range range,
                                    uint64_t extraOffset) {
  const uint64_t window = RankMemory::kWindowBytes / elementSize;
  uint64_t filled = 0;
  auto send = [&] {
    return exchange(DPC_OP_SEND, 0, std::exchange(filled, uint64_t(0)) * elementSize);
  };
  auto add = [&](uint64_t local, uint64_t count) -> dpc_status_t {
    while (count) {
      const uint64_t part = std::min(count, window - filled);
      if (dpc_status_t status = queue->download(
              memory.window() + filled * elementSize,
              {place.space, place.offset + extraOffset + local * elementSize}, part * elementSize))
        return status;
      filled += part, local += part, count -= part;
      if (filled == window)
        if (dpc_status_t status = send())
          return status;
    }
    return DPC_OK;
  };
  if (dpc_status_t status = forEachSpan(place, elementSize, range.begin, range.end, add))
    return status;
  return filled ? send() : dpc_status_t(DPC_OK);
}

/// Receives the elements that the rank `owner` sends by sendShard. Stores each
/// element at `destination`, at its position in the range.
dpc_status_t dpc_session::receiveShard(const dpc_placement_t &place, uint32_t owner,
                                       uint64_t elementSize, Range range, char *destination) {
  const uint64_t window = RankMemory::kWindowBytes / elementSize;
  uint64_t expected = 0, at = 0, arrived = 0;
  auto forEachPart = [&](auto visit) {
    return forEachPiece(place, [&](uint64_t, uint64_t global, uint64_t length) -> int32_t {
      const uint64_t low = std::max(global, range.begin),
                     high = std::min(global + length, range.end);
      return low < high ? visit(low - range.begin, high - low) : int32_t(DPC_OK);
    });
  };
  forEachPart([&](uint64_t, uint64_t length) {
    expected += length;
    return 0;
  });
  return forEachPart([&](uint64_t to, uint64_t length) -> int32_t {
    while (length) {
      if (at == arrived) {
        at = 0, arrived = std::min(expected, window);
        expected -= arrived;
        if (dpc_status_t status = exchange(DPC_OP_RECV, owner, arrived * elementSize))
          return status;
      }
      const uint64_t part = std::min(length, arrived - at);
      std::memcpy(destination + to * elementSize, memory.window() + at * elementSize,
                  part * elementSize);
      at += part, to += part, length -= part;
    }
    return DPC_OK;
  });
}

dpc_status_t dpc_session::gather(const dpc_placement_t *placements, uint32_t dtype,
                                 char *destination, uint64_t extraOffset, uint64_t begin,
                                 uint64_t end) {
  const uint64_t size = dpc_dtype_size(dtype);
  for (uint32_t owner = 0; owner < options.world_size; ++owner) {
    const dpc_placement_t &place = placements[owner];
    if (!place.owner || !place.run_count)
      continue;
    dpc_status_t status = DPC_OK;
    if (options.rank == 0 && owner == 0)
      status = downloadTensor(*queue, place, dtype, extraOffset, begin, end, destination);
    else if (options.rank == owner)
      status = sendShard(place, size, {begin, end}, extraOffset);
    else if (options.rank == 0)
      status = receiveShard(place, owner, size, {begin, end}, destination);
    if (status)
      return status;
  }
  return DPC_OK;
}
