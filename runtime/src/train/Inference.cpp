// Runs inference programs on any number of samples, batch by batch. If the last batch has
// too few samples, it is padded, and the outputs of the padding are dropped.
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/SettleLayouts.h"
#include "runtime/src/session/LoadParameters.h"
#include "runtime/src/session/RankZeroMemory.h"
#include "runtime/src/session/SharedFiles.h"
#include "runtime/src/train/OutputFiles.h"
#include "runtime/src/train/Trainer.h"

#include <algorithm>
#include <cstring>

namespace dpc {

namespace {

/// An output that rank 0 collects: the array for all samples, and the array of one batch.
/// On other ranks both are empty.
struct Collected {
  const dpc_output_t *output;
  const std::string *path;
  std::vector<char> whole, batch;
  uint64_t outer = 1, inner = 0; ///< the output is [outer, rows, inner bytes]; an output without a
                                 ///< batch dimension is one row
  bool batched;
};

/// Names of all outputs, for messages.
std::string outputNames(const dpc_program_t &program) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < program.output_count; ++i)
    names.emplace_back(program.outputs[i].name);
  return listNames(names);
}

/// Returns DPC_USAGE for options that only training programs have, and if the user has not
/// asked for any output.
dpc_status_t checkOptions(const dpc_program_t &program, const Options &options) {
  const std::pair<const char *, bool> unfit[] = {{"--evaluate", options.evaluate},
                                                 {"--data", !options.data.empty()},
                                                 {"--eval-data", !options.evalData.empty()},
                                                 {"--steps", options.steps != 0},
                                                 {"--epochs", options.epochs != 0},
                                                 {"--log", !options.log.empty()},
                                                 {"--checkpoint", !options.checkpoint.empty()},
                                                 {"--no-shuffle", !options.shuffle},
                                                 {"--lr", options.learningRate != 0},
                                                 {"--nan=warn", options.warnOnNan},
                                                 {"--check-state", options.checkState != 0},
                                                 {"--check-gradients", options.checkGradients},
                                                 {"--seed", options.seed != 0}};
  for (const auto &[name, given] : unfit)
    if (given)
      return fail(DPC_USAGE,
                  "the program was compiled without --loss: use --input and "
                  "--output, not %s",
                  name);
  if (options.outputs.empty() && options.saveParams.path.empty() && options.saveOnnx.empty())
    return fail(DPC_USAGE, "no --output=NAME=FILE.npy; the program has outputs: %s",
                outputNames(program).c_str());
  return DPC_OK;
}

dpc_status_t findOutputs(const dpc_program_t &program, const Options &options, uint64_t rows,
                         bool collects, std::vector<Collected> *out) {
  for (const auto &[name, path] : options.outputs) {
    const dpc_output_t *found = nullptr;
    for (uint32_t i = 0; i < program.output_count; ++i)
      if (name == program.outputs[i].name)
        found = &program.outputs[i];
    if (!found)
      return fail(DPC_INVALID, "the program has no output \"%s\", but: %s", name.c_str(),
                  outputNames(program).c_str());
    Collected c{found, &path, {}, {}, 1, 0, found->batch_dim >= 0};
    if (!c.batched && rows != program.batch)
      return fail(DPC_INVALID,
                  "output \"%s\" is one value of a whole batch of %llu "
                  "samples, but the inputs have %llu",
                  name.c_str(), static_cast<unsigned long long>(program.batch),
                  static_cast<unsigned long long>(rows));
    const uint64_t bytes =
        elementCount(found->shape, found->dim_count) * dpc_dtype_size(found->dtype);
    if (c.batched)
      c.outer = elementCount(found->shape, static_cast<uint32_t>(found->batch_dim));
    c.inner = c.batched ? bytes / std::max<uint64_t>(c.outer, 1) / program.batch : bytes;
    if (collects) {
      c.batch.resize(bytes);
      c.whole.resize(c.batched ? c.outer * rows * c.inner : bytes);
    }
    out->push_back(std::move(c));
  }
  return DPC_OK;
}

/// Copies the first `valid` rows of a batch to the complete output, from row `begin` on.
void keepBatch(Collected &c, uint64_t begin, uint64_t valid, uint64_t rows, uint64_t batch) {
  if (c.batch.empty())
    return;
  if (!c.batched)
    c.whole = c.batch;
  for (uint64_t o = 0; o < c.outer && c.batched; ++o)
    std::memcpy(c.whole.data() + (o * rows + begin) * c.inner, c.batch.data() + o * batch * c.inner,
                valid * c.inner);
}

dpc_status_t writeOutput(const Collected &c, uint64_t rows, uint64_t batch) {
  dpc_array_t array = {"", c.output->dtype, c.output->dim_count, {}, c.whole.data()};
  std::copy(c.output->shape, c.output->shape + c.output->dim_count, array.shape);
  if (c.batched)
    array.shape[c.output->batch_dim] =
        array.shape[c.output->batch_dim] / static_cast<int64_t>(batch) * static_cast<int64_t>(rows);
  return dpc_npy_write(c.path->c_str(), &array);
}

} // namespace

dpc_status_t runInference(dpc_session &session, const Options &options) {
  const dpc_program_t &program = session.program;
  std::vector<std::string> specs;
  for (const auto &[name, path] : options.inputs)
    specs.push_back(name + "=" + path);
  RankZeroMemory memory(session);
  Dataset data;
  std::vector<Collected> outputs;
  dpc_status_t status = checkOptions(program, options);
  const bool first = session.options.rank == 0;
  if (status == DPC_OK && first)
    status = checkOutputFiles(program, options);
  if (status == DPC_OK)
    status = checkRankFiles(session, options);
  if (status)
    return session.failed(status);
  std::vector<std::string> notes;
  for (const ParameterSpec &source : options.initParams)
    if ((status = loadParameters(session, source, &notes)))
      return status;
  for (const std::string &note : notes)
    if (first)
      std::printf("%s\n", note.c_str());
  // Without --output, the run only saves the parameters and computes nothing.
  const bool runs = !options.outputs.empty();
  if (runs && (status = checkSameFiles(session, Dataset::filesOf(program, specs))))
    return status;
  if (runs)
    status = data.open(program, session.options.rank, specs, memory);
  if (status == DPC_OK && runs)
    settleLayouts(program, {data.loader()});
  const bool batched = std::any_of(program.inputs, program.inputs + program.input_count,
                                   [](const dpc_input_t &input) { return input.batch_dim >= 0; });
  const uint64_t rows = batched ? data.rows() : program.batch;
  if (status == DPC_OK && runs && first)
    status = data.checkValues();
  if (status == DPC_OK)
    status = findOutputs(program, options, rows, first, &outputs);
  if (status)
    return session.failed(status);
  for (const std::string &note : data.notes())
    if (first)
      std::printf("note: %s\n", note.c_str());
  if (runs)
    data.activate(session.loader);
  for (uint64_t begin = 0; begin < rows && runs; begin += program.batch) {
    const uint64_t valid = std::min(program.batch, rows - begin);
    data.select(session.loader, begin / program.batch, false, 0);
    if ((status = session.runEntry(DPC_ENTRY_INFER, valid)))
      return status;
    for (Collected &c : outputs) {
      if ((status =
               dpc_session_read_output(&session, c.output->name, c.batch.data(), c.batch.size())))
        return status;
      keepBatch(c, begin, valid, rows, program.batch);
    }
  }
  for (const Collected &c : outputs)
    if (first && (status = writeOutput(c, rows, program.batch)))
      return session.failed(status);
  if ((status = writeModelFiles(session, options)))
    return status;
  return program.world_size > 1 ? dpc_comm_barrier(session.comm) : DPC_OK;
}

} // namespace dpc
