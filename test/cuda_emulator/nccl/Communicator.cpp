// Ranks of a communicator: processes that meet in a segment of shared memory. They may be in
// namespaces of their own, which then count as hosts.
#include "test/cuda_emulator/nccl/Communicator.h"

#include "test/cuda_emulator/base/Host.h"
#include "test/cuda_emulator/base/Options.h"

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace dpc::cuda;
using namespace dpc::emulator;

const char *dpc::emulator::nameOf(CollectiveKind kind) {
  static const char *const names[] = {"AllReduce", "ReduceScatter", "AllGather", "Broadcast",
                                      "Reduce",    "Send",          "Recv"};
  return names[static_cast<int>(kind)];
}

bool Collective::operator==(const Collective &other) const {
  return kind == other.kind && type == other.type && reduction == other.reduction &&
         root == other.root && count == other.count;
}

Communicator::Communicator(std::string name, int rank, int ranks)
    : name(std::move(name)), rank(rank), ranks(ranks) {}

Communicator::~Communicator() {
  if (starter.joinable())
    starter.join();
  if (shared) {
    shared->left[rank] = 1;
    munmap(shared, sizeof(SharedState));
  }
  if (file >= 0)
    close(file);
}

void Communicator::failWith(NcclResult result, const std::string &message) {
  NcclResult none = NcclResult::success, starting = NcclResult::inProgress;
  if (error.compare_exchange_strong(none, result) ||
      error.compare_exchange_strong(starting, result))
    std::fprintf(stderr, "cuda emulator: nccl: rank %d of %d: %s\n", rank, ranks, message.c_str());
}

/// The lock that rank `rank` holds until its process ends, in whatever namespaces that is.
static struct flock lockOf(int rank) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

void Communicator::watch(int peer) {
  struct flock lock = lockOf(peer);
  const bool isGone =
      shared->hasJoined[peer] && fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
  if (shared->left[peer] || isGone)
    failWith(NcclResult::remoteError, "rank " + std::to_string(peer) + " is gone");
}

bool Communicator::waitFor(int peer, const std::function<bool()> &ready) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(Options::get().ncclSeconds);
  for (unsigned round = 0; !ready(); ++round) {
    const NcclResult now = error;
    if (aborted || (now != NcclResult::success && now != NcclResult::inProgress))
      return false;
    if (round < 1000)
      continue;
    usleep(50);
    if (round % 256)
      continue;
    watch(peer);
    if (Clock::now() > end)
      failWith(NcclResult::remoteError, "rank " + std::to_string(peer) + " did not come in " +
                                            std::to_string(Options::get().ncclSeconds) + " s");
  }
  return true;
}

bool Communicator::meet() {
  const uint64_t round = ++shared->arrived[rank];
  for (int peer = 0; peer < ranks; ++peer)
    if (!waitFor(peer, [&] { return shared->arrived[peer] >= round; }))
      return false;
  return true;
}

void Communicator::join(int device) {
  file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  struct flock lock = lockOf(rank);
  void *memory = MAP_FAILED;
  if (file >= 0 && !ftruncate(file, sizeof(SharedState)) && fcntl(file, F_OFD_SETLK, &lock) == 0)
    memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    return failWith(NcclResult::systemError, "no shared memory " + name);
  shared = static_cast<SharedState *>(memory);
  shared->device[rank] = device;
  shared->host[rank] = hostNumber();
  shared->hasJoined[rank] = 1;
  if (!meet())
    return;
  if (rank == 0)
    shm_unlink(name.c_str());
  for (int other = 0; other < ranks; ++other)
    if (other != rank && shared->device[other] == device &&
        shared->host[other] == shared->host[rank])
      return failWith(NcclResult::invalidUsage, "ranks " + std::to_string(rank) + " and " +
                                                    std::to_string(other) + " use device " +
                                                    std::to_string(device));
  NcclResult starting = NcclResult::inProgress;
  error.compare_exchange_strong(starting, NcclResult::success);
}
