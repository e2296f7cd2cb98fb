// Reads the image of a flight recorder. Trusts no number of it: a file can be damaged, and memory
// of a rank that has died can have any contents.

#include "runtime/src/postmortem/ReadImage.h"

#include "dpc/action.h"
#include "dpc/program.h"
#include "runtime/src/base/Fingerprint.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstring>

namespace dpc {

namespace {

/// The text of an image: groups, then names.
class TextReader {
public:
  TextReader(const char *begin, uint64_t bytes) : begin(begin), bytes(bytes) {}

  bool take(uint32_t *out) {
    if (bytes - at < sizeof *out)
      return false;
    std::memcpy(out, begin + at, sizeof *out);
    at += sizeof *out;
    return true;
  }
  /// The name that begins at `place`. Returns false if there is none.
  bool name(uint32_t place, std::string *out) const {
    if (place >= bytes)
      return false;
    *out = std::string(begin + place, ::strnlen(begin + place, bytes - place));
    return true;
  }

private:
  const char *begin;
  uint64_t bytes, at = 0;
};

dpc_status_t damaged(const char *part) { return fail(DPC_INVALID, "its %s is damaged", part); }

bool readGroups(TextReader &text, const RecorderHeader &header, RankRecord *out) {
  for (uint32_t f = 0; f < header.familyCount; ++f) {
    RankRecord::RecordedGroup group;
    uint32_t name = 0, count = 0;
    if (!text.take(&name) || !text.take(&count) || count > header.worldSize)
      return false;
    group.members.resize(count);
    for (uint32_t &member : group.members)
      if (!text.take(&member) || member >= header.worldSize)
        return false;
    if (count && std::count(group.members.begin(), group.members.end(), header.rank) != 1)
      return false;
    if (name != DPC_NONE && !text.name(name, &group.family))
      return false;
    out->groups.push_back(std::move(group));
  }
  return true;
}

bool hasPeer(uint32_t op) {
  return op == DPC_OP_SEND || op == DPC_OP_RECV || op == DPC_OP_BROADCAST || op == DPC_OP_REDUCE ||
         op == DPC_OP_GATHER || op == DPC_OP_SCATTER;
}

/// Converts a time from the rank's monotonic clock to the wall clock. 0 stays 0.
int64_t wallOf(int64_t ns, int64_t wallNs) {
  return ns ? static_cast<int64_t>(static_cast<uint64_t>(ns) + static_cast<uint64_t>(wallNs)) : 0;
}

/// Converts a record. Returns false if it has values that no operation has.
bool readOperation(const OperationRecord &from, const RankRecord &rank, int64_t wallNs,
                   const TextReader &text, RecordedOperation *to) {
  const auto relaxed = std::memory_order_relaxed;
  const auto wall = [&](int64_t ns) { return wallOf(ns, wallNs); };
  to->number = from.number.load(relaxed) - 1;
  to->sequence = from.sequence;
  to->count = from.count;
  to->bufferId = from.bufferId;
  to->step = from.step;
  to->scheduledNs = wall(from.scheduledNs.load(relaxed));
  to->waitNs = wall(from.waitNs.load(relaxed));
  to->doneNs = wall(from.doneNs.load(relaxed));
  to->action = from.action;
  to->micro = from.micro;
  to->peer = from.peer;
  to->family = from.family;
  to->op = from.op;
  to->dtype = from.dtype;
  to->reduction = from.reduction;
  to->entry = from.entry;
  to->state = from.state.load(relaxed);
  if (to->op == 0 || to->op >= DPC_OP_COUNT || to->dtype >= DPC_DTYPE_COUNT ||
      to->reduction >= DPC_REDUCTION_COUNT || to->entry >= DPC_ENTRY_COUNT ||
      to->state >= OperationState::kinds)
    return false;
  const bool isPlaced = to->family < rank.groups.size() &&
                        (!hasPeer(to->op) || to->peer < rank.groups[to->family].members.size());
  if (!isPlaced && !rank.groups.empty())
    return false;
  return from.name == DPC_NONE || text.name(from.name, &to->name);
}

/// Text of a header's field, which need not end with a 0.
std::string fieldText(const char *field, size_t size) {
  std::string text(field, ::strnlen(field, size));
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 32 || c > 126; }, '?');
  return text;
}

} // namespace

dpc_status_t readImage(const char *image, size_t bytes, RankRecord *out) {
  RecorderHeader header;
  if (bytes < sizeof header.magic || std::memcmp(image, kRecorderMagic, sizeof header.magic) != 0)
    return fail(DPC_INVALID, "it is no record of a rank's operations");
  if (bytes != kRecorderBytes)
    return fail(DPC_INVALID, "it has %zu bytes, a record has %zu", bytes, kRecorderBytes);
  std::memcpy(static_cast<void *>(&header), image, sizeof header);
  if (header.version != kRecorderVersion)
    return fail(DPC_INVALID, "it has version %u of the format, this dpc-run reads version %u",
                header.version, kRecorderVersion);
  if (header.headerBytes != sizeof header || header.recordBytes != sizeof(OperationRecord) ||
      header.recordCount != kRecordCount || header.textBytes > kRecorderBytes - kTextAt)
    return damaged("header");
  Fingerprint sum;
  sum.add(image, offsetof(RecorderHeader, checksum));
  sum.add(image + kTextAt, header.textBytes);
  if (sum.value() != header.checksum || header.worldSize == 0 || header.rank >= header.worldSize ||
      header.end.load() >= RankEnd::kinds)
    return damaged("header");
  out->rank = header.rank;
  out->worldSize = header.worldSize;
  out->start = header.start;
  out->process = header.process;
  std::copy(header.planHash, header.planHash + out->planHash.size(), out->planHash.begin());
  out->runId = header.runId;
  out->host = fieldText(header.host, sizeof header.host);
  out->program = fieldText(header.program, sizeof header.program);
  out->end = header.end.load();
  out->status = header.status.load();
  TextReader text(image + kTextAt, header.textBytes);
  if (!readGroups(text, header, out))
    return damaged("list of groups");
  for (uint64_t i = 0; i < kRecordCount; ++i) {
    OperationRecord record;
    std::memcpy(static_cast<void *>(&record), image + kRecordsAt + i * sizeof record,
                sizeof record);
    const uint64_t number = record.number.load();
    RecordedOperation operation;
    if (number == 0)
      continue; // not used, or the rank ended while it wrote the record
    if ((number - 1) % kRecordCount != i ||
        !readOperation(record, *out, header.wallNs, text, &operation))
      return damaged(("record " + std::to_string(i)).c_str());
    out->operations.push_back(std::move(operation));
  }
  for (const RecordedPause &pause : header.pauses)
    if (pause.endNs.load())
      out->pauses.push_back(
          {wallOf(pause.beginNs.load(), header.wallNs), wallOf(pause.endNs.load(), header.wallNs)});
  std::sort(out->operations.begin(), out->operations.end(),
            [](const auto &a, const auto &b) { return a.number < b.number; });
  return DPC_OK;
}

} // namespace dpc
