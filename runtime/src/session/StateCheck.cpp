// Fingerprints of replicated state. One all-reduce of maxima shows every rank which parts differ:
// of two numbers per part, x and -x, the maxima add up to 0 only if all ranks have the same x.

#include "runtime/src/session/StateCheck.h"

#include "runtime/src/base/Fingerprint.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace dpc {

namespace {

/// The state is read in pieces of this size, which fit into the cache of a core.
constexpr uint64_t kStagingBytes = 256 << 10;

} // namespace

StateCheck::StateCheck(dpc_session &session) : session(session), staging(kStagingBytes) {
  const dpc_program_t &program = session.program;
  for (uint32_t state = 0; state < program.state_count; ++state)
    for (const Replicas &each : findReplicas(program.states[state], program.world_size))
      if (each.ranks.size() > 1)
        parts.push_back({state, each.ranks, spansOf(state, each)});
}

/// Where this rank has the elements of `replicas`, in the order of their segments.
std::vector<StateCheck::Span> StateCheck::spansOf(uint32_t state, const Replicas &replicas) const {
  const uint32_t rank = session.options.rank;
  if (!std::count(replicas.ranks.begin(), replicas.ranks.end(), rank))
    return {};
  struct Piece {
    uint64_t global, length, local;
  };
  std::vector<Piece> pieces;
  forEachPiece(session.program.states[state].placements[rank],
               [&](uint64_t local, uint64_t global, uint64_t length) {
                 pieces.push_back({global, length, local});
                 return 0;
               });
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece &a, const Piece &b) { return a.global < b.global; });
  std::vector<Span> out;
  const auto add = [&](uint64_t local, uint64_t length) {
    if (!out.empty() && out.back().local + out.back().length == local)
      out.back().length += length;
    else
      out.push_back({local, length});
  };
  forEachOverlap(replicas.segments, 0, UINT64_MAX, [&](uint64_t begin, uint64_t length, uint64_t) {
    auto piece = std::upper_bound(pieces.begin(), pieces.end(), begin,
                                  [](uint64_t at, const Piece &p) { return at < p.global; });
    for (--piece; length && piece != pieces.end(); ++piece) {
      const uint64_t skipped = begin - piece->global,
                     part = std::min(length, piece->length - skipped);
      add(piece->local + skipped, part);
      begin += part, length -= part;
    }
  });
  return out;
}

/// The fingerprint of this rank's copy of a part, which is not negative.
dpc_status_t StateCheck::fingerprint(const Part &part, int64_t *out) {
  const dpc_state_t &state = session.program.states[part.state];
  const dpc_placement_t &place = state.placements[session.options.rank];
  const uint64_t size = dpc_dtype_size(state.dtype);
  Fingerprint sum;
  for (const Span &span : part.spans)
    for (uint64_t at = 0; at < span.length * size; at += kStagingBytes) {
      const uint64_t bytes = std::min(kStagingBytes, span.length * size - at);
      const char *values = nullptr;
      if (dpc_status_t status =
              readThrough(*session.queue, {place.space, place.offset + span.local * size + at},
                          bytes, staging.data(), &values))
        return status;
      sum.add(values, bytes);
    }
  *out = static_cast<int64_t>(sum.value() >> 1);
  return DPC_OK;
}

/// Finds the parts whose fingerprints are not the same on all ranks that hold them. `own` has this
/// rank's fingerprints.
dpc_status_t StateCheck::findDifferent(const std::vector<int64_t> &own, std::vector<size_t> *out) {
  auto *numbers = reinterpret_cast<int64_t *>(session.memory.window());
  constexpr size_t kMost = RankMemory::kWindowBytes / (2 * sizeof *numbers);
  for (size_t first = 0; first < parts.size(); first += kMost) {
    const size_t count = std::min(kMost, parts.size() - first);
    for (size_t i = 0; i < count; ++i) {
      const bool isMine = !parts[first + i].spans.empty();
      numbers[2 * i] = isMine ? own[first + i] : INT64_MIN;
      numbers[2 * i + 1] = isMine ? -own[first + i] : INT64_MIN;
    }
    dpc_comm_op_t op = {};
    op.op = DPC_OP_ALL_REDUCE;
    op.dtype = DPC_I64;
    op.reduction = DPC_MAX;
    op.location = DPC_NONE;
    op.count = 2 * count;
    op.buffer_id = DPC_CONTROL_BUFFER;
    op.in = op.out = numbers;
    if (dpc_status_t status = dpc_comm_run(session.comm, &op))
      return status;
    for (size_t i = 0; i < count; ++i)
      if (numbers[2 * i] != -numbers[2 * i + 1])
        out->push_back(first + i);
  }
  return DPC_OK;
}

dpc_status_t StateCheck::compare() {
  std::vector<int64_t> own(parts.size());
  for (size_t i = 0; i < parts.size(); ++i)
    if (!parts[i].spans.empty())
      if (dpc_status_t status = fingerprint(parts[i], &own[i]))
        return session.failed(status);
  std::vector<size_t> different;
  if (dpc_status_t status = findDifferent(own, &different))
    return session.failed(status);
  step = session.control.step;
  return different.empty() ? dpc_status_t(DPC_OK)
                           : explain(different[0], different.size() - 1, own[different[0]]);
}

/// Collective. Fails with a message about a part whose copies differ. `others` is the number of
/// other parts whose copies differ.
dpc_status_t StateCheck::explain(size_t index, size_t others, int64_t own) {
  const Part &part = parts[index];
  std::vector<char> records;
  if (dpc_status_t status = session.collect(&own, sizeof own, &records))
    return session.failed(status);
  char text[512] = "";
  if (session.options.rank == 0) {
    std::vector<int64_t> values;
    for (const uint32_t rank : part.ranks) {
      values.emplace_back();
      std::memcpy(&values.back(), records.data() + rank * sizeof own, sizeof own);
    }
    std::string message =
        differenceText(session.program.states[part.state].name, part.ranks, values) +
        " after step " + std::to_string(step);
    if (others)
      message +=
          " (" + countOf(others, "other tensor") + (others == 1 ? " differs" : " differ") + " too)";
    std::snprintf(text, sizeof text, "%s", message.c_str());
  }
  return session.failTogether(DPC_PEER, text, sizeof text);
}

std::string differenceText(const std::string &tensor, const std::vector<uint32_t> &ranks,
                           const std::vector<int64_t> &values) {
  std::map<int64_t, size_t> counts;
  for (const int64_t value : values)
    ++counts[value];
  size_t most = 0, ties = 0;
  int64_t frequent = 0;
  for (const auto &[value, count] : counts) {
    ties = count == most ? ties + 1 : count > most ? 1 : ties;
    if (count > most)
      most = count, frequent = value;
  }
  if (ties > 1)
    return ranksText(ranks) + " hold different values of " + tensor;
  std::vector<uint32_t> minority, majority;
  for (size_t i = 0; i < ranks.size(); ++i)
    (values[i] == frequent ? majority : minority).push_back(ranks[i]);
  return ranksText(minority) + (minority.size() == 1 ? " holds" : " hold") + " other values of " +
         tensor + " than " + ranksText(majority);
}

} // namespace dpc
