// Edits of one rank's action table that change what the program means, for
// tests of the proof that must find each of them.
#ifndef DPC_TEST_RUNTIME_PLANMUTANTS_H
#define DPC_TEST_RUNTIME_PLANMUTANTS_H

#include "dpc/program.h"
#include "runtime/src/base/OperationExtents.h"
#include "runtime/src/plan/GroupPlaces.h"
#include "runtime/src/plan/PlanNames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace dpc::test {

/// A program in which one rank has a table of its own, a copy of the one that
/// it shares with others.
class Mutant {
public:
  Mutant(const dpc_program_t &original, uint32_t rank, uint32_t entry, uint64_t seed)
      : program(original), rank(rank), entry(entry), random(seed),
        ranks(original.ranks, original.ranks + original.world_size),
        actions(ranks[rank].entries[entry].actions,
                ranks[rank].entries[entry].actions + ranks[rank].entries[entry].count) {
    EXPECT_EQ(places.find(original), DPC_OK) << dpc_last_error();
    update();
  }
  Mutant(const Mutant &) = delete;

  /// One edit, with a name; says false where this table has no place for it.
  struct Edit {
    const char *name;
    bool (Mutant::*apply)();
  };
  static const std::vector<Edit> &edits();

  /// Edits by the rule; false if no place for it was found.
  bool apply(const Edit &edit) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      what = edit.name;
      if (!actions.empty() && (this->*edit.apply)()) {
        update();
        return true;
      }
    }
    return false;
  }

  dpc_program_t program;
  std::string what; ///< the edit, for messages

private:
  /// Bytes that an action uses, until its end or, of a communication, its wait.
  struct Use {
    plan::ByteRange range;
    bool isWrite;
    uint32_t buffer;
  };

  uint64_t below(uint64_t count) {
    return std::uniform_int_distribution<uint64_t>(0, count - 1)(random);
  }
  bool pick(uint64_t *out, const std::function<bool(const dpc_action_t &)> &fits);
  bool isKind(const dpc_action_t &action, std::initializer_list<uint32_t> kinds) const {
    return std::find(kinds.begin(), kinds.end(), action.kind) != kinds.end();
  }
  uint32_t otherThan(uint32_t value, uint32_t first, uint32_t end);
  std::vector<Use> usesOf(uint64_t index) const;
  bool conflict(uint64_t a, uint64_t b) const;
  bool isRead(const plan::ByteRange &range, uint32_t buffer) const;
  bool isNeededZero(const dpc_action_t &action) const;
  bool crossingMatters(uint64_t border, uint64_t zero) const;
  plan::ByteRange rangeOfZero(const dpc_action_t &action) const;
  bool addsTo(uint64_t index, const plan::ByteRange &range, uint32_t buffer) const;
  bool pickTerm(uint64_t *outZero, uint64_t *outTerm, bool isInLoop);
  bool swapMatters(uint64_t first) const;
  bool usesInput(const dpc_action_t &action);
  void note(uint64_t index) { what += " of action " + std::to_string(index); }
  void update();

  bool drop();
  bool dropWait();
  bool duplicate();
  bool swapNeighbours();
  bool resizeCommunication();
  bool shrinkZero();
  bool changeType();
  bool changeReduction();
  bool changeKind();
  bool changeLogicalBuffer();
  bool retarget();
  bool changeStride();
  bool changeBufferName();
  bool changeFamily();
  bool changePeer();
  bool changeEvent();
  bool changeLoopCount();
  bool changeFunction();
  bool changeMicrobatch();
  bool zeroAfterTerm();
  bool zeroEachTerm();
  bool moveFrame();
  bool changeFrame();
  bool swapFrames();
  bool swapMicrobatches();
  bool advanceReceive();
  bool pickFrames(uint64_t *out, uint32_t least);
  bool usesFrame(const dpc_action_t &action, uint64_t frame) const;
  std::vector<dpc_frame_t> &copyFrames(dpc_action_t &action);

  const uint32_t rank, entry;
  std::mt19937_64 random;
  std::vector<dpc_rank_t> ranks;
  std::vector<dpc_action_t> actions;
  std::deque<std::vector<dpc_frame_t>> frames; ///< copies that edits have changed
  plan::GroupPlaces places;
};

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_PLANMUTANTS_H
