// A program of several ranks whose operations a test records by hand.
#ifndef DPC_TEST_RUNTIME_RECORDEDRUN_H
#define DPC_TEST_RUNTIME_RECORDEDRUN_H

#include "dpc/action.h"
#include "runtime/src/postmortem/Postmortem.h"
#include "runtime/src/recorder/Recorder.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <memory>

namespace dpc::test {

/// Four ranks, of which the ranks 0 and 1 and the ranks 2 and 3 form the groups of family 1.
struct RecordedProgram {
  RecordedProgram() {
    action.kind = DPC_ACTION_START;
    for (dpc_rank_t &rank : ranks)
      rank.entries[DPC_ENTRY_STEP] = {&action, 1};
    program.struct_size = sizeof program;
    program.name = "recorded";
    program.world_size = 4;
    program.families = families;
    program.family_count = 2;
    program.ranks = ranks;
    program.locations = &location;
    program.location_count = 1;
  }
  RecordedProgram(const RecordedProgram &) = delete;

  uint32_t all[4] = {0, 1, 2, 3};
  dpc_group_family_t families[2] = {{"world", 1, 4, all}, {"data", 2, 2, all}};
  dpc_location_t location = {"node_linear", ""};
  dpc_action_t action = {};
  dpc_rank_t ranks[4] = {};
  dpc_program_t program = {};
};

inline dpc_comm_op_t allReduce(uint64_t buffer, uint32_t family = 0) {
  dpc_comm_op_t op = {};
  op.op = DPC_OP_ALL_REDUCE;
  op.family = family;
  op.dtype = DPC_F32;
  op.location = 0;
  op.count = 10;
  op.buffer_id = buffer;
  return op;
}

/// The recorders of all ranks, in files of a folder.
class RecordedRun : public testing::Test {
protected:
  void keep(uint32_t rank, uint64_t runId = 77) {
    recorders[rank] = std::make_unique<dpc_recorder>(recorded.program, rank);
    ASSERT_EQ(recorders[rank]->keepIn(folder.path, runId), DPC_OK) << dpc_last_error();
  }
  void keepAll() {
    for (uint32_t rank = 0; rank < 4; ++rank)
      keep(rank);
  }
  /// The rank starts an operation, and perhaps completes it.
  void record(uint32_t rank, const dpc_comm_op_t &op, bool isDone = true) {
    dpc_recorder &to = *recorders[rank];
    const uint64_t number = to.schedule(op, 0, 0);
    to.start(number);
    to.await(number);
    if (isDone)
      to.finish(number);
  }
  std::string file(uint32_t rank) { return folder.path + "/" + dpc_recorder::fileOf(rank); }
  std::string explained() {
    std::vector<RankRecord> records;
    const dpc_status_t status = readRecords({folder.path}, &records);
    return status ? "failed: " + std::string(dpc_last_error()) : explainRun(records);
  }

  RecordedProgram recorded;
  TemporaryDirectory folder;
  std::unique_ptr<dpc_recorder> recorders[4];
};

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_RECORDEDRUN_H
