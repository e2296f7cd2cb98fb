// The C functions of dpc.h. They check arguments, assemble outputs from
// microbatches, and turn exceptions into statuses.
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/checkpoint/Checkpoint.h"
#include "runtime/src/program/StateNames.h"
#include "runtime/src/session/Environment.h"
#include "runtime/src/session/LoadParameters.h"
#include "runtime/src/session/SaveParameters.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/session/StateFiles.h"

#include <cstring>
#include <list>
#include <new>

using namespace dpc;

namespace {

/// Calls `body`, and turns std::bad_alloc into a status, because no exception may
/// leave a C function. The runtime throws no exceptions of its own, but an
/// allocation may throw this one.
template <typename Body> dpc_status_t guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(DPC_IO, "out of memory");
  }
}

dpc_status_t checkSize(const char *name, uint64_t need, uint64_t have) {
  return need == have
             ? DPC_OK
             : fail(DPC_INVALID, "%s has %llu bytes, the destination %llu", name,
                    static_cast<unsigned long long>(need), static_cast<unsigned long long>(have));
}

} // namespace

extern "C" {

dpc_status_t dpc_session_options_default(dpc_session_options_t *out) {
  // Callers may use the strings that the options point to until the process
  // ends.
  static std::list<EnvironmentOptions> all;
  return guarded([&] {
    const EnvironmentOptions *known = all.empty() ? nullptr : &all.back();
    EnvironmentOptions &made = all.emplace_back();
    const dpc_status_t status = optionsFromEnvironment(&made, known);
    *out = made.options;
    return status;
  });
}

dpc_status_t dpc_session_create(const dpc_program_t *program, const dpc_session_options_t *options,
                                dpc_session_t **outSession) {
  *outSession = nullptr;
  return guarded([&]() -> dpc_status_t {
    if (program->abi_version != DPC_ABI_VERSION)
      return checkProgram(*program, 0);
    auto session = std::make_unique<dpc_session>(*program, *options);
    if (dpc_status_t status = session->open())
      return status;
    *outSession = session.release();
    return DPC_OK;
  });
}

void dpc_session_release(dpc_session_t *session) {
  if (session && !session->tracePath.empty() && session->executor)
    guarded([&] {
      return session->trace.write(session->tracePath, session->program, session->options.rank);
    });
  if (session && session->queue)
    guarded([&] { return session->queue->writeProfile(); });
  if (session)
    session->recordEnd(DPC_OK);
  delete session;
}

const dpc_program_t *dpc_session_program(const dpc_session_t *session) { return &session->program; }
uint32_t dpc_session_rank(const dpc_session_t *session) { return session->options.rank; }
dpc_comm_t *dpc_session_comm(dpc_session_t *session) { return session->comm; }
uint64_t dpc_session_steps_done(const dpc_session_t *session) { return session->control.step; }

dpc_status_t dpc_session_bind_input(dpc_session_t *session, const char *name,
                                    const dpc_array_t *array) {
  return guarded([&]() -> dpc_status_t {
    const uint32_t input = findInput(session->program, name);
    if (input == DPC_NONE)
      return fail(DPC_INVALID, "the program has no input \"%s\"", name);
    const std::string source = "array " + std::string(name);
    if (dpc_status_t status = session->loader.bind(input, *array, source))
      return status;
    const bool batched = session->program.inputs[input].batch_dim >= 0;
    const uint64_t samples = session->loader.sampleCount(input);
    if (batched && samples < session->program.batch) {
      session->loader.setBindings(input, {});
      return fail(DPC_INVALID, "%s has %s, the batch is %llu", source.c_str(),
                  countOf(samples, "sample").c_str(),
                  static_cast<unsigned long long>(session->program.batch));
    }
    return DPC_OK;
  });
}

dpc_status_t dpc_session_step(dpc_session_t *session) {
  return session->runEntry(DPC_ENTRY_STEP, session->program.batch);
}
dpc_status_t dpc_session_eval(dpc_session_t *session, uint64_t validRows) {
  return session->runEntry(DPC_ENTRY_EVAL, validRows);
}
dpc_status_t dpc_session_infer(dpc_session_t *session) {
  return session->runEntry(DPC_ENTRY_INFER, session->program.batch);
}

dpc_status_t dpc_session_metric(const dpc_session_t *session, const char *name, double *outValue) {
  return session->metric(name, outValue);
}

dpc_status_t dpc_session_read_output(dpc_session_t *session, const char *name, void *destination,
                                     uint64_t bytes) {
  const dpc_program_t &program = session->program;
  for (uint32_t i = 0; i < program.output_count; ++i) {
    const dpc_output_t &output = program.outputs[i];
    if (std::strcmp(output.name, name) != 0)
      continue;
    const uint64_t elements = elementCount(output.shape, output.dim_count),
                   size = dpc_dtype_size(output.dtype);
    if (session->options.rank == 0)
      if (dpc_status_t status = checkSize(name, elements * size, bytes))
        return session->failed(status);
    if (output.batch_dim < 0 || output.micro_count == 1)
      return session->gather(output.placements, output.dtype, static_cast<char *>(destination));
    // A microbatch is a slice of the batch dimension. Rank 0 assembles each slice
    // separately, and then copies the slice into the complete output.
    return guarded([&]() -> dpc_status_t {
      const uint32_t b = static_cast<uint32_t>(output.batch_dim);
      const uint64_t outer = elementCount(output.shape, b), part = elements / output.micro_count,
                     inner = part / outer * size;
      std::vector<char> slice(session->options.rank == 0 ? part * size : 0);
      for (uint64_t m = 0; m < output.micro_count; ++m) {
        if (dpc_status_t status = session->gather(output.placements, output.dtype, slice.data(),
                                                  m * output.micro_stride))
          return status;
        for (uint64_t o = 0; o < outer && session->options.rank == 0; ++o)
          std::memcpy(static_cast<char *>(destination) + (o * output.micro_count + m) * inner,
                      slice.data() + o * inner, inner);
      }
      return DPC_OK;
    });
  }
  return fail(DPC_INVALID, "the program has no output \"%s\"", name);
}

dpc_status_t dpc_session_read_state(dpc_session_t *session, const char *name, void *destination,
                                    uint64_t bytes) {
  const uint32_t index = findState(session->program, name);
  if (index == DPC_NONE)
    return fail(DPC_INVALID, "the program has no state \"%s\"", name);
  const dpc_state_t &state = session->program.states[index];
  const uint64_t elements = elementCount(state.shape, state.dim_count);
  if (session->options.rank == 0)
    if (dpc_status_t status = checkSize(name, elements * dpc_dtype_size(state.dtype), bytes))
      return session->failed(status);
  return session->gather(state.placements, state.dtype, static_cast<char *>(destination));
}

dpc_status_t dpc_session_write_state(dpc_session_t *session, const char *name,
                                     const dpc_array_t *array) {
  return guarded([&]() -> dpc_status_t {
    const uint32_t index = findState(session->program, name);
    if (index == DPC_NONE)
      return fail(DPC_INVALID, "the program has no state \"%s\"", name);
    const FileTensor tensor(*array);
    return loadState(*session, index, {&tensor, nullptr}, Likeness::shape);
  });
}

dpc_status_t dpc_session_load_params(dpc_session_t *session, const char *path) {
  return guarded([&]() -> dpc_status_t {
    ParameterSpec source;
    source.path = path;
    std::vector<std::string> notes;
    return loadParameters(*session, source, &notes);
  });
}

dpc_status_t dpc_session_save_params(dpc_session_t *session, const char *path) {
  return guarded([&]() -> dpc_status_t {
    ParameterSpec spec;
    spec.path = path;
    return saveParameters(*session, spec);
  });
}

dpc_status_t dpc_session_save_onnx(dpc_session_t *session, const char *path) {
  return guarded([&] { return saveOnnx(*session, path); });
}

dpc_status_t dpc_session_save_checkpoint(dpc_session_t *session, const char *directory) {
  return guarded([&] { return saveCheckpoint(*session, directory); });
}

dpc_status_t dpc_session_resume(dpc_session_t *session, const char *directory) {
  return guarded([&] { return resumeCheckpoint(*session, directory); });
}

} // extern "C"
