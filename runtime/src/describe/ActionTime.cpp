// Measures the time of the runtime between two functions of a program.
#include "runtime/src/describe/ActionTime.h"

#include "dpc/dpc.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace dpc {

namespace {

constexpr uint32_t kFew = 100, kMany = 4100;
constexpr int kRounds = 50;
constexpr uint64_t kNumbers = 16;

int32_t addNumbers(dpc_call_t *call) {
  auto *numbers = reinterpret_cast<float *>(call->base[DPC_SPACE_ARENA]);
  for (uint64_t i = 0; i < kNumbers; ++i)
    numbers[i] += 1;
  return DPC_OK;
}

/// The least seconds of one run of a program whose table has `count` actions.
dpc_status_t leastRun(uint32_t count, double *outSeconds) {
  const uint32_t members[] = {0};
  const dpc_group_family_t family = {"world", 1, 1, members};
  dpc_function_t function = {};
  function.fn = addNumbers;
  function.name = "infer.0";
  function.entry = DPC_ENTRY_INFER;
  function.runs = 1;
  dpc_action_t action = {};
  action.kind = DPC_ACTION_COMPUTE;
  action.group = action.location = DPC_NONE;
  const std::vector<dpc_action_t> actions(count, action);
  dpc_rank_t rank = {};
  rank.struct_size = sizeof rank;
  rank.arena_bytes = kNumbers * sizeof(float);
  rank.entries[DPC_ENTRY_INFER] = {actions.data(), actions.size()};
  dpc_program_t program = {};
  program.struct_size = sizeof program;
  program.abi_version = DPC_ABI_VERSION;
  program.name = "actions";
  program.command = "";
  program.world_size = 1;
  program.families = &family;
  program.family_count = 1;
  program.functions = &function;
  program.function_count = 1;
  program.ranks = &rank;
  program.batch = program.microbatches = 1;
  dpc_session_options_t options = {};
  options.struct_size = sizeof options;
  options.world_size = 1;
  options.listen_fd = -1;
  dpc_session_t *session = nullptr;
  dpc_status_t status = dpc_session_create(&program, &options, &session);
  *outSeconds = HUGE_VAL;
  for (int round = 0; round < kRounds && status == DPC_OK; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    status = dpc_session_infer(session);
    *outSeconds =
        std::min(*outSeconds,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  dpc_session_release(session);
  return status;
}

} // namespace

dpc_status_t measureActionTime(double *outSeconds) {
  double few = 0, many = 0;
  if (dpc_status_t status = leastRun(kFew, &few))
    return status;
  if (dpc_status_t status = leastRun(kMany, &many))
    return status;
  *outSeconds = std::max(0., many - few) / (kMany - kFew);
  return DPC_OK;
}

} // namespace dpc
