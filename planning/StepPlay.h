// Plays one step of a program on a machine: when each rank computes, communicates and waits.
//
// The inputs are the tables of actions that the ranks of the program follow, with the time of each
// computation. All ranks are played together. Ranks that cannot differ share one timeline: they
// have equal tables and equal speed, and so have all ranks that they exchange data with.

#ifndef DPC_PLANNING_STEPPLAY_H
#define DPC_PLANNING_STEPPLAY_H

#include "planning/CollectiveTimes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// The values that an operation moves.
enum class PlayCause { gradients, activations, parameters, metrics, stages };
constexpr size_t kPlayCauses = size_t(PlayCause::stages) + 1;
/// The name of `cause` in reports, e.g. "gradients".
llvm::StringRef nameOf(PlayCause cause);

/// A collective, or a message from one stage of a pipeline to another.
struct PlayOperation {
  enum class Kind { collective, send, receive };
  Kind kind = Kind::collective;
  CollectiveKind collective = CollectiveKind::allReduce;
  /// As in CollectiveTime: the larger one of the operand and the result; or those of the message.
  double bytes = 0;
  /// Its groups: an index into PlayProblem::families.
  size_t family = 0;
  /// Of a message: the index of the other rank in the group.
  int64_t peer = -1;
  PlayCause cause = PlayCause::activations;
};

/// One action of a rank.
struct PlayAction {
  enum class Kind {
    compute, ///< takes `seconds` on a device of speed 1
    start,   ///< starts operation `operation`
    wait     ///< waits for the operation that action `started` started
  };
  Kind kind = Kind::compute;
  double seconds = 0;
  /// The number of the function or the operation, for the caller.
  int64_t number = -1;
  PlayOperation operation;
  size_t started = 0;
};

/// The actions of a rank in one step. Loops are unrolled.
struct PlayTable {
  std::vector<PlayAction> actions;
};

struct PlayProblem {
  Topology topology;
  Transport transport = Transport::wires;
  /// Whether the operations of a rank run one after another, in the order of their starts, as on
  /// devices. On hosts, all that are started run at the same time.
  bool hasOneStream = false;
  std::vector<PlayTable> tables;
  /// By rank: its table.
  std::vector<size_t> tableOf;
  /// By rank: how many times as long it computes. Empty: once.
  std::vector<double> slowness;
  /// Each rank is in one group of a family, or in none.
  struct Family {
    std::vector<llvm::SmallVector<int64_t>> groups;
  };
  std::vector<Family> families;

  /// Checks indices and numbers.
  llvm::Error check() const;
};

/// Changes of a machine, to ask how long a step would then take.
struct PlayChanges {
  /// Ranks that compute, and levels that send, more slowly: how many times as long a rank takes,
  /// and the share of its bandwidth that a level has.
  std::vector<std::pair<int64_t, double>> slowRanks;
  std::vector<std::pair<std::string, double>> slowLevels;

  /// Fails with one line if `problem` has no such rank or level.
  llvm::Error applyTo(PlayProblem &problem) const;
};

/// When an action of a rank ran. A start takes no time: the entry of its wait has the times of the
/// operation.
struct PlayedAction {
  double begin = 0, end = 0;
  /// Of a wait: when all members had started the operation, and when it was complete.
  double ready = 0, complete = 0;
};

/// The timeline of ranks that cannot differ.
struct PlayedRank {
  std::vector<int64_t> ranks;
  size_t table = 0;
  /// By action of the table.
  std::vector<PlayedAction> actions;
  double endSeconds = 0;
  double computeSeconds = 0;
  /// How long the rank waited for operations under way, by PlayCause.
  std::array<double, kPlayCauses> exposedSeconds = {};
  /// How long it waited until other ranks started a collective, or until a stage sent a message.
  double waitedForRanks = 0, waitedForStages = 0;
};

struct StepTimeline {
  /// The end of the last rank.
  double seconds = 0;
  /// In the order of their first ranks.
  std::vector<PlayedRank> played;
};

/// Plays the step. An operation begins once all its members have started it. It first takes its
/// time to start; then its bytes move, while it shares each level with the other operations of its
/// members. A rank computes more slowly while it communicates
/// (Device::slowdownOfCommunication). Fails if check() fails, or if ranks wait for each other.
llvm::Expected<StepTimeline> playStep(const PlayProblem &problem);

} // namespace dpc

#endif // DPC_PLANNING_STEPPLAY_H
