// Writes the image of a rank's operations. The text of the image begins with the rank's groups:
// for each family, where its name begins, the number of members, and the members (32 bits each).
// Then come the names, each of which ends with a 0.

#include "runtime/src/recorder/Recorder.h"

#include "dpc/action.h"
#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Fingerprint.h"
#include "runtime/src/base/RunPage.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/base/Threads.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dpc;

namespace {

constexpr size_t kMostOfName = 200;
/// How often the watching thread looks at the clock, and from which time on it reports a pause.
constexpr int64_t kTickNs = 50'000'000, kPauseNs = 300'000'000;
constexpr auto kRelaxed = std::memory_order_relaxed;

/// Appends numbers and names to the text of an image, as long as they fit.
class TextWriter {
public:
  explicit TextWriter(char *image) : image(image) {}

  /// Returns false if there is no room.
  bool add(const void *data, size_t bytes) {
    if (bytes > kRecorderBytes - kTextAt - size)
      return false;
    std::memcpy(image + kTextAt + size, data, bytes);
    size += bytes;
    return true;
  }
  bool addNumber(uint32_t value) { return add(&value, sizeof value); }
  /// Returns where the name begins, or DPC_NONE if there is no room.
  uint32_t addName(const char *name) {
    const std::string part(name, ::strnlen(name, kMostOfName));
    const auto at = static_cast<uint32_t>(size);
    return add(part.c_str(), part.size() + 1) ? at : DPC_NONE;
  }
  size_t bytes() const { return size; }

private:
  char *image;
  size_t size = 0;
};

const uint32_t *membersOf(const dpc_group_family_t &family, uint32_t rank) {
  const uint32_t *end = family.ranks + uint64_t(family.group_count) * family.group_size,
                 *found = std::find(family.ranks, end, rank);
  return found == end ? nullptr : found - (found - family.ranks) % family.group_size;
}

} // namespace

dpc_recorder::dpc_recorder(const dpc_program_t &program, uint32_t rank) {
  if (RunPage *page = runPage())
    image = page->memoryOf(rank, kRecorderBytes);
  if (!image) {
    own.reset(new char[kRecorderBytes]());
    image = own.get();
  }
  sent.resize(program.world_size);
  received.resize(program.world_size);
  describe(program, rank);
  if (program.world_size > 1)
    watcher = withoutSignals(
        [this] { return std::thread([this, begin = monotonicNs()] { noticePauses(begin); }); });
}

dpc_recorder::~dpc_recorder() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  changed.notify_all();
  if (watcher.joinable())
    watcher.join();
  if (isFile)
    ::munmap(image, kRecorderBytes);
}

void dpc_recorder::describe(const dpc_program_t &program, uint32_t rank) {
  TextWriter text(image);
  std::vector<uint32_t> table;
  for (uint32_t f = 0; f < program.family_count; ++f) {
    const dpc_group_family_t &family = program.families[f];
    const uint32_t *members = membersOf(family, rank);
    families.push_back({0, members, members ? family.group_size : 0});
    table.push_back(0); // where the name begins, see below
    table.push_back(families.back().memberCount);
    table.insert(table.end(), members, members + families.back().memberCount);
  }
  RecorderHeader &to = header();
  // A table without room is left out. Then readers know no groups.
  to.familyCount =
      text.add(table.data(), table.size() * sizeof(uint32_t)) ? program.family_count : 0;
  size_t at = kTextAt;
  for (uint32_t f = 0; f < to.familyCount; ++f) {
    const char *name = program.families[f].name;
    const uint32_t begin = text.addName(name ? name : "");
    std::memcpy(image + at, &begin, sizeof begin);
    at += (2 + families[f].memberCount) * sizeof(uint32_t);
  }
  names.assign(program.location_count, DPC_NONE);
  for (const dpc_actions_t &entry : program.ranks[rank].entries)
    for (uint64_t i = 0; i < entry.count; ++i) {
      const uint32_t location = entry.actions[i].location;
      if (entry.actions[i].kind == DPC_ACTION_START && location != DPC_NONE &&
          names[location] == DPC_NONE)
        names[location] = text.addName(program.locations[location].node);
    }
  std::memcpy(to.magic, kRecorderMagic, sizeof to.magic);
  to.version = kRecorderVersion;
  to.headerBytes = sizeof to;
  to.recordBytes = sizeof(OperationRecord);
  to.recordCount = kRecordCount;
  to.rank = rank;
  to.worldSize = program.world_size;
  to.start = runPage() ? runPage()->restarts : 0;
  to.textBytes = text.bytes();
  std::memcpy(to.planHash, program.plan_hash, sizeof to.planHash);
  to.wallNs = static_cast<int64_t>(wallSeconds() * 1e9) - monotonicNs();
  to.process = static_cast<uint32_t>(::getpid());
  ::gethostname(to.host, sizeof to.host - 1);
  std::snprintf(to.program, sizeof to.program, "%s", program.name ? program.name : "");
  seal();
}

/// Sleeps again and again for a short time. If a sleep takes much longer, the process stood still.
/// `before` is the time at which the thread was made.
void dpc_recorder::noticePauses(int64_t before) {
  std::unique_lock<std::mutex> lock(mutex);
  uint64_t pauses = 0;
  while (!ends) {
    changed.wait_for(lock, std::chrono::nanoseconds(kTickNs));
    const int64_t now = monotonicNs();
    if (now - before > kPauseNs) {
      RecordedPause &pause = header().pauses[pauses++ % kPauseCount];
      pause.endNs.store(0, kRelaxed);
      pause.beginNs.store(before, kRelaxed);
      pause.endNs.store(now, std::memory_order_release);
    }
    before = now;
  }
}

void dpc_recorder::seal() {
  Fingerprint sum;
  sum.add(image, offsetof(RecorderHeader, checksum));
  sum.add(image + kTextAt, header().textBytes);
  header().checksum = sum.value();
}

std::string dpc_recorder::fileOf(uint32_t rank) { return "rank-" + std::to_string(rank) + ".ops"; }

dpc_status_t dpc_recorder::keepIn(const std::string &folder, uint64_t runId) {
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return fail(DPC_IO, "%s: cannot be made: %s", folder.c_str(), std::strerror(errno));
  std::lock_guard<std::mutex> lock(mutex);
  const std::string path = folder + "/" + fileOf(header().rank);
  header().runId = runId;
  seal();
  AtomicFile file;
  if (dpc_status_t status = file.create(path))
    return status;
  if (dpc_status_t status = file.write(image, kRecorderBytes))
    return status;
  if (dpc_status_t status = file.commit())
    return status;
  const Fd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  void *mapped = opened.valid() ? ::mmap(nullptr, kRecorderBytes, PROT_READ | PROT_WRITE,
                                         MAP_SHARED, opened.get(), 0)
                                : MAP_FAILED;
  if (mapped == MAP_FAILED)
    return fail(DPC_IO, "%s: cannot be mapped: %s", path.c_str(), std::strerror(errno));
  header().magic[0] = 0; // what the launcher has of the rank does not go on
  image = static_cast<char *>(mapped);
  isFile = true;
  own.reset();
  return DPC_OK;
}

/// The number of earlier operations of the same group, or of earlier messages in the same
/// direction. Counts the operation.
uint64_t dpc_recorder::countInGroup(const dpc_comm_op_t &op) {
  if (op.family >= families.size())
    return 0; // the transport refuses it
  Family &family = families[op.family];
  const bool sends = op.op == DPC_OP_SEND;
  if (!sends && op.op != DPC_OP_RECV)
    return family.operations++;
  const uint32_t peer = op.peer < family.memberCount ? family.members[op.peer] : DPC_NONE;
  return peer < sent.size() ? (sends ? sent : received)[peer]++ : 0;
}

OperationRecord *dpc_recorder::kept(uint64_t number) const {
  OperationRecord &found =
      reinterpret_cast<OperationRecord *>(image + kRecordsAt)[number % kRecordCount];
  return number < count && count - number <= kRecordCount ? &found : nullptr;
}

uint64_t dpc_recorder::schedule(const dpc_comm_op_t &op, uint32_t action, uint32_t micro) {
  const uint64_t number = count++;
  OperationRecord &to = *kept(number);
  to.number.store(0, kRelaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  to.sequence = countInGroup(op);
  to.count = op.count;
  to.bufferId = op.buffer_id;
  to.step = currentStep;
  to.scheduledNs.store(recentNs(), kRelaxed);
  to.waitNs.store(0, kRelaxed);
  to.doneNs.store(0, kRelaxed);
  to.action = action;
  to.micro = micro;
  to.name = op.location < names.size() ? names[op.location] : DPC_NONE;
  to.peer = op.peer;
  to.family = static_cast<uint16_t>(op.family);
  to.op = static_cast<uint8_t>(op.op);
  to.dtype = static_cast<uint8_t>(op.dtype);
  to.reduction = static_cast<uint8_t>(op.reduction);
  to.entry = static_cast<uint8_t>(currentEntry);
  to.state.store(OperationState::scheduled, kRelaxed);
  to.number.store(number + 1, std::memory_order_release);
  return number;
}

void dpc_recorder::start(uint64_t number) {
  if (OperationRecord *found = kept(number))
    found->state.store(OperationState::started, kRelaxed);
}

void dpc_recorder::await(uint64_t number) {
  if (OperationRecord *found = kept(number))
    found->waitNs.store(recentNs(), kRelaxed);
}

void dpc_recorder::finish(uint64_t number) {
  if (OperationRecord *found = kept(number)) {
    found->doneNs.store(recentNs(), kRelaxed);
    found->state.store(OperationState::done, kRelaxed);
  }
}

void dpc_recorder::finishFrom(uint64_t first, uint64_t end) {
  const int64_t now = recentNs();
  for (uint64_t number = std::max(first, count - std::min(count, kRecordCount));
       number < std::min(count, end); ++number) {
    kept(number)->doneNs.store(now, kRelaxed);
    kept(number)->state.store(OperationState::done, kRelaxed);
  }
}

void dpc_recorder::end(dpc_status_t status) {
  header().status.store(status, kRelaxed);
  header().end.store(status == DPC_OK ? RankEnd::well : RankEnd::failed, std::memory_order_release);
}
