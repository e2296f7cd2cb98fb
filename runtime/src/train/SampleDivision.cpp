// Finds out how many samples of a batch each rank gets, from the placements of the
// program's inputs.

#include "runtime/src/train/SampleDivision.h"

#include "dpc/status.h"
#include "runtime/src/base/Placement.h"

#include <algorithm>
#include <set>

namespace dpc {

namespace {

/// Number of samples per microbatch of which the rank has at least one element. If the
/// input has one buffer for the complete batch, this is the average over microbatches,
/// rounded up.
uint64_t samplesOf(const dpc_program_t &program, const dpc_input_t &input, uint32_t rank) {
  const auto before = static_cast<uint32_t>(input.batch_dim);
  const uint64_t inner = elementCount(input.shape + before + 1, input.dim_count - before - 1),
                 part = program.batch / input.micro_count;
  std::set<uint64_t> rows;
  forEachPiece(input.placements[rank], [&](uint64_t, uint64_t global, uint64_t length) -> int32_t {
    if (inner && length)
      for (uint64_t row = global / inner;
           row <= (global + length - 1) / inner && rows.size() < part; ++row)
        rows.insert(row % part);
    return DPC_OK;
  });
  const uint64_t parts = std::max<uint64_t>(program.microbatches, 1);
  return (rows.size() * input.micro_count + parts - 1) / parts;
}

bool areEqual(const dpc_placement_t &a, const dpc_placement_t &b) {
  return std::equal(a.runs, a.runs + a.run_count, b.runs, b.runs + b.run_count,
                    [](const dpc_run_t &x, const dpc_run_t &y) {
                      return x.global == y.global && x.length == y.length &&
                             std::equal(x.count, x.count + 2, y.count) &&
                             std::equal(x.global_step, x.global_step + 2, y.global_step);
                    });
}

/// Whether two ranks hold the same elements of all inputs and parameters.
bool holdTheSame(const dpc_program_t &program, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (!areEqual(program.inputs[i].placements[a], program.inputs[i].placements[b]))
      return false;
  for (uint32_t i = 0; i < program.state_count; ++i)
    if (program.states[i].kind == DPC_STATE_PARAMETER &&
        !areEqual(program.states[i].placements[a], program.states[i].placements[b]))
      return false;
  return true;
}

} // namespace

std::string sampleDivisionNote(const dpc_program_t &program) {
  uint32_t idle = 0, same = 0;
  uint64_t most = 0;
  for (uint32_t r = 0; r < program.world_size; ++r) {
    bool counts = false;
    uint64_t samples = 0;
    for (uint32_t i = 0; i < program.input_count; ++i)
      if (program.inputs[i].batch_dim >= 0) {
        counts = true;
        samples = std::max(samples, samplesOf(program, program.inputs[i], r));
      }
    idle += counts && !samples;
    most = std::max(most, samples);
  }
  for (uint32_t r = 1; r < program.world_size && !idle && most == 1; ++r) {
    bool found = false;
    for (uint32_t earlier = 0; earlier < r && !found; ++earlier)
      found = holdTheSame(program, earlier, r);
    same += found;
  }
  if (!idle && !same)
    return "";
  const uint32_t ranks = idle ? idle : same;
  std::string text = std::to_string(ranks) + " of " + std::to_string(program.world_size);
  if (idle)
    text += ranks == 1 ? " ranks has no samples" : " ranks have no samples";
  else
    text += std::string(ranks == 1 ? " ranks has" : " ranks have") +
            " the same samples and parameters as another";
  text += ": a batch";
  if (program.microbatches > 1)
    text += ", in " + std::to_string(program.microbatches) + " microbatches,";
  text += " has " + std::to_string(program.batch);
  return most > 1 ? text + ", and other ranks take up to " + std::to_string(most) + " each" +
                        (program.microbatches > 1 ? " of a microbatch" : "")
                  : text;
}

} // namespace dpc
