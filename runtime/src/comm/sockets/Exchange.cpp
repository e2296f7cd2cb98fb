// Plans the bytes that a member sends and receives in each collective. Every member
// sends directly to every other one. An all-reduce is a reduce-scatter followed by
// an all-gather.

#include "runtime/src/comm/sockets/Exchange.h"

#include "dpc/action.h"
#include "runtime/src/comm/ReduceKernels.h"

#include <algorithm>
#include <cstring>

namespace dpc::sockets {

namespace {
bool hasMoved(const Transfer &transfer) { return transfer.moved == transfer.bytes; }
} // namespace

Exchange::Exchange(uint32_t members, uint32_t self, StagingPool &pool)
    : members(members), self(self), said(members), hasAnnounced(members), unannounced(members),
      pool(pool) {}

Exchange::~Exchange() { pool.giveBack(std::move(staging)); }

void Exchange::announce(uint32_t member, const Announcement &what) {
  hasAnnounced[member] = true;
  said[member] = what;
  --unannounced;
}

bool Exchange::agrees() const {
  return std::all_of(said.begin(), said.end(),
                     [&](const Announcement &one) { return one == said[0]; });
}

char *Exchange::input(uint64_t bytes) const {
  return static_cast<char *>(const_cast<void *>(op.in)) + bytes;
}

char *Exchange::output(uint64_t bytes) const { return static_cast<char *>(op.out) + bytes; }

void Exchange::send(uint32_t phase, uint32_t member, const char *from, uint64_t bytes) {
  if (bytes && member != self)
    sends[phase].push_back({member, const_cast<char *>(from), bytes, 0, 0});
}

void Exchange::receive(uint32_t phase, uint32_t member, char *to, uint64_t bytes) {
  if (bytes && member != self)
    receives[phase].push_back({member, to, bytes, 0, 0});
}

/// First element of a member's shard of an all-reduce.
uint64_t Exchange::shardBegin(uint32_t member) const { return op.count * member / members; }

void Exchange::start(const dpc_comm_op_t &given, bool onPair) {
  op = given;
  // An operation with DPC_COMM_ANNOUNCED moves no data. It is planned like other
  // operations, with elements of 0 bytes.
  elementSize = op.flags & DPC_COMM_ANNOUNCED ? 0 : dpc_dtype_size(op.dtype);
  announce(self, dpc::announce(op, onPair));
  started = true;
  if (op.op == DPC_OP_ALL_REDUCE || op.op == DPC_OP_REDUCE || op.op == DPC_OP_REDUCE_SCATTER)
    planShards();
  else
    planCopies();
}

/// Plans a reduction: the member that reduces a shard receives it from all
/// other members into `staging`.
void Exchange::planShards() {
  const uint64_t bytes = op.count * elementSize;
  auto begin = [&](uint32_t member) { return shardBegin(member) * elementSize; };
  const uint64_t mine = begin(self + 1) - begin(self);
  const bool root = self == op.peer;
  stagingStride = op.op == DPC_OP_ALL_REDUCE ? mine : op.op == DPC_OP_REDUCE && !root ? 0 : bytes;
  if (stagingStride)
    staging = pool.take(stagingStride * members);
  for (uint32_t m = 0; m < members; ++m) {
    receive(0, m, staging.memory.get() + m * stagingStride, stagingStride);
    if (op.op == DPC_OP_REDUCE) {
      if (m == op.peer)
        send(0, m, input(0), bytes);
    } else if (op.op == DPC_OP_REDUCE_SCATTER) {
      send(0, m, input(m * bytes), bytes);
    } else {
      const uint64_t theirs = begin(m + 1) - begin(m);
      send(0, m, input(begin(m)), theirs);
      send(1, m, output(begin(self)), mine);
      receive(1, m, output(begin(m)), theirs);
    }
  }
}

void Exchange::planCopies() {
  const uint64_t bytes = op.count * elementSize;
  const bool root = self == op.peer;
  for (uint32_t m = 0; m < members; ++m) {
    const bool toRoot = m == op.peer;
    switch (op.op) {
    case DPC_OP_ALL_GATHER:
      send(0, m, input(0), bytes);
      receive(0, m, output(m * bytes), bytes);
      break;
    case DPC_OP_ALL_TO_ALL:
      send(0, m, input(m * bytes), bytes);
      receive(0, m, output(m * bytes), bytes);
      break;
    case DPC_OP_GATHER:
      if (toRoot)
        send(0, m, input(0), bytes);
      if (root)
        receive(0, m, output(m * bytes), bytes);
      break;
    case DPC_OP_SCATTER:
    case DPC_OP_BROADCAST:
      if (root)
        send(0, m, input(op.op == DPC_OP_SCATTER ? m * bytes : 0), bytes);
      if (toRoot)
        receive(0, m, output(0), bytes);
      break;
    case DPC_OP_SEND:
      send(0, m, input(0), bytes);
      break;
    case DPC_OP_RECV:
      receive(0, m, output(0), bytes);
      break;
    default:
      break; // a barrier is complete when all members have announced it
    }
  }
}

Transfer *Exchange::find(std::vector<Transfer> *phases, uint32_t phase, uint32_t member) {
  if (!started || phase >= kPhases)
    return nullptr;
  for (Transfer &transfer : phases[phase])
    if (transfer.member == member)
      return &transfer;
  return nullptr;
}

Transfer *Exchange::incoming(uint32_t phase, uint32_t member) {
  return find(receives, phase, member);
}

Transfer *Exchange::outgoingTo(uint32_t phase, uint32_t member) {
  return find(sends, phase, member);
}

bool Exchange::hasReceived(uint32_t phase) const {
  return std::all_of(receives[phase].begin(), receives[phase].end(), hasMoved);
}

bool Exchange::isComplete() const {
  return phase == kPhases && std::all_of(sends[0].begin(), sends[0].end(), hasMoved) &&
         std::all_of(sends[1].begin(), sends[1].end(), hasMoved);
}

void Exchange::compute(uint32_t phase) {
  const uint64_t bytes = op.count * elementSize;
  if (phase != 0 || bytes == 0)
    return;
  auto copyOwn = [&](char *to, const char *from) {
    if (to != from)
      std::memcpy(to, from, bytes);
  };
  auto reduce = [&](const char *own, void *to, uint64_t elements) {
    std::vector<const void *> ins;
    for (uint32_t m = 0; m < members; ++m)
      ins.push_back(m == self ? own : staging.memory.get() + m * stagingStride);
    reduceKernel(op.dtype, op.reduction)(ins.data(), members, &to, 1, 0, elements, false);
  };
  switch (op.op) {
  case DPC_OP_ALL_REDUCE: {
    const uint64_t begin = shardBegin(self), end = shardBegin(self + 1);
    return reduce(input(begin * elementSize), output(begin * elementSize), end - begin);
  }
  case DPC_OP_REDUCE:
    return self == op.peer ? reduce(input(0), op.out, op.count) : void();
  case DPC_OP_REDUCE_SCATTER:
    return reduce(input(self * bytes), op.out, op.count);
  case DPC_OP_ALL_GATHER:
    return copyOwn(output(self * bytes), input(0));
  case DPC_OP_ALL_TO_ALL:
    return copyOwn(output(self * bytes), input(self * bytes));
  case DPC_OP_GATHER:
    return self == op.peer ? copyOwn(output(self * bytes), input(0)) : void();
  case DPC_OP_SCATTER:
    return self == op.peer ? copyOwn(output(0), input(self * bytes)) : void();
  case DPC_OP_BROADCAST:
    return self == op.peer ? copyOwn(output(0), input(0)) : void();
  default:
    return;
  }
}

bool Exchange::isPostedBy(uint32_t member) const {
  if (!hasAnnounced[member])
    return false;
  for (const std::vector<Transfer> &phase : receives)
    for (const Transfer &transfer : phase)
      if (transfer.member == member && transfer.posted < transfer.bytes)
        return false;
  return true;
}

uint32_t Exchange::laggard() const {
  for (uint32_t m = 0; m < members; ++m)
    if (!hasAnnounced[m])
      return m;
  for (uint32_t p = 0; p < kPhases; ++p)
    for (const std::vector<Transfer> *way : {&receives[p], &sends[p]})
      for (const Transfer &transfer : *way)
        if (!hasMoved(transfer))
          return transfer.member;
  return self;
}

} // namespace dpc::sockets
