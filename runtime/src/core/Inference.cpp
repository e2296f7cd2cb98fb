// Inference programs: any number of samples, batch by batch; the last one is
// padded and its surplus rows are dropped.
#include "runtime/src/core/HostSharedMemory.h"
#include "runtime/src/core/Placement.h"
#include "runtime/src/core/Status.h"
#include "runtime/src/core/Trainer.h"

#include <algorithm>
#include <cstring>

namespace dpc {

namespace {

/// One output while it is being collected: the whole for all samples, and one
/// batch.
struct Collected {
  const dpc_output_t *output;
  const std::string *path;
  std::vector<char> whole, batch;
  uint64_t outer, inner; ///< the output is [outer, rows, inner bytes]; without
                         ///< a batch dimension outer and rows are 1
  bool batched;
};

dpc_status_t findOutputs(const dpc_program_t &program, const Options &options,
                         uint64_t rows, std::vector<Collected> *out) {
  for (const auto &[name, path] : options.outputs) {
    const dpc_output_t *found = nullptr;
    for (uint32_t i = 0; i < program.output_count; ++i)
      if (name == program.outputs[i].name)
        found = &program.outputs[i];
    if (!found)
      return fail(DPC_INVALID, "the program has no output \"%s\"",
                  name.c_str());
    Collected c{found, &path, {}, {}, 1, 0, found->batch_dim >= 0};
    const uint64_t bytes = elementCount(found->shape, found->dim_count) *
                           dpc_dtype_size(found->dtype);
    if (c.batched)
      c.outer =
          elementCount(found->shape, static_cast<uint32_t>(found->batch_dim));
    c.inner = c.batched ? bytes / c.outer / program.batch : bytes;
    c.batch.resize(bytes);
    c.whole.resize(c.batched ? c.outer * rows * c.inner : bytes);
    out->push_back(std::move(c));
  }
  return DPC_OK;
}

dpc_status_t writeOutput(const Collected &c, uint64_t rows) {
  dpc_array_t array = {
      "", c.output->dtype, c.output->dim_count, {}, c.whole.data()};
  std::copy(c.output->shape, c.output->shape + c.output->dim_count,
            array.shape);
  if (c.batched)
    array.shape[c.output->batch_dim] = static_cast<int64_t>(rows);
  return dpc_npy_write(c.path->c_str(), &array);
}

} // namespace

dpc_status_t runInference(dpc_session &session, const Options &options) {
  const dpc_program_t &program = session.program;
  std::vector<std::string> specs;
  for (const auto &[name, path] : options.inputs)
    specs.push_back(name + "=" + path);
  HostSharedMemory memory(session);
  Dataset data;
  std::vector<Collected> outputs;
  dpc_status_t status =
      options.data.empty()
          ? DPC_OK
          : fail(DPC_USAGE, "the program was compiled without --loss: use "
                            "--input and --output, not --data");
  if (status == DPC_OK && !options.initParams.empty())
    status = dpc_session_load_params(&session, options.initParams.c_str());
  if (status == DPC_OK)
    status = data.open(program, session.options.rank, specs, memory);
  const uint64_t rows = data.rows() ? data.rows() : program.batch;
  if (status == DPC_OK)
    status = findOutputs(program, options, rows, &outputs);
  if (status)
    return session.failed(status);
  data.activate(session.loader);
  for (uint64_t begin = 0; begin < rows; begin += program.batch) {
    const uint64_t valid = std::min(program.batch, rows - begin);
    data.select(session.loader, begin / program.batch, false, 0);
    if ((status = session.runEntry(DPC_ENTRY_INFER, valid)))
      return status;
    for (Collected &c : outputs) {
      if ((status = dpc_session_read_output(&session, c.output->name,
                                            c.batch.data(), c.batch.size())))
        return status;
      for (uint64_t o = 0; o < c.outer; ++o)
        std::memcpy(
            c.whole.data() + (c.batched ? (o * rows + begin) * c.inner : 0),
            c.batch.data() + o * (c.batched ? program.batch : 1) * c.inner,
            (c.batched ? valid : 1) * c.inner);
    }
  }
  for (const Collected &c : outputs)
    if (session.options.rank == 0 && (status = writeOutput(c, rows)))
      return session.failed(status);
  return program.world_size > 1 ? dpc_comm_barrier(session.comm) : DPC_OK;
}

} // namespace dpc
