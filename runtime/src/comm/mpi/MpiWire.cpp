// Makes all calls of MPI in one thread.

#include "runtime/src/comm/mpi/MpiWire.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/base/Threads.h"

#include <algorithm>
#include <chrono>
#include <sched.h>
#include <unistd.h>

namespace dpc::mpi {

namespace {
/// MPI counts bytes as an int.
constexpr uint64_t kMostBytes = 1ull << 30;
constexpr int kTag = 0; // MPI keeps the order of messages with equal tags
/// How often the thread yields before it begins to sleep between two looks.
constexpr int kYields = 2000;
constexpr useconds_t kNapMicroseconds = 20;
/// MPI_Finalize waits for the other ranks. If one of them dies in it, the others would wait for
/// ever.
constexpr double kFinalizeSeconds = 10;
/// Longest wait for MPI to connect the ranks, as long as ranks wait for each other to join.
constexpr double kConnectSeconds = 60;
} // namespace

dpc_status_t MpiWire::open(uint32_t rank, uint32_t worldSize) {
  if (dpc_status_t status = openLibrary(&library))
    return status;
  thread = withoutSignals([this] { return std::thread([this] { run(); }); });
  return perform("connect the ranks",
                 [this, rank, worldSize] { return initialize(rank, worldSize); });
}

dpc_status_t MpiWire::initialize(uint32_t rank, uint32_t worldSize) {
  int isInitialized = 0, level = 0, index = 0, size = 0;
  library.MPI_Initialized(&isInitialized);
  if (!isInitialized) {
    if (const int error =
            library.MPI_Init_thread(nullptr, nullptr, library.constants.funneled, &level))
      return fail(DPC_INVALID, "--comm=mpi: MPI_Init_thread: %s", library.describe(error).c_str());
    isOwner = true;
    // Errors that belong to no communicator would end the process, before the ranks have
    // found out which of them died. Since MPI 4 they are raised on MPI_COMM_SELF, before on
    // MPI_COMM_WORLD.
    for (const Handle each : {library.constants.world, library.constants.self})
      library.MPI_Comm_set_errhandler(each, library.constants.errorsReturn);
  } else {
    library.MPI_Query_thread(&level);
    if (level != library.constants.multiple)
      return fail(DPC_INVALID, "--comm=mpi: this program has initialized MPI without "
                               "MPI_THREAD_MULTIPLE, but dpc calls MPI in a thread of its own");
  }
  library.MPI_Comm_rank(library.constants.world, &index);
  library.MPI_Comm_size(library.constants.world, &size);
  if (static_cast<uint32_t>(index) != rank || static_cast<uint32_t>(size) != worldSize)
    return fail(DPC_INVALID, "--comm=mpi: rank %u of %u is rank %d of %d in MPI's world", rank,
                worldSize, index, size);
  if (const int error = library.MPI_Comm_dup(library.constants.world, &communicator))
    return fail(DPC_INVALID, "--comm=mpi: MPI_Comm_dup: %s", library.describe(error).c_str());
  library.MPI_Comm_set_errhandler(communicator, library.constants.errorsReturn);
  return DPC_OK;
}

dpc_status_t MpiWire::broadcast(void *data, size_t bytes) {
  const auto *from = static_cast<const char *>(data);
  shared.assign(from, from + bytes);
  const dpc_status_t status = perform("tell the ranks where they meet", [this] {
    const int error = library.MPI_Bcast(shared.data(), static_cast<int>(shared.size()),
                                        library.constants.byte, 0, communicator);
    return error ? fail(DPC_PEER, "--comm=mpi: MPI_Bcast: %s", library.describe(error).c_str())
                 : dpc_status_t(DPC_OK);
  });
  if (status == DPC_OK)
    std::copy(shared.begin(), shared.end(), static_cast<char *>(data));
  return status;
}

/// Runs a function in the thread, and waits for it. MPI has no time limits.
dpc_status_t MpiWire::perform(const char *what, std::function<dpc_status_t()> given) {
  std::unique_lock<std::mutex> lock(mutex);
  task = std::move(given);
  changed.notify_all();
  if (!changed.wait_for(lock, std::chrono::duration<double>(kConnectSeconds),
                        [&] { return !task; }))
    return fail(DPC_PEER,
                "--comm=mpi: MPI did not %s within %.0f s; mpirun's messages may say why "
                "(e.g. networks that not all hosts have)",
                what, kConnectSeconds);
  return taskStatus ? fail(taskStatus, "%s", taskReason.c_str()) : DPC_OK;
}

void MpiWire::attach(wires::WireListener &given) {
  std::lock_guard<std::mutex> lock(mutex);
  listener = &given;
}

void MpiWire::send(uint32_t rank, uint64_t ticket, const char *from, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  posted.push_back({rank, ticket, const_cast<char *>(from), bytes, /*isSend=*/true, 0});
  changed.notify_all();
}

void MpiWire::receive(uint32_t rank, uint64_t ticket, char *to, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  posted.push_back({rank, ticket, to, bytes, /*isSend=*/false, 0});
  changed.notify_all();
}

int MpiWire::begin(Move &move) {
  const int count = static_cast<int>(move.bytes), peer = static_cast<int>(move.rank);
  return move.isSend ? library.MPI_Isend(move.at, count, library.constants.byte, peer, kTag,
                                         communicator, &move.request)
                     : library.MPI_Irecv(move.at, count, library.constants.byte, peer, kTag,
                                         communicator, &move.request);
}

/// Looks at all moves once. Returns whether one of them has ended.
bool MpiWire::advance() {
  std::vector<uint64_t> done;
  int error = 0;
  for (size_t i = 0; i < active.size() && !error;) {
    int isDone = 0;
    StatusRoom status;
    error = library.MPI_Test(&active[i].request, &isDone, &status);
    if (!error && isDone) {
      done.push_back(active[i].ticket);
      active.erase(active.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (!done.empty())
    listener->moved(done);
  if (error) {
    active.clear();
    listener->broke("MPI: " + library.describe(error));
  }
  return !done.empty() || error;
}

void MpiWire::run() {
  int idle = 0;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (task) {
      lock.unlock();
      const dpc_status_t status = task();
      const std::string reason = status ? dpc_last_error() : ""; // belongs to this thread
      lock.lock();
      taskStatus = status;
      taskReason = reason;
      task = nullptr;
      changed.notify_all();
    }
    if (isEnding)
      break;
    while (!posted.empty()) {
      Move move = posted.front();
      posted.pop_front();
      lock.unlock();
      const int error = begin(move);
      if (error)
        listener->broke("MPI: " + library.describe(error));
      else
        active.push_back(move);
      lock.lock();
      idle = 0;
    }
    if (active.empty()) {
      changed.wait(lock, [&] { return task || isEnding || !posted.empty(); });
      continue;
    }
    lock.unlock();
    idle = advance() ? 0 : idle + 1;
    if (idle > kYields)
      ::usleep(kNapMicroseconds);
    else if (idle > 0)
      ::sched_yield();
    lock.lock();
  }
  const bool finalizes = isClean && isOwner;
  lock.unlock();
  // After a failure MPI is not finalized, because the call could wait for ever.
  if (finalizes)
    library.MPI_Finalize();
  lock.lock();
  hasEnded = true;
  changed.notify_all();
}

bool MpiWire::close(bool clean) {
  if (!thread.joinable())
    return true;
  std::unique_lock<std::mutex> lock(mutex);
  isClean = clean;
  isEnding = true;
  changed.notify_all();
  const bool ended = changed.wait_for(lock, std::chrono::duration<double>(kFinalizeSeconds),
                                      [&] { return hasEnded; });
  lock.unlock();
  if (ended)
    thread.join();
  else
    thread.detach(); // a thread in MPI_Finalize cannot be ended
  return ended;
}

MpiWire::~MpiWire() { close(false); }

} // namespace dpc::mpi
