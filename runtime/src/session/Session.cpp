// Opens one rank of a run, sets its state and runs its entries. After each
// entry the ranks vote: an all-reduce tells every rank whether the run goes on.

#include "runtime/src/session/Session.h"

#include "dpc/safetensors.h"
#include "dpc/schedule.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/RunPage.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/device/TensorTransfer.h"
#include "runtime/src/recorder/Recorder.h"
#include "runtime/src/session/Launchers.h"
#include "runtime/src/session/SharedFiles.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

using namespace dpc;

dpc_session::dpc_session(const dpc_program_t &program, const dpc_session_options_t &given)
    : program(program), rendezvous(given.rendezvous ? given.rendezvous : ""),
      token(given.token ? given.token : ""), listen(given.listen ? given.listen : ""),
      directory(given.directory ? given.directory : ""), tracePath(given.trace ? given.trace : ""),
      transport(given.transport ? given.transport : ""), tuneFile(given.tune ? given.tune : ""),
      profilePath(given.profile ? given.profile : ""), options(given),
      schedule(given.learning_rate > 0
                   ? dpc_schedule_with_rate(&program.schedule, given.learning_rate)
                   : program.schedule),
      loader(program, given.rank), hasValue(program.state_count),
      metricValues(program.metric_count) {
  control.seed = given.seed;
  control.validRows = program.batch;
}

dpc_session::~dpc_session() { leave(); }

dpc_status_t dpc_session::leave() {
  // The queue must be destroyed before the communicator, because the queue
  // communicates, and copies into the communicator's memory.
  runs.reset();
  executor.reset();
  queue.reset();
  return dpc_comm_release(std::exchange(comm, nullptr));
}

dpc_status_t dpc_session::checkRequest() const {
  if (options.world_size != program.world_size)
    return fail(DPC_INVALID,
                "the program was compiled for %s, this run has %u "
                "(dpc-run -n %u)",
                countOf(program.world_size, "rank").c_str(), options.world_size,
                program.world_size);
  if (dpc_status_t status = checkProgram(program, options.rank))
    return failWithin(status, "program record");
  const bool namesNccl = transport == kNccl;
  if (namesNccl && !runsOnCuda(program))
    return fail(DPC_USAGE,
                "--comm=%s: the program is not for CUDA devices "
                "(dpc-compile --target=cuda)",
                kNccl);
  if (namesNccl && (options.bandwidth > 0 || options.latency > 0))
    return fail(DPC_USAGE,
                "--comm=%s: no link is emulated between devices: bandwidth and latency "
                "are settings of the local transport",
                kNccl);
  return DPC_OK;
}

bool dpc_session::isStaged() const {
  return runsOnCuda(program) && !transport.empty() && transport != kAuto && transport != kNccl;
}

dpc_status_t dpc_session::connect(const std::vector<uint64_t> &communication, double timeoutSeconds,
                                  dpc_comm_t **outComm) const {
  dpc_comm_options_t meet = meetingOptions();
  meet.memory_bytes = communication.data();
  meet.timeout_seconds = timeoutSeconds;
  return dpc_comm_create(transport.empty() || transport == kNccl ? nullptr : transport.c_str(),
                         &meet, outComm);
}

dpc_comm_options_t dpc_session::meetingOptions() const {
  dpc_comm_options_t meet = {};
  meet.struct_size = sizeof meet;
  meet.rank = options.rank;
  meet.world_size = options.world_size;
  meet.family_count = program.family_count;
  meet.families = program.families;
  meet.plan_hash = program.plan_hash;
  meet.rendezvous = rendezvous.c_str();
  meet.token = token.empty() ? nullptr : token.c_str();
  meet.listen_fd = options.listen_fd;
  meet.listen = listen.empty() ? nullptr : listen.c_str();
  meet.frozen_seconds = options.frozen_seconds;
  meet.bandwidth = options.bandwidth;
  meet.latency = options.latency;
  return meet;
}

dpc_status_t dpc_session::open() {
  if (dpc_status_t status = checkRequest())
    return status;
  recorder = std::make_unique<dpc_recorder>(program, options.rank);
  std::vector<uint64_t> communication;
  for (uint32_t r = 0; r < program.world_size; ++r)
    communication.push_back(RankMemory::sharedBytes(program, r, isStaged()));
  if (dpc_status_t status = connect(communication, options.timeout_seconds, &comm))
    return status;
  comm->recorder = recorder.get();
  if (RunPage *page = runPage())
    page->joined.fetch_add(1);
  if (!tracePath.empty())
    trace.enable(1u << 20);
  if (dpc_status_t status = memory.open(program, *comm, isStaged()))
    return failed(status);
  if (dpc_status_t status = checkLimits())
    return status;
  QueueOptions how;
  how.keepsEntries = !options.no_graphs && tracePath.empty() && profilePath.empty();
  how.isStaged = isStaged();
  how.tuneFile = tuneFile;
  if (!profilePath.empty())
    how.profileFile = Trace::fileOfRank(profilePath, options.rank);
  if (options.timeout_seconds > 0)
    how.timeoutSeconds = options.timeout_seconds;
  if (dpc_status_t status = makeQueue(program, *comm, memory, how, &queue))
    return failed(status);
  executor = std::make_unique<Executor>(program, options.rank, *queue, loader, control, trace);
  executor->recorder = recorder.get();
  runs = std::make_unique<RunsUnderWay>(program, options.rank, *queue, *executor);
  if (dpc_status_t status = runs->open())
    return failed(status);
  if (options.skip_initial_state)
    return DPC_OK;
  if (program.parameter_file)
    if (dpc_status_t status = checkSameFiles(*this, {parameterFile()}))
      return status;
  return failed(setInitialState());
}

/// Collective. Checks that all ranks have the same limit after which a rank counts as frozen.
/// Otherwise the rank with the least limit would decide for all.
dpc_status_t dpc_session::checkLimits() {
  const double own = options.frozen_seconds;
  double first = own;
  if (dpc_status_t status = broadcast(&first, sizeof first))
    return status;
  if (first == own)
    return DPC_OK;
  const auto text = [](double seconds) {
    return seconds > 0 ? kFrozenOption + ("=" + std::to_string(std::lround(seconds)))
                       : std::string("no ") + kFrozenOption;
  };
  return failed(fail(DPC_INVALID, "rank %u has %s, but rank 0 has %s", options.rank,
                     text(own).c_str(), text(first).c_str()));
}

std::string dpc_session::parameterFile() const {
  if (program.parameter_file && program.parameter_file[0] == '/')
    return program.parameter_file;
  std::string base = directory;
  if (base.empty())
    base = programFolder();
  return base + "/" + (program.parameter_file ? program.parameter_file : "");
}

/// Frees the memory pages of an embedded initial value after its use. A later
/// read would load the pages from the program's file again. Frees only pages that
/// are a read-only part of a file, because other memory could not be restored.
static void forgetPages(const void *data, uint64_t bytes) {
  constexpr uintptr_t page = 4096;
  struct Range {
    uintptr_t first, last;
  };
  const uintptr_t begin = reinterpret_cast<uintptr_t>(data);
  Range range = {(begin + page - 1) / page * page, (begin + bytes) / page * page};
  if (range.first >= range.last)
    return;
  const int inFile = ::dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *argument) {
        const auto *wanted = static_cast<const Range *>(argument);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto &segment = object->dlpi_phdr[i];
          const uintptr_t start = object->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && !(segment.p_flags & PF_W) && wanted->first >= start &&
              wanted->last <= start + segment.p_filesz)
            return 1;
        }
        return 0;
      },
      &range);
  if (inFile)
    ::madvise(reinterpret_cast<void *>(range.first), range.last - range.first, MADV_DONTNEED);
}

dpc_status_t dpc_session::setInitialState() {
  std::unique_ptr<dpc_array_file_t, void (*)(dpc_array_file_t *)> file(nullptr,
                                                                       dpc_array_file_close);
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    if (state.init_kind == DPC_INIT_EMBEDDED) {
      if (dpc_status_t status = scatter(i, state.init_dtype, state.init_data))
        return status;
      forgetPages(state.init_data,
                  elementCount(state.shape, state.dim_count) * dpc_dtype_size(state.init_dtype));
    } else if (state.init_kind == DPC_INIT_SPLAT) {
      hasValue[i] = true;
      if (state.splat == 0)
        continue; // memory is zero already
      if (dpc_status_t status =
              uploadSplat(*queue, state.placements[options.rank], state.dtype, state.splat))
        return status;
    } else if (state.init_kind == DPC_INIT_FILE) {
      dpc_array_file_t *opened = nullptr;
      if (!file) {
        if (dpc_status_t status = dpc_safetensors_open(parameterFile().c_str(), &opened))
          return failWithin(status, "the program's parameter file");
        file.reset(opened);
      }
      const dpc_array_t *array = dpc_array_file_find(file.get(), state.name);
      if (!array || dpc_array_elements(array) != elementCount(state.shape, state.dim_count))
        return fail(DPC_INVALID,
                    "the program's parameter file %s lacks %s, or has it in "
                    "another shape",
                    program.parameter_file, state.name);
      if (dpc_status_t status = scatter(i, array->dtype, array->data))
        return status;
    }
  }
  return DPC_OK;
}

dpc_status_t dpc_session::scatter(uint32_t index, uint32_t dtype, const void *data) {
  const dpc_state_t &state = program.states[index];
  hasValue[index] = true;
  return uploadTensor(*queue, state.placements[options.rank], state.dtype, dtype, data);
}

dpc_status_t dpc_session::scatter(uint32_t index, uint32_t dtype, const ReadElements &read) {
  const dpc_state_t &state = program.states[index];
  hasValue[index] = true;
  return uploadTensor(*queue, state.placements[options.rank], state.dtype, dtype, read);
}

dpc_status_t dpc_session::checkState() const {
  for (uint32_t i = 0; i < program.state_count; ++i)
    if (!hasValue[i] && program.states[i].init_kind == DPC_INIT_NONE)
      return fail(DPC_INVALID,
                  "parameter %s has no value: the program was compiled with "
                  "--params=none, use --init-params or --resume",
                  program.states[i].name);
  return DPC_OK;
}

dpc_status_t dpc_session::metric(const char *name, double *out) const {
  for (uint32_t i = 0; i < program.metric_count; ++i)
    if (std::strcmp(program.metrics[i].name, name) == 0) {
      *out = metricValues[i];
      return DPC_OK;
    }
  return fail(DPC_INVALID, "the program has no metric \"%s\"", name);
}

/// Sums the first `count` numbers of the vote over all ranks.
dpc_status_t dpc_session::sumVotes(uint64_t count) {
  if (comm->world_size == 1)
    return DPC_OK;
  dpc_comm_op_t op = {};
  op.op = DPC_OP_ALL_REDUCE;
  op.dtype = DPC_F64;
  op.reduction = DPC_SUM;
  op.location = DPC_NONE;
  op.count = count;
  op.buffer_id = DPC_CONTROL_BUFFER;
  op.in = op.out = memory.vote();
  return dpc_comm_run(comm, &op);
}

dpc_status_t dpc_session::agreeOnBatch(bool isBad, bool *outIsGood) {
  double *values = memory.vote();
  values[0] = isBad;
  if (dpc_status_t status = sumVotes(1))
    return failed(status);
  *outIsGood = values[0] == 0;
  return DPC_OK;
}

/// Ends an entry on all ranks with an all-reduce, the vote. It tells all ranks
/// whether any rank wants to stop, has a loss that is not finite, or is writing a
/// checkpoint. It also distributes metrics that only one rank holds: the other
/// ranks add zero to them.
dpc_status_t dpc_session::vote(uint32_t entry, bool *outAllFinite) {
  double *values = memory.vote();
  values[0] = stopRequest && *stopRequest;
  values[1] = 0;
  values[2] = isWriting && *isWriting;
  values[3] = gradients && entry == DPC_ENTRY_STEP && gradients->hasFound();
  values[4] = hasBadBatch;
  for (uint32_t i = 0; i < program.metric_count; ++i) {
    const dpc_metric_t &metric = program.metrics[i];
    const uint32_t holder = metric.holders[entry];
    double value = 0;
    if (holdsMetric(metric, entry, options.rank))
      if (dpc_status_t status = runs->readMetric(i, &value))
        return status;
    values[RankMemory::kVotes + i] = holder == DPC_NONE ? 0 : value;
    metricValues[i] = value;
    // If the program scales the loss, a step whose loss is not finite has changed
    // only the scale, so it is no reason to stop.
    if (metric.kind == DPC_METRIC_LOSS && !std::isfinite(value) &&
        !(entry == DPC_ENTRY_STEP && scalesLoss()))
      values[1] = 1;
  }
  if (dpc_status_t status = sumVotes(uint64_t(RankMemory::kVotes) + program.metric_count))
    return status;
  for (uint32_t i = 0; i < program.metric_count; ++i)
    if (program.metrics[i].holders[entry] != DPC_NONE)
      metricValues[i] = values[RankMemory::kVotes + i];
  scaleIsTooSmall = false;
  for (uint32_t i = 0; i < program.metric_count; ++i)
    if (program.metrics[i].kind == DPC_METRIC_SCALE && (program.metrics[i].entry >> entry & 1))
      scaleIsTooSmall = !(metricValues[i] >= DPC_LEAST_LOSS_SCALE);
  stopAgreed = values[0] != 0;
  writingAgreed = values[2] != 0;
  gradientsFound = values[3] != 0;
  badBatchAgreed = values[4] != 0;
  *outAllFinite = values[1] == 0 && !scaleIsTooSmall;
  return DPC_OK;
}

bool dpc_session::masksRows() const {
  return std::any_of(program.controls, program.controls + program.control_count,
                     [](const dpc_control_t &each) { return each.kind == DPC_CONTROL_VALID_ROWS; });
}

bool dpc_session::scalesLoss() const {
  return std::any_of(program.metrics, program.metrics + program.metric_count,
                     [](const dpc_metric_t &each) { return each.kind == DPC_METRIC_SCALE; });
}

bool dpc_session::mayLoseScale() const {
  // A step halves the scale at most once.
  for (uint32_t i = 0; i < program.metric_count; ++i)
    if (program.metrics[i].kind == DPC_METRIC_SCALE &&
        !(std::ldexp(metricValues[i], -static_cast<int>(runs->stepCount())) >=
          DPC_LEAST_LOSS_SCALE))
      return true;
  return false;
}

bool dpc_session::lossIsNotFinite() const {
  for (uint32_t i = 0; i < program.metric_count; ++i)
    if (program.metrics[i].kind == DPC_METRIC_LOSS && !std::isfinite(metricValues[i]))
      return true;
  return false;
}

dpc_status_t dpc_session::runEntry(uint32_t entry, uint64_t validRows) {
  if (dpc_status_t status = submitEntry(entry, validRows))
    return status;
  return completeEntry();
}

dpc_status_t dpc_session::submitEntry(uint32_t entry, uint64_t validRows) {
  static const char *const names[] = {"training step (it was compiled without --loss)",
                                      "eval function",
                                      "infer function (it was compiled with --loss)"};
  // A stage of a pipeline may have nothing to do in an entry.
  if (std::none_of(program.ranks, program.ranks + program.world_size,
                   [&](const dpc_rank_t &rank) { return rank.entries[entry].count != 0; }))
    return failed(fail(DPC_INVALID, "the program has no %s", names[entry]));
  if (dpc_status_t status = checkState())
    return failed(status);
  if (entry == DPC_ENTRY_EVAL && validRows < program.batch && !masksRows())
    return failed(fail(DPC_INVALID,
                       "%llu valid rows, but the loss in the graph needs a whole batch of %llu",
                       static_cast<unsigned long long>(validRows),
                       static_cast<unsigned long long>(program.batch)));
  Controls own = control;
  own.validRows = validRows;
  own.step = stepsSubmitted();
  if (entry == DPC_ENTRY_STEP) {
    if (!dpc_schedule_has_end(&schedule, options.schedule_total))
      return failed(fail(DPC_USAGE,
                         "the learning-rate schedule depends on the training's last step, "
                         "which is not known: set schedule_total in the session's options, or "
                         "compile with --lr-schedule=%s,total=N",
                         schedule.kind == DPC_LR_COSINE   ? "cosine"
                         : schedule.kind == DPC_LR_LINEAR ? "linear"
                                                          : "constant"));
    own.learningRate = dpc_learning_rate(&schedule, options.schedule_total, own.step);
  }
  return failed(runs->submit(entry, own));
}

dpc_status_t dpc_session::discardRuns() {
  Executor::Run run;
  while (runs->count())
    if (dpc_status_t status = runs->complete(&run))
      return failed(status);
  return DPC_OK;
}

dpc_status_t dpc_session::completeEntry() {
  Executor::Run run;
  if (dpc_status_t status = runs->complete(&run))
    return failed(status);
  // A later run may be under way, but the vote belongs to this one.
  recorder->enter(run.entry, run.controls.step);
  bool allFinite = true;
  if (dpc_status_t status = vote(run.entry, &allFinite))
    return failed(status);
  control = run.controls;
  const uint64_t done = control.step + (run.entry == DPC_ENTRY_STEP);
  control.step = done;
  if (gradientsFound)
    return explainGradients();
  if (allFinite)
    return DPC_OK;
  if (scaleIsTooSmall)
    return fail(DPC_NUMERIC, "step %llu: the loss scale fell below %g: %s not finite at any scale",
                static_cast<unsigned long long>(done), DPC_LEAST_LOSS_SCALE,
                lossIsNotFinite() ? "the loss is" : "gradients are");
  for (uint32_t i = 0; i < program.metric_count; ++i) {
    const dpc_metric_t &metric = program.metrics[i];
    if (metric.kind == DPC_METRIC_LOSS && !std::isfinite(metricValues[i]))
      return fail(DPC_NUMERIC, "step %llu: %s (tensor \"%s\") is %s",
                  static_cast<unsigned long long>(done), metric.name, metric.tensor,
                  std::isnan(metricValues[i]) ? "NaN" : "infinite");
  }
  return fail(DPC_NUMERIC, "step %llu: the loss is not finite",
              static_cast<unsigned long long>(done));
}

void dpc_session::recordEnd(dpc_status_t status) {
  if (recorder)
    recorder->end(status);
}

bool dpc_session::canWatchGradients() const {
  return program.world_size > 1 && !runsOnCuda(program) && !scalesLoss();
}

void dpc_session::watchGradients() {
  gradients = std::make_unique<GradientCheck>(program, options.rank, *queue);
  executor->gradients = gradients.get();
}

/// Collective. Fails with a message about the first gradient of the latest step that is not
/// finite.
dpc_status_t dpc_session::explainGradients() {
  struct Record {
    uint64_t foundAt;
    char text[400];
  };
  Record own = {gradients->getFoundAt(), ""};
  std::snprintf(own.text, sizeof own.text, "%s", gradients->getText().c_str());
  std::vector<char> all;
  if (dpc_status_t status = collect(&own, sizeof own, &all))
    return failed(status);
  char text[512] = "";
  if (options.rank == 0) {
    Record first = own;
    uint32_t guilty = 0;
    for (uint32_t r = 1; r < options.world_size; ++r) {
      Record its;
      std::memcpy(&its, all.data() + r * sizeof its, sizeof its);
      if (its.foundAt < first.foundAt)
        first = its, guilty = r;
    }
    std::snprintf(text, sizeof text, "step %llu: rank %u: %s",
                  static_cast<unsigned long long>(control.step), guilty, first.text);
  }
  return failTogether(DPC_NUMERIC, text, sizeof text);
}

bool dpc_session::reports(dpc_status_t status) {
  if (!comm) // all ranks of a launcher find a bad request, so only rank 0 reports it
    return !isToldElsewhere() &&
           (options.rank == 0 || status == DPC_PEER || status == DPC_IO || isStartedByHand());
  if (failsTogether)
    return options.rank == 0;
  if (status == DPC_PEER)
    return !comm->vtable->told_elsewhere(comm);
  // If a loss is not finite, all ranks see this and none publishes a failure. So
  // rank 0 reports the loss.
  return published ? firstFailure : options.rank == 0;
}

dpc_status_t dpc_session::failed(dpc_status_t status) {
  if (status != DPC_OK && status != DPC_PEER && comm && !published) {
    firstFailure = comm->vtable->abort(comm, dpc_last_error());
    published = true;
  }
  return status;
}

dpc_status_t dpc_session::causeOf(dpc_status_t status) {
  const std::string own = dpc_last_error();
  if (status != DPC_OK && published && !firstFailure && comm->vtable->check(comm) == DPC_PEER)
    return DPC_PEER;
  return status ? fail(status, "%s", own.c_str()) : DPC_OK;
}

dpc_status_t dpc_session::failTogether(dpc_status_t status, char *text, uint64_t bytes) {
  if (dpc_status_t failure = broadcast(text, bytes))
    return failed(failure);
  failsTogether = true;
  return fail(status, "%s", text);
}

dpc_status_t dpc_session::keepRecords(const std::string &folder) {
  uint64_t runId = 0;
  if (options.rank == 0)
    if (::getrandom(&runId, sizeof runId, 0) != sizeof runId)
      return failed(fail(DPC_IO, "cannot get a random number: %s", std::strerror(errno)));
  if (dpc_status_t status = broadcast(&runId, sizeof runId))
    return status;
  return recorder->keepIn(folder, runId | 1); // 0 would say that there is no file
}

dpc_status_t dpc_session::agree(dpc_status_t status) {
  if (status != DPC_OK)
    return failed(status);
  return dpc_comm_barrier(comm);
}
