// Simulates the START and WAIT actions of all ranks. Each rank in turn advances until
// it must wait for other ranks. The simulation ends when all ranks have ended, or when
// no rank can advance. A START must wait only if too many operations of its group are
// outstanding, and on a device until the rank's previous operation is complete, because
// the operations of a device move one after another. A WAIT must wait until all members
// have started the operation.
#include "runtime/src/plan/GroupPlay.h"

#include "runtime/src/base/OperationExtents.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/plan/PlanNames.h"
#include "runtime/src/program/TableWalk.h"

#include <deque>
#include <map>

namespace dpc::plan {

namespace {

using Number = unsigned long long;

/// A group may have this many outstanding operations (see dpc_comm_vtable_t::start).
constexpr uint64_t kMostUnderWay = 64;

/// The first START of an operation. When other members start the operation, their
/// START actions must agree with this one.
struct Said {
  uint32_t rank;    ///< the rank that started the operation first
  uint64_t action;  ///< index of this rank's START action
  uint64_t start;   ///< number of this START among all STARTs of the rank
  uint32_t micro;   ///< the microbatch of this START
  size_t count = 1; ///< members that have started the operation
};

/// One group, or the messages from one rank to another rank. All members must start
/// the same operations in the same order.
struct Channel {
  std::string name;
  std::vector<uint32_t> members;
  std::vector<uint64_t> started; ///< number of started operations per member
  std::deque<Said> said;         ///< the operations from number `complete` on
  uint64_t complete = 0;         ///< number of operations that all members have started
};

class GroupPlay {
public:
  GroupPlay(const dpc_program_t &program, uint32_t entry, const GroupPlaces &places,
            const std::vector<const Played *> &played)
      : program(program), entry(entry), places(places), played(played), ranks(program.world_size) {}

  dpc_status_t run(uint64_t *outStarted) {
    for (uint32_t r = 0; r < program.world_size; ++r) {
      ranks[r].events.resize(program.ranks[r].event_count);
      if (dpc_status_t status = findTrace(r))
        return failWithin(status, "rank %u, %s", r, nameOf(entry));
    }
    for (bool goesOn = true; goesOn;) {
      goesOn = false;
      for (uint32_t r = 0; r < program.world_size; ++r) {
        const uint64_t before = ranks[r].at;
        if (dpc_status_t status = advance(r, outStarted))
          return status;
        goesOn = goesOn || ranks[r].at != before;
      }
    }
    return explainStandstill();
  }

private:
  struct Event {
    Channel *channel = nullptr;
    uint64_t sequence = 0;
  };
  /// A START or a WAIT of a rank.
  struct Step {
    uint64_t action;
    uint32_t micro;
  };
  struct Rank {
    const std::vector<Step> *trace = nullptr; ///< its STARTs and WAITs in order
    uint64_t at = 0, starts = 0;
    std::vector<Event> events;
    Event latest; ///< the operation of the latest START

    bool isMoving() const { return latest.channel && latest.channel->complete <= latest.sequence; }
  };

  const dpc_action_t &actionOf(uint32_t rank, uint64_t index) const {
    return program.ranks[rank].entries[entry].actions[index];
  }

  /// Lists the START and WAIT actions of a rank in the order in which it performs
  /// them. Ranks with the same table share the list.
  dpc_status_t findTrace(uint32_t rank) {
    const dpc_actions_t &table = program.ranks[rank].entries[entry];
    auto [known, isNew] = traces.try_emplace({table.actions, table.count});
    ranks[rank].trace = &known->second;
    if (!isNew)
      return DPC_OK;
    auto note = [&](uint64_t index, uint32_t micro) {
      const uint32_t kind = table.actions[index].kind;
      if (kind == DPC_ACTION_START || kind == DPC_ACTION_WAIT)
        known->second.push_back({index, micro});
      return dpc_status_t(DPC_OK);
    };
    return walkTable(table, note, kMostActions);
  }

  dpc_status_t advance(uint32_t r, uint64_t *outStarted) {
    Rank &rank = ranks[r];
    for (; rank.at < rank.trace->size(); ++rank.at) {
      const auto [index, micro] = (*rank.trace)[rank.at];
      const dpc_action_t &action = actionOf(r, index);
      Event &event = rank.events[action.event];
      if (action.kind == DPC_ACTION_WAIT) {
        if (event.channel->complete <= event.sequence)
          return DPC_OK;
        continue;
      }
      if (program.device && rank.isMoving())
        return DPC_OK;
      uint32_t member = 0;
      Channel &channel = channelOf(r, action, &member);
      if (channel.started[member] - channel.complete == kMostUnderWay)
        return DPC_OK;
      event = rank.latest = {&channel, channel.started[member]};
      if (dpc_status_t status = announce(channel, member, {r, index, rank.starts++, micro}))
        return status;
      ++*outStarted;
    }
    return DPC_OK;
  }

  Channel &channelOf(uint32_t rank, const dpc_action_t &action, uint32_t *outMember) {
    const dpc_group_family_t &family = program.families[action.group];
    const GroupPlaces::Place place = places.of(action.group, rank);
    const uint32_t *members = family.ranks + uint64_t(place.group) * family.group_size;
    const bool sends = action.op == DPC_OP_SEND;
    if (!sends && action.op != DPC_OP_RECV) {
      Channel &channel = groups[{action.group, place.group}];
      *outMember = place.index;
      if (channel.members.empty())
        name(channel, std::string("group ") + std::to_string(place.group) + " of " + family.name,
             {members, members + family.group_size});
      return channel;
    }
    const uint32_t other = members[action.peer], from = sends ? rank : other,
                   to = sends ? other : rank;
    Channel &channel = pairs[{from, to}];
    *outMember = sends ? 0 : 1;
    if (channel.members.empty())
      name(channel, "rank " + std::to_string(from) + " to rank " + std::to_string(to), {from, to});
    return channel;
  }

  static void name(Channel &channel, std::string text, std::vector<uint32_t> members) {
    channel.name = std::move(text);
    channel.members = std::move(members);
    channel.started.resize(channel.members.size());
  }

  dpc_status_t announce(Channel &channel, uint32_t member, const Said &mine) {
    const uint64_t sequence = channel.started[member]++;
    if (sequence - channel.complete == channel.said.size()) {
      channel.said.push_back(mine);
    } else {
      Said &first = channel.said[sequence - channel.complete];
      if (dpc_status_t status = compare(channel, sequence, first, mine))
        return status;
      ++first.count;
    }
    while (!channel.said.empty() && channel.said.front().count == channel.members.size()) {
      channel.said.pop_front();
      ++channel.complete;
    }
    return DPC_OK;
  }

  /// Offset of a buffer from the start of its logical buffer.
  uint64_t offsetInside(uint32_t rank, const dpc_buffer_t &buffer) const {
    return buffer.offset - program.ranks[rank].buffers[buffer.buffer].offset;
  }

  dpc_status_t compare(const Channel &channel, uint64_t sequence, const Said &first,
                       const Said &second) const {
    const dpc_action_t &a = actionOf(first.rank, first.action),
                       &b = actionOf(second.rank, second.action);
    const bool isPair = a.op == DPC_OP_SEND || a.op == DPC_OP_RECV;
    const struct {
      const char *what;
      uint64_t a, b;
    } facts[] = {
        {"kind", isPair ? 0 : a.op, isPair ? 0 : b.op},
        {"element type", a.dtype, b.dtype},
        {"count", a.count, b.count},
        {"reduction", a.reduction, b.reduction},
        {"root", isPair ? 0 : a.peer, isPair ? 0 : b.peer},
        {"logical buffer", a.buffer_id, b.buffer_id},
        {"microbatch", isPair ? first.micro : 0, isPair ? second.micro : 0},
    };
    for (const auto &fact : facts)
      if (fact.a != fact.b)
        return differ(channel, sequence, first, second, fact.what, fact.a, fact.b);
    if (isPair || program.ranks[first.rank].buffers != program.ranks[second.rank].buffers)
      return DPC_OK;
    if (a.op == DPC_OP_BARRIER)
      return DPC_OK;
    if (dpc_status_t status = compareContents(channel, sequence, first, second))
      return status;
    // Ranks with the same table of logical buffers must use the same part of a logical
    // buffer. A buffer that only the root has is not compared.
    const Extents extents = extentsOf(a.op, 1, channel.members.size(), /*isRoot=*/false);
    if (extents.in != Extents::kNone)
      if (dpc_status_t status =
              compareBuffers(channel, sequence, first, second, "input", a.in, b.in))
        return status;
    return extents.out == Extents::kNone
               ? DPC_OK
               : compareBuffers(channel, sequence, first, second, "output", a.out, b.out);
  }

  /// Checks that two members of a reduction have written the same byte ranges of
  /// their inputs. Otherwise the sum would include bytes that one member has not
  /// written.
  dpc_status_t compareContents(const Channel &channel, uint64_t sequence, const Said &first,
                               const Said &second) const {
    const uint32_t op = actionOf(first.rank, first.action).op;
    if (op != DPC_OP_ALL_REDUCE && op != DPC_OP_REDUCE_SCATTER && op != DPC_OP_REDUCE)
      return DPC_OK;
    const auto &a = played[first.rank]->sent[first.start],
               &b = played[second.rank]->sent[second.start];
    if (a == b)
      return DPC_OK;
    size_t same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same])
      ++same;
    auto written = [&](const auto &parts) {
      return same == parts.size() ? std::string("nothing more")
                                  : "bytes [" + std::to_string(parts[same].first) + ", " +
                                        std::to_string(parts[same].second) + ")";
    };
    return fail(DPC_INVALID, "%s: the input has %s; %s: it has %s (operation %llu of %s)",
                describePlace(program, first.rank, entry, first.action).c_str(), written(a).c_str(),
                describePlace(program, second.rank, entry, second.action).c_str(),
                written(b).c_str(), Number(sequence), channel.name.c_str());
  }

  dpc_status_t compareBuffers(const Channel &channel, uint64_t sequence, const Said &first,
                              const Said &second, const std::string &side, const dpc_buffer_t &a,
                              const dpc_buffer_t &b) const {
    const struct {
      const char *what;
      uint64_t a, b;
    } facts[] = {
        {" is buffer", a.buffer, b.buffer},
        {" begins at byte", offsetInside(first.rank, a), offsetInside(second.rank, b)},
        {" moves by", a.index_stride, b.index_stride},
    };
    for (const auto &fact : facts)
      if (fact.a != fact.b)
        return differ(channel, sequence, first, second, (side + fact.what).c_str(), fact.a, fact.b);
    return DPC_OK;
  }

  dpc_status_t differ(const Channel &channel, uint64_t sequence, const Said &first,
                      const Said &second, const char *what, uint64_t a, uint64_t b) const {
    return fail(DPC_INVALID, "%s: %s %llu; %s: %s %llu (operation %llu of %s)",
                describePlace(program, first.rank, entry, first.action).c_str(), what, Number(a),
                describePlace(program, second.rank, entry, second.action).c_str(), what, Number(b),
                Number(sequence), channel.name.c_str());
  }

  /// Describes the operation for which the rank `r` waits, and names a rank that has
  /// not started this operation.
  std::string describeNeed(uint32_t r) {
    const uint64_t index = (*ranks[r].trace)[ranks[r].at].action;
    const dpc_action_t &action = actionOf(r, index);
    uint32_t member = 0;
    bool starts = action.kind == DPC_ACTION_START;
    Event event = ranks[r].events[action.event];
    if (starts && program.device && ranks[r].isMoving()) {
      starts = false;
      event = ranks[r].latest;
    }
    const Channel &channel = starts ? channelOf(r, action, &member) : *event.channel;
    const uint64_t sequence = starts ? channel.complete : event.sequence;
    uint32_t missing = 0;
    while (channel.started[missing] > sequence)
      ++missing;
    return describePlace(program, r, entry, index) + " waits for operation " +
           std::to_string(sequence) + " of " + channel.name + ", which rank " +
           std::to_string(channel.members[missing]) + " has not started";
  }

  dpc_status_t explainStandstill() {
    std::string text;
    uint32_t count = 0;
    constexpr uint32_t kMostNamed = 3;
    for (uint32_t r = 0; r < program.world_size; ++r) {
      if (ranks[r].at == ranks[r].trace->size())
        continue;
      if (count++ < kMostNamed)
        text += (text.empty() ? "" : "; ") + describeNeed(r);
    }
    if (count == 0)
      return DPC_OK;
    if (count > kMostNamed)
      text += "; and " + std::to_string(count - kMostNamed) + " more";
    return fail(DPC_INVALID, "%u of %u ranks wait for ever: %s", count, program.world_size,
                text.c_str());
  }

  const dpc_program_t &program;
  const uint32_t entry;
  const GroupPlaces &places;
  const std::vector<const Played *> &played; ///< indexed by rank
  std::vector<Rank> ranks;
  std::map<std::pair<const dpc_action_t *, uint64_t>, std::vector<Step>> traces;
  std::map<std::pair<uint32_t, uint32_t>, Channel> groups; ///< keyed by family and group
  std::map<std::pair<uint32_t, uint32_t>, Channel> pairs;  ///< keyed by sender and receiver
};

} // namespace

dpc_status_t playGroups(const dpc_program_t &program, uint32_t entry, const GroupPlaces &places,
                        const std::vector<const Played *> &played, uint64_t *outStarted) {
  return GroupPlay(program, entry, places, played).run(outStarted);
}

} // namespace dpc::plan
