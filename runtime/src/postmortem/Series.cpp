// Finds which operations of different ranks belong together, by their numbers in a group.

#include "runtime/src/postmortem/Series.h"

#include "dpc/action.h"
#include "runtime/src/base/OperationNames.h"
#include "runtime/src/base/Phrases.h"

#include <algorithm>
#include <utility>

namespace dpc {

namespace {

bool isMessage(const RecordedOperation &operation) {
  return operation.op == DPC_OP_SEND || operation.op == DPC_OP_RECV;
}

/// Identifies a series: the family's name is empty for the messages between two ranks.
using Key = std::pair<std::string, std::vector<uint32_t>>;

Key keyOf(const RecordedOperation &operation, const RankRecord &rank) {
  const RankRecord::RecordedGroup &group = rank.groups[operation.family];
  if (!isMessage(operation))
    return {group.family, group.members};
  const uint32_t peer = group.members[operation.peer];
  return operation.op == DPC_OP_SEND ? Key{"", {rank.rank, peer}} : Key{"", {peer, rank.rank}};
}

Series makeSeries(const Key &key, bool isPair) {
  Series series;
  series.isPair = isPair;
  series.members = key.second;
  series.operations.resize(key.second.size());
  series.isKnown.resize(key.second.size());
  series.name = isPair ? "messages from rank " + std::to_string(key.second[0]) + " to rank " +
                             std::to_string(key.second[1])
                       : "group " + key.first + " (" + ranksText(key.second) + ")";
  return series;
}

} // namespace

const RecordedOperation *Series::find(size_t member, uint64_t sequence) const {
  const auto found = operations[member].find(sequence);
  return found == operations[member].end() ? nullptr : found->second;
}

bool Series::lacks(size_t member, uint64_t sequence) const {
  return isKnown[member] &&
         (operations[member].empty() || operations[member].rbegin()->first < sequence);
}

std::vector<Series> findSeries(const RecordsByRank &ranks) {
  std::map<std::pair<bool, Key>, Series> found;
  for (const RankRecord *rank : ranks) {
    if (!rank || rank->groups.empty()) // without groups, the rank had no room for them
      continue;
    for (const RecordedOperation &operation : rank->operations) {
      const Key key = keyOf(operation, *rank);
      const bool isPair = isMessage(operation);
      Series &series =
          found.emplace(std::make_pair(isPair, key), makeSeries(key, isPair)).first->second;
      const auto member = std::find(key.second.begin(), key.second.end(), rank->rank);
      if (isPair && key.second[0] == key.second[1])
        continue; // no rank sends to itself
      series.operations[size_t(member - key.second.begin())][operation.sequence] = &operation;
    }
  }
  std::vector<Series> out;
  for (auto &[key, series] : found) {
    for (size_t m = 0; m < series.members.size(); ++m) {
      const RankRecord *rank = ranks[series.members[m]];
      const bool hasAll = rank && !rank->groups.empty() &&
                          (rank->operations.empty() || rank->operations[0].number == 0);
      series.isKnown[m] = hasAll || !series.operations[m].empty();
    }
    out.push_back(std::move(series));
  }
  return out;
}

Announcement announcementOf(const RecordedOperation &operation, bool isPair) {
  dpc_comm_op_t op = {};
  op.op = operation.op;
  op.peer = operation.peer;
  op.dtype = operation.dtype;
  op.reduction = operation.reduction;
  op.count = operation.count;
  op.buffer_id = operation.bufferId;
  return announce(op, isPair);
}

std::string describe(const RecordedOperation &operation) {
  std::string text = operationText(operation.op, operation.bufferId);
  if (!operation.name.empty())
    text += " (" + operation.name + ")";
  return text + ", step " + std::to_string(operation.step + 1);
}

std::string describe(const RecordedOperation &operation, const Series &series) {
  return describe(operation) + ", operation " + std::to_string(operation.sequence) + " of " +
         series.name;
}

} // namespace dpc
