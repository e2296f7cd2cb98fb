// Plays one step: an event loop over the representatives of ranks that cannot differ.

#include "planning/StepPlay.h"

#include "planning/PlanError.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace dpc;

static constexpr llvm::StringLiteral kCauseNames[] = {"gradients", "activations", "parameters",
                                                      "metrics", "stages"};
static_assert(std::size(kCauseNames) == kPlayCauses);

llvm::StringRef dpc::nameOf(PlayCause cause) { return kCauseNames[size_t(cause)]; }

llvm::Error PlayProblem::check() const {
  if (llvm::Error error = topology.check())
    return error;
  const int64_t ranks = tableOf.size();
  if (ranks > topology.countDevices())
    return planError("{0} ranks on {1} devices", ranks, topology.countDevices());
  for (size_t table : tableOf)
    if (table >= tables.size())
      return planError("table {0} of {1}", table, tables.size());
  if (!slowness.empty() && slowness.size() != tableOf.size())
    return planError("{0} ranks have {1} speeds", ranks, slowness.size());
  for (double slow : slowness)
    if (!(slow > 0) || !std::isfinite(slow))
      return planError("a rank that computes {0} times as long", slow);
  for (const Family &family : families)
    for (const auto &group : family.groups)
      for (int64_t rank : group)
        if (rank < 0 || rank >= ranks)
          return planError("a group has rank {0} of {1}", rank, ranks);
  for (const PlayTable &table : tables)
    for (const auto &[number, action] : llvm::enumerate(table.actions)) {
      if (action.kind == PlayAction::Kind::compute &&
          (!(action.seconds >= 0) || !std::isfinite(action.seconds)))
        return planError("action {0} takes {1} s", number, action.seconds);
      if (action.kind == PlayAction::Kind::start &&
          (action.operation.family >= families.size() || !(action.operation.bytes >= 0)))
        return planError("action {0} is in family {1} of {2}, and has {3} bytes", number,
                         action.operation.family, families.size(), action.operation.bytes);
      if (action.kind == PlayAction::Kind::wait &&
          (action.started >= number ||
           table.actions[action.started].kind != PlayAction::Kind::start))
        return planError("action {0} waits for action {1}, which starts nothing before", number,
                         action.started);
    }
  return llvm::Error::success();
}

llvm::Error PlayChanges::applyTo(PlayProblem &problem) const {
  const auto ranks = int64_t(problem.tableOf.size());
  if (!slowRanks.empty())
    problem.slowness.resize(ranks, 1);
  for (auto [rank, slow] : slowRanks) {
    if (rank < 0 || rank >= ranks)
      return planError("there is no rank {0}, only ranks 0 to {1}", rank, ranks - 1);
    problem.slowness[rank] *= slow;
  }
  for (const auto &[name, share] : slowLevels) {
    std::string known;
    bool isKnown = false;
    for (LinkLevel &level : problem.topology.levels) {
      known += (known.empty() ? "'" : ", '") + level.name + "'";
      if (level.name != name)
        continue;
      isKnown = true;
      level.bytesPerSecond *= share;
      level.unitBytesPerSecond *= share;
    }
    if (!isKnown)
      return planError("the machine '{0}' has no level '{1}', only {2}", problem.topology.name,
                       name, known);
  }
  return llvm::Error::success();
}

namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

/// Divides ranks into classes whose members cannot differ: refines the classes of equal tables and
/// speeds until ranks of one class are in groups of the same classes, at the same levels.
struct RankClasses {
  const PlayProblem &problem;
  std::vector<size_t> classOf; ///< by rank
  std::vector<int64_t> first;  ///< by class: its first rank
  /// By family and rank: the number of its group; kNone without one.
  std::vector<std::vector<size_t>> groupOf;
  /// By family and group: groups of equal classes and places have equal numbers.
  std::vector<std::vector<size_t>> kindOf;

  explicit RankClasses(const PlayProblem &problem) : problem(problem) {
    findGroups();
    std::map<std::pair<size_t, double>, size_t> known;
    for (auto [rank, table] : llvm::enumerate(problem.tableOf)) {
      const double slow = problem.slowness.empty() ? 1 : problem.slowness[rank];
      classOf.push_back(known.try_emplace({table, slow}, known.size()).first->second);
    }
    for (size_t before = 0, now = known.size(); before != now;) {
      before = now;
      now = refine();
    }
    for (auto [rank, number] : llvm::enumerate(classOf))
      if (number == first.size())
        first.push_back(rank);
  }

private:
  void findGroups() {
    std::vector<bool> hasMessages(problem.families.size());
    for (const PlayTable &table : problem.tables)
      for (const PlayAction &action : table.actions)
        if (action.kind == PlayAction::Kind::start &&
            action.operation.kind != PlayOperation::Kind::collective)
          hasMessages[action.operation.family] = true;
    isOrdered = hasMessages;
    for (const PlayProblem::Family &family : problem.families) {
      groupOf.emplace_back(problem.tableOf.size(), kNone);
      places.emplace_back();
      for (auto [number, group] : llvm::enumerate(family.groups)) {
        for (int64_t rank : group)
          groupOf.back()[rank] = number;
        const GroupPlaces own(problem.topology, group);
        std::vector<int64_t> key(own.units.begin(), own.units.end());
        key.push_back(own.members);
        places.back().push_back(std::move(key));
      }
    }
    kindOf.resize(problem.families.size());
  }

  /// Numbers the kinds of groups by the classes, and then the classes by the kinds of their groups.
  /// Returns the number of classes.
  size_t refine() {
    for (auto [family, groups] : llvm::enumerate(problem.families)) {
      std::map<std::pair<std::vector<int64_t>, std::vector<size_t>>, size_t> kinds;
      kindOf[family].clear();
      for (auto [number, group] : llvm::enumerate(groups.groups)) {
        std::vector<size_t> classes;
        for (int64_t rank : group)
          classes.push_back(classOf[rank]);
        if (!isOrdered[family])
          llvm::sort(classes);
        kindOf[family].push_back(
            kinds.try_emplace({places[family][number], classes}, kinds.size()).first->second);
      }
    }
    std::map<std::vector<size_t>, size_t> known;
    for (size_t rank = 0; rank < classOf.size(); ++rank) {
      std::vector<size_t> key = {classOf[rank]};
      for (size_t family = 0; family < groupOf.size(); ++family)
        key.push_back(groupOf[family][rank] == kNone ? kNone
                                                     : kindOf[family][groupOf[family][rank]]);
      classOf[rank] = known.try_emplace(std::move(key), known.size()).first->second;
    }
    return known.size();
  }

  std::vector<bool> isOrdered;
  std::vector<std::vector<std::vector<int64_t>>> places;
};

/// An operation of one kind of group, or of one pair.
struct Operation {
  std::vector<size_t> classes; ///< of its members
  size_t started = 0;          ///< how many of them have started it
  /// The time before bytes move, and the time of the bytes if no other operation shares a level.
  double startSeconds = 0, byteSeconds = 0;
  std::vector<bool> crosses; ///< by level
  double ready = -1, complete = -1;
  bool isMoving = false;
};

class StepPlayer {
public:
  explicit StepPlayer(const PlayProblem &problem)
      : problem(problem), classes(problem), ranks(classes.first.size()) {
    for (auto [number, first] : llvm::enumerate(classes.first)) {
      Rank &rank = ranks[number];
      rank.table = &problem.tables[problem.tableOf[first]];
      rank.slow = problem.slowness.empty() ? 1 : problem.slowness[first];
      rank.played.table = problem.tableOf[first];
      rank.played.actions.resize(rank.table->actions.size());
      rank.operations.resize(rank.table->actions.size(), kNone);
    }
    for (auto [rank, number] : llvm::enumerate(classes.classOf))
      ranks[number].played.ranks.push_back(rank);
  }

  llvm::Expected<StepTimeline> run() {
    for (size_t number = 0; number < ranks.size(); ++number)
      advance(number);
    beginOperations();
    while (!moving.empty() || !computing.empty()) {
      step();
      beginOperations();
    }
    StepTimeline timeline;
    for (Rank &rank : ranks) {
      if (rank.at < rank.table->actions.size())
        return planError("rank {0} waits for ever in action {1}", rank.played.ranks.front(),
                         rank.at);
      timeline.seconds = std::max(timeline.seconds, rank.played.endSeconds);
      timeline.played.push_back(std::move(rank.played));
    }
    return timeline;
  }

private:
  struct Rank {
    const PlayTable *table = nullptr;
    size_t at = 0;
    double slow = 1;
    double left = 0; ///< seconds of the computation that runs, at full speed
    bool isBlocked = false;
    std::vector<size_t> operations; ///< by start action
    std::vector<size_t> queue;      ///< operations in the order of their starts
    size_t queued = 0;              ///< how many of them are complete, from the front on
    size_t transfers = 0;           ///< operations whose bytes move now
    PlayedRank played;
  };

  /// Runs the actions of a rank that take no time, up to a computation or an operation that is not
  /// complete.
  void advance(size_t number) {
    Rank &rank = ranks[number];
    for (; rank.at < rank.table->actions.size(); ++rank.at) {
      const PlayAction &action = rank.table->actions[rank.at];
      PlayedAction &played = rank.played.actions[rank.at];
      if (!rank.isBlocked)
        played.begin = now;
      switch (action.kind) {
      case PlayAction::Kind::compute:
        if (action.seconds > 0) {
          rank.left = action.seconds * rank.slow;
          computing.push_back(number);
          return;
        }
        break;
      case PlayAction::Kind::start:
        start(number, action.operation);
        break;
      case PlayAction::Kind::wait: {
        const Operation &operation = operations[rank.operations[action.started]];
        if (operation.complete < 0) {
          rank.isBlocked = true;
          return;
        }
        rank.isBlocked = false;
        played.ready = operation.ready;
        played.complete = operation.complete;
        account(rank, played, rank.table->actions[action.started].operation);
        break;
      }
      }
      played.end = now;
    }
    rank.played.endSeconds = now;
  }

  static void account(Rank &rank, const PlayedAction &played, const PlayOperation &operation) {
    const double waited = played.complete - played.begin;
    const bool isMessage = operation.kind != PlayOperation::Kind::collective;
    if (waited > 0) {
      const double late = std::clamp(played.ready, played.begin, played.complete) - played.begin;
      (isMessage ? rank.played.waitedForStages : rank.played.waitedForRanks) += late;
      rank.played.exposedSeconds[size_t(operation.cause)] += waited - late;
    }
  }

  void start(size_t number, const PlayOperation &what) {
    Rank &rank = ranks[number];
    const size_t group = classes.groupOf[what.family][classes.first[number]];
    const llvm::SmallVector<int64_t> &members = problem.families[what.family].groups[group];
    std::vector<size_t> key;
    std::vector<int64_t> places;
    if (what.kind == PlayOperation::Kind::collective) {
      key = {what.family, classes.kindOf[what.family][group]};
      places.assign(members.begin(), members.end());
    } else {
      const int64_t other = members[what.peer];
      const size_t peer = classes.classOf[other];
      const bool sends = what.kind == PlayOperation::Kind::send;
      key = {what.family, sends ? number : peer, sends ? peer : number, 0};
      places = {classes.first[number], other};
    }
    Channel &channel = channels[key];
    const size_t sequence = channel.started[number]++;
    if (sequence == channel.operations.size()) {
      channel.operations.push_back(operations.size());
      operations.push_back(makeOperation(what, places));
    }
    const size_t index = channel.operations[sequence];
    rank.operations[rank.at] = index;
    rank.queue.push_back(index);
    Operation &operation = operations[index];
    if (++operation.started == operation.classes.size()) {
      operation.ready = now;
      waiting.push_back(index);
    }
  }

  Operation makeOperation(const PlayOperation &what, llvm::ArrayRef<int64_t> members) const {
    Operation operation;
    for (int64_t rank : members)
      operation.classes.push_back(classes.classOf[rank]);
    llvm::sort(operation.classes);
    operation.classes.erase(std::unique(operation.classes.begin(), operation.classes.end()),
                            operation.classes.end());
    const GroupPlaces places(problem.topology, members);
    auto seconds = [&](double bytes) {
      if (what.kind != PlayOperation::Kind::collective)
        return messageSeconds(problem.topology, places, bytes);
      return collectiveSeconds(problem.topology, problem.transport, what.collective, places, bytes);
    };
    operation.startSeconds = seconds(0);
    operation.byteSeconds = std::max(0., seconds(what.bytes) - operation.startSeconds);
    for (size_t level = 0; level < problem.topology.levels.size(); ++level)
      operation.crosses.push_back(places.crosses(level));
    return operation;
  }

  /// Begins the operations that all members have started, and whose turn it is.
  void beginOperations() {
    for (size_t i = 0; i < waiting.size();) {
      const size_t index = waiting[i];
      const bool isNext =
          !problem.hasOneStream || llvm::all_of(operations[index].classes, [&](size_t number) {
            return ranks[number].queue[ranks[number].queued] == index;
          });
      if (!isNext) {
        ++i;
        continue;
      }
      waiting.erase(waiting.begin() + i);
      moving.push_back(index);
      beginBytes(operations[index]); // if it has nothing to start
    }
  }

  void beginBytes(Operation &operation) {
    if (operation.isMoving || operation.startSeconds > 0)
      return;
    operation.isMoving = true;
    for (size_t number : operation.classes)
      ++ranks[number].transfers;
  }

  /// By how much other operations of its members slow the bytes of `operation`.
  double sharingOf(const Operation &operation) const {
    size_t most = 1;
    for (size_t level = 0; level < operation.crosses.size(); ++level) {
      if (!operation.crosses[level])
        continue;
      for (size_t number : operation.classes) {
        if (ranks[number].transfers <= most)
          continue;
        size_t count = 0;
        for (size_t other : moving)
          count += operations[other].isMoving && operations[other].crosses[level] &&
                   llvm::is_contained(operations[other].classes, number);
        most = std::max(most, count);
      }
    }
    return most;
  }

  /// Goes on to the next end of a computation, of the start of an operation, or of an operation.
  void step() {
    const double slowdown = problem.topology.device.slowdownOfCommunication;
    double least = std::numeric_limits<double>::infinity();
    std::vector<double> sharing;
    for (size_t index : moving) {
      const Operation &operation = operations[index];
      sharing.push_back(operation.isMoving ? sharingOf(operation) : 1);
      least = std::min(least, operation.isMoving ? operation.byteSeconds * sharing.back()
                                                 : operation.startSeconds);
    }
    std::vector<double> slowness;
    for (size_t number : computing) {
      slowness.push_back(ranks[number].transfers ? slowdown : 1);
      least = std::min(least, ranks[number].left * slowness.back());
    }
    now += least;
    // Times that differ by less than rounding end together.
    const double nothing = 1e-12 * std::max(now, 1e-9);
    std::vector<size_t> ended;
    for (auto [i, index] : llvm::enumerate(moving)) {
      Operation &operation = operations[index];
      double &left = operation.isMoving ? operation.byteSeconds : operation.startSeconds;
      left -= least / sharing[i];
      if (left > nothing)
        continue;
      left = 0;
      const bool wasMoving = operation.isMoving;
      beginBytes(operation);
      if (wasMoving || operation.byteSeconds <= 0)
        ended.push_back(index);
    }
    std::vector<size_t> free;
    for (auto [i, number] : llvm::enumerate(computing)) {
      Rank &rank = ranks[number];
      rank.left -= least / slowness[i];
      if (rank.left <= nothing)
        free.push_back(number);
    }
    llvm::erase_if(computing, [&](size_t number) { return llvm::is_contained(free, number); });
    for (size_t number : free) {
      Rank &rank = ranks[number];
      rank.played.actions[rank.at].end = now;
      rank.played.computeSeconds += now - rank.played.actions[rank.at].begin;
      ++rank.at;
    }
    for (size_t index : ended)
      end(index);
    for (size_t number : free)
      advance(number);
    for (size_t number = 0; number < ranks.size(); ++number)
      if (ranks[number].isBlocked)
        advance(number);
  }

  void end(size_t index) {
    Operation &operation = operations[index];
    operation.complete = now;
    llvm::erase(moving, index);
    for (size_t number : operation.classes) {
      Rank &rank = ranks[number];
      --rank.transfers;
      while (rank.queued < rank.queue.size() && operations[rank.queue[rank.queued]].complete >= 0)
        ++rank.queued;
    }
    operation.isMoving = false;
  }

  /// The operations of one kind of group, or of one pair, in their order.
  struct Channel {
    std::map<size_t, size_t> started; ///< by class
    std::vector<size_t> operations;
  };

  const PlayProblem &problem;
  const RankClasses classes;
  std::vector<Rank> ranks;
  std::vector<Operation> operations;
  std::map<std::vector<size_t>, Channel> channels;
  double now = 0;
  std::vector<size_t> computing; ///< classes that compute
  std::vector<size_t> waiting;   ///< operations that may begin when it is their turn
  std::vector<size_t> moving;    ///< operations under way
};

} // namespace

llvm::Expected<StepTimeline> dpc::playStep(const PlayProblem &problem) {
  if (llvm::Error error = problem.check())
    return std::move(error);
  return StepPlayer(problem).run();
}
