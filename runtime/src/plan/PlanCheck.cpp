// Proves the plan of a program: checks first the tables of each rank, then the memory
// of each rank, and then the communication of all ranks together.
#include "runtime/src/plan/PlanCheck.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/plan/BufferCheck.h"
#include "runtime/src/plan/GroupPlay.h"
#include "runtime/src/plan/LaunchCheck.h"
#include "runtime/src/plan/MemoryPlay.h"
#include "runtime/src/program/ProgramCheck.h"

#include <map>
#include <set>
#include <tuple>

namespace dpc {

using namespace dpc::plan;

namespace {

class PlanCheck {
public:
  explicit PlanCheck(const dpc_program_t &program) : program(program) {}

  dpc_status_t run(PlanSummary *out) {
    summary.ranks = program.world_size;
    for (uint32_t r = 0; r < program.world_size; ++r)
      if (dpc_status_t status = checkTables(program, r))
        return status;
    if (dpc_status_t status = checkLaunches(program))
      return status;
    if (dpc_status_t status = places.find(program))
      return status;
    findFamilies();
    for (std::vector<const Played *> &entry : ofRank)
      entry.resize(program.world_size);
    for (uint32_t r = 0; r < program.world_size; ++r)
      if (dpc_status_t status = checkRank(r))
        return status;
    for (uint32_t e = 0; e < DPC_ENTRY_COUNT; ++e)
      if (isPlayed(e))
        if (dpc_status_t status =
                playGroups(program, e, places, ofRank[e], &summary.communications))
          return status;
    *out = summary;
    return DPC_OK;
  }

private:
  /// Everything on which the simulation of an entry on a rank depends. If several ranks
  /// have equal Kinds, only one of them is simulated.
  struct Kind {
    const dpc_action_t *actions;
    const dpc_logical_buffer_t *buffers;
    uint64_t actionCount, bufferCount;
    uint32_t stage;
    std::vector<uint64_t> facts; ///< the entry, results for the host, indices in groups

    bool operator<(const Kind &other) const {
      return std::tie(actions, buffers, actionCount, bufferCount, stage, facts) <
             std::tie(other.actions, other.buffers, other.actionCount, other.bufferCount,
                      other.stage, other.facts);
    }
  };

  /// Finds the group families that accesses and actions use. A rank's index in a group
  /// of these families can change addresses, so it belongs to the Kind.
  void findFamilies() {
    std::set<uint32_t> found;
    for (uint32_t f = 0; f < program.function_count; ++f)
      for (uint64_t a = 0; a < program.functions[f].access_count; ++a)
        found.insert(program.functions[f].accesses[a].family);
    for (uint32_t r = 0; r < program.world_size; ++r)
      for (const dpc_actions_t &table : program.ranks[r].entries)
        if (seen.insert({table.actions, table.count}).second)
          for (uint64_t a = 0; a < table.count; ++a)
            found.insert(table.actions[a].group);
    for (uint32_t family : found)
      if (family < program.family_count)
        families.push_back(family);
  }

  dpc_status_t checkRank(uint32_t r) {
    const dpc_rank_t &rank = program.ranks[r];
    summary.buffers += rank.buffer_count;
    std::vector<Result> results;
    if (dpc_status_t status = checkBuffers(program, r, &results))
      return status;
    for (uint32_t e = 0; e < DPC_ENTRY_COUNT; ++e) {
      const dpc_actions_t &table = rank.entries[e];
      if (!isPlayed(e))
        continue;
      Kind kind = {table.actions, rank.buffers, table.count, rank.buffer_count, rank.stage, {e}};
      for (const Result &result : results)
        kind.facts.insert(kind.facts.end(),
                          {result.buffer, result.entries, result.range.begin, result.range.end});
      for (uint32_t family : families) {
        const GroupPlaces::Place &place = places.of(family, r);
        kind.facts.push_back(place.group == DPC_NONE ? DPC_NONE : place.index);
      }
      auto [known, isNew] = played.try_emplace(std::move(kind));
      ofRank[e][r] = &known->second;
      if (isNew)
        if (dpc_status_t status = playMemory(program, r, e, places, results, &known->second))
          return status;
      summary.actions += known->second.actions;
    }
    return DPC_OK;
  }

  /// Whether any rank has actions for the entry.
  bool isPlayed(uint32_t entry) const {
    for (uint32_t r = 0; r < program.world_size; ++r)
      if (program.ranks[r].entries[entry].count)
        return true;
    return false;
  }

  const dpc_program_t &program;
  PlanSummary summary;
  GroupPlaces places;
  std::vector<uint32_t> families;
  std::set<std::pair<const dpc_action_t *, uint64_t>> seen;
  std::map<Kind, Played> played;
  std::vector<const Played *> ofRank[DPC_ENTRY_COUNT]; ///< indexed by rank
};

} // namespace

std::string describePlan(const PlanSummary &summary) {
  return "plan of " + countOf(summary.ranks, "rank") + ": OK, " +
         countOf(summary.actions, "action") + ", " +
         countOf(summary.communications, "communication") + ", " +
         countOf(summary.buffers, "buffer");
}

dpc_status_t checkPlan(const dpc_program_t &program, PlanSummary *outSummary) {
  PlanSummary summary;
  if (dpc_status_t status = PlanCheck(program).run(&summary))
    return failWithin(status, "plan of %u rank%s", program.world_size,
                      program.world_size == 1 ? "" : "s");
  if (outSummary)
    *outSummary = summary;
  return DPC_OK;
}

} // namespace dpc
