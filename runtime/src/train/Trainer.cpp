// Runs the steps of a training run, with batches that are read ahead. Evaluates and
// writes checkpoints between steps, and saves the results at the end.

#include "runtime/src/train/Trainer.h"

#include "dpc/schedule.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/checkpoint/Checkpoint.h"
#include "runtime/src/data/SettleLayouts.h"
#include "runtime/src/pieces/StepFolder.h"
#include "runtime/src/session/Launchers.h"
#include "runtime/src/session/LoadParameters.h"
#include "runtime/src/session/RankZeroMemory.h"
#include "runtime/src/session/SharedFiles.h"
#include "runtime/src/train/OutputFiles.h"
#include "runtime/src/train/SampleDivision.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

namespace dpc {

namespace {
/// The key of the permutation that shuffles the samples of an epoch.
uint64_t epochKey(uint64_t seed, uint64_t epoch) { return seed * 0xd1342543de82ef95ull + epoch; }
} // namespace

/// If a launcher starts the run again after a failure, the run goes on from its newest checkpoint,
/// as with --resume.
dpc_status_t Trainer::goOn() {
  if (options.checkpoint.empty() || options.evaluate)
    return DPC_OK;
  if (dpc_status_t status = findRestart(session, options.checkpoint, &restart))
    return status;
  isResumeImplied = restart.isRestart && !options.resume;
  options.resume = options.resume || isResumeImplied;
  return DPC_OK;
}

/// Checks the options and the output files, so that a wrong request fails before the run
/// does any work.
dpc_status_t Trainer::openOutputs() {
  if (!options.inputs.empty() || !options.outputs.empty())
    return fail(DPC_USAGE,
                "%s is for inference programs: this one was compiled with "
                "--loss and takes --data",
                options.inputs.empty() ? "--output" : "--input");
  if (options.data.empty() && !options.evaluate)
    return fail(DPC_USAGE, "--data is missing (--help shows its forms)");
  if (first())
    if (dpc_status_t status = checkOutputFiles(session.program, options))
      return status;
  if (dpc_status_t status = checkRankFiles(session, options))
    return status;
  if (!options.checkpoint.empty() && !options.evaluate)
    if (dpc_status_t status = checkSharedFolder(session, kCheckpointOption, options.checkpoint))
      return status;
  return best.open();
}

/// Prints notes on the data: arrays that no input uses, and values that the program may
/// read in another way than the user meant.
void Trainer::noteData() {
  std::vector<std::string> unused = data.unusedArrays();
  for (const std::string &name : evaluation.unusedArrays())
    if (std::find(unused.begin(), unused.end(), name) == unused.end())
      unused.push_back(name);
  if (!unused.empty())
    report.line("note: the program has no input for " + listNames(unused) +
                " of the data: " + (unused.size() == 1 ? "it is" : "they are") + " left out");
  if (!options.evaluate)
    for (const std::string &note : data.notes())
      report.line("note: " + note);
  for (const std::string &note : evaluation.notes())
    report.line("note: --eval-data: " + note);
}

dpc_status_t Trainer::openData() {
  const dpc_program_t &program = session.program;
  std::vector<std::string> specs = options.evaluate ? std::vector<std::string>() : options.data;
  specs.insert(specs.end(), options.evalData.begin(), options.evalData.end());
  if (dpc_status_t status = checkSameFiles(session, Dataset::filesOf(program, specs)))
    return status;
  RankZeroMemory memory(session);
  if (!options.evaluate) {
    if (dpc_status_t status = data.open(program, session.options.rank, options.data, memory))
      return status;
    if (data.rows() < program.batch)
      return fail(DPC_INVALID, "%s: %s, fewer than one batch of %" PRIu64, data.source().c_str(),
                  countOf(data.rows(), "sample").c_str(), program.batch);
  }
  if (!options.evalData.empty())
    if (dpc_status_t status = evaluation.open(options.evalData, memory, report))
      return status;
  std::vector<InputLoader *> loaders;
  for (InputLoader *loader : {data.loader(), evaluation.loader()})
    if (loader)
      loaders.push_back(loader);
  settleLayouts(program, loaders);
  if (first() && !options.evaluate)
    if (dpc_status_t status = data.checkValues())
      return status;
  if (first() && evaluation.isOpen())
    if (dpc_status_t status = evaluation.checkValues())
      return status;
  if (first())
    noteData();
  session.checkpointRun.isOnlyRead = options.evaluate;
  if (options.evaluate)
    return DPC_OK;
  batchesPerEpoch = data.rows() / program.batch;
  lastStep =
      options.steps ? options.steps : batchesPerEpoch * (options.epochs ? options.epochs : 1);
  session.options.schedule_total = lastStep;
  session.checkpointRun.order =
      options.shuffle ? CheckpointRun::kShuffled : CheckpointRun::kAsStored;
  data.activate(session.loader);
  return DPC_OK;
}

/// Loads the parameters of --init-params.
dpc_status_t Trainer::initParameters() {
  std::vector<std::string> notes;
  for (const ParameterSpec &source : options.initParams)
    if (dpc_status_t status = loadParameters(session, source, &notes))
      return status;
  for (const std::string &note : notes)
    if (first())
      report.line(note);
  return DPC_OK;
}

dpc_status_t Trainer::openState() {
  if (options.checkpoint.empty())
    return initParameters();
  // The number of checkpoints, the step of the newest one, and whether the run may resume.
  // Rank 0 lists the folder for all ranks, because the ranks might see different folders.
  uint64_t newest[3] = {};
  if (first()) {
    const std::vector<uint64_t> present = listCheckpoints(options.checkpoint);
    // The first start refuses a folder with checkpoints of another run, and so must the others.
    newest[2] = options.resume && (!isResumeImplied || restart.hasWritten(options.checkpoint));
    newest[0] = present.size();
    newest[1] = present.empty() ? 0 : present[0];
    if (present.empty())
      if (dpc_status_t status = checkHoldsCheckpoints(options.checkpoint))
        return session.failed(status);
  }
  if (dpc_status_t status = session.broadcast(newest, sizeof newest))
    return status;
  const bool isEmpty = newest[0] == 0, resumes = !isEmpty || !options.resumeFrom.empty();
  if (!isEmpty && !newest[2]) // a later --resume could read a checkpoint of the other run
    return session.failed(fail(DPC_INVALID,
                               "%s already holds checkpoints (step %" PRIu64
                               "): add --resume, or name another directory",
                               options.checkpoint.c_str(), newest[1]));
  if (!resumes) {
    if (options.evaluate)
      return session.failed(
          fail(DPC_INVALID, "%s holds no checkpoint to evaluate", options.checkpoint.c_str()));
    if (options.resume && first())
      report.line("note: " + options.checkpoint +
                  " holds no checkpoint yet: starting from the beginning");
    session.checkpointRun.id = launcherRunId();
    return initParameters();
  }
  const std::string &from = isEmpty ? options.resumeFrom : options.checkpoint;
  // If the launcher restarts a run, the run continues from its own checkpoint. So
  // --init-params of the first start may remain on the command line.
  if (!options.initParams.empty() && !restart.isRestart)
    return session.failed(fail(DPC_INVALID,
                               "--resume and --init-params: the checkpoint in %s has the "
                               "parameters that the run goes on with: leave out one of the two",
                               from.c_str()));
  const dpc_status_t status = resumeCheckpoint(session, from);
  if (isEmpty) {
    resumedElsewhere = true;
    session.checkpointRun.id.clear(); // a new run, which must not remove the old checkpoints
  }
  return status;
}

/// Makes `loader` read the batch of step `index`.
void Trainer::select(InputLoader &loader, uint64_t index) const {
  data.select(loader, index % batchesPerEpoch, options.shuffle,
              epochKey(options.seed, index / batchesPerEpoch));
}

/// Starts reading the batch of the next step. If steps may be under way while the host goes on,
/// batches lie in memory of the queue.
dpc_status_t Trainer::openPrefetcher() {
  depth = options.runAhead == "off" ? 1 : session.runs->getDepth();
  prefetcher = std::make_unique<Prefetcher>(session.program, session.options.rank);
  if (depth > 1)
    if (dpc_status_t status = prefetcher->useSlots(depth, [&](uint64_t bytes, char **out) {
          return session.queue->allocateHost(bytes, out);
        }))
      return session.failed(status);
  data.activate(prefetcher->next());
  select(prefetcher->next(), session.control.step);
  prefetcher->begin();
  return DPC_OK;
}

/// Enqueues the next step on the batch that the prefetcher has read. Meanwhile the prefetcher reads
/// the next batch.
dpc_status_t Trainer::submitStep() {
  const uint64_t index = session.stepsSubmitted();
  submitTimes.push_back(monotonicSeconds());
  if (dpc_status_t status = prefetcher->finish())
    return session.failed(status);
  select(session.loader, index); // not used in this step: the prefetcher provides all inputs
  prefetcher->hasNext = index + 1 < lastStep;
  if (prefetcher->hasNext)
    select(prefetcher->next(), index + 1);
  session.executor->prefetcher = prefetcher.get();
  const dpc_status_t status = session.submitEntry(DPC_ENTRY_STEP, session.program.batch);
  session.executor->prefetcher = nullptr;
  return status;
}

/// Whether the run does more after step `done` than to begin the next step: then that needs the
/// state of this step, or may end the run.
bool Trainer::isDecidedAfter(uint64_t done) const {
  const auto isDue = [done](uint64_t every) { return every && done % every == 0; };
  return done >= lastStep || (evaluation.isOpen() && isDue(options.evalEvery)) ||
         isDue(options.checkpointEvery) || (stateCheck && isDue(options.checkState));
}

/// Whether the next step may be enqueued before the steps that are under way are complete. The
/// answer is the same on all ranks.
bool Trainer::mayRunAhead() const {
  return session.runs->count() < depth && !isStopping &&
         !isDecidedAfter(session.stepsSubmitted()) && !session.mayLoseScale();
}

/// Enqueues further steps, as long as this is certain to make no difference. If a rank cannot read
/// the batch of the next step, the run ends when the steps before it are complete and reported.
dpc_status_t Trainer::submitAhead() {
  while (mayRunAhead()) {
    const uint64_t next = session.stepsSubmitted();
    bool isGood = goodBatch == next;
    if (!isGood)
      if (dpc_status_t status = session.agreeOnBatch(prefetcher->finish() != DPC_OK, &isGood))
        return status;
    if (!isGood)
      return DPC_OK;
    if (dpc_status_t status = submitStep())
      return status;
  }
  return DPC_OK;
}

/// Completes one step, after enqueuing it if it is not under way yet, and further ones if possible.
dpc_status_t Trainer::oneStep() {
  if (session.runs->count() == 0)
    if (dpc_status_t status = submitStep())
      return status;
  if (dpc_status_t status = submitAhead())
    return status;
  const uint64_t next = session.stepsSubmitted();
  session.hasBadBatch = depth > 1 && next < lastStep && prefetcher->finish() != DPC_OK;
  stepStatus = session.completeEntry();
  const double begin = std::max(submitTimes.front(), completedAt);
  submitTimes.pop_front();
  completedAt = monotonicSeconds();
  stepSeconds = completedAt - begin;
  if (stepStatus != DPC_OK && stepStatus != DPC_NUMERIC)
    return stepStatus;
  if (depth > 1 && !session.badBatchAgreed)
    goodBatch = next;
  isStopping = isStopping || session.stopAgreed;
  size_t k = 0;
  for (uint32_t i = 0; i < session.program.metric_count && first(); ++i) {
    const dpc_metric_t &metric = session.program.metrics[i];
    if (metric.entry >> DPC_ENTRY_STEP & 1)
      metrics[k++].second = session.metricValues[i];
  }
  return DPC_OK;
}

/// Evaluates the current parameters. With --best, saves them if they are the best so far.
dpc_status_t Trainer::evaluate() {
  if (dpc_status_t status = evaluation.run(/*mayStop=*/false))
    return status;
  isEvaluated = true;
  data.activate(session.loader);
  bool isBest = false;
  if (dpc_status_t status = best.offer(evaluation.getValues(), &isBest))
    return status;
  if (!first())
    return DPC_OK;
  report.line(evaluation.text() + (isBest ? " (best)" : ""));
  if (const std::string note = evaluation.note(); !note.empty())
    report.line(note);
  return DPC_OK;
}

/// Flushes the log, and then starts a checkpoint. So a run that resumes from the checkpoint
/// finds all earlier steps in the log. With --check-state, no checkpoint has state that differs
/// between ranks.
dpc_status_t Trainer::save() {
  if (dpc_status_t status = checkState())
    return status;
  if (first())
    if (dpc_status_t status = report.syncLog())
      return session.failed(status);
  return saver.begin(options.checkpoint);
}

/// With --check-state, compares the state of the ranks, unless this was done after the latest
/// step.
dpc_status_t Trainer::checkState() {
  return stateCheck && stateCheck->comparedAt() != session.control.step ? stateCheck->compare()
                                                                        : dpc_status_t(DPC_OK);
}

dpc_status_t Trainer::steps() {
  const dpc_program_t &program = session.program;
  for (uint32_t i = 0; i < program.metric_count; ++i)
    if (program.metrics[i].entry >> DPC_ENTRY_STEP & 1)
      metrics.emplace_back(program.metrics[i].name, 0.0);
  if (first()) {
    if (!options.log.empty())
      if (dpc_status_t status = report.openLog(options.log, options.resume, session.control.step))
        return session.failed(status);
    report.begin(session.control.step, lastStep, program.batch);
  }
  if (options.checkState)
    stateCheck = std::make_unique<StateCheck>(session);
  const bool seesGradients = session.canWatchGradients();
  if (options.checkGradients && seesGradients)
    session.watchGradients();
  if (options.checkGradients && !seesGradients && first())
    report.line("note: --check-gradients finds nothing in this program: " +
                std::string(program.world_size == 1 ? "one rank sums nothing over ranks"
                            : session.scalesLoss()
                                ? "it expects gradients that are not finite, and skips their steps"
                                : "the host cannot read gradients on a CUDA device"));
  bool hasHint = false;
  best.begin();
  if (session.control.step < lastStep && !best.isOutOfPatience())
    if (dpc_status_t status = openPrefetcher())
      return status;
  while (session.control.step < lastStep && !best.isOutOfPatience()) {
    if (dpc_status_t status = oneStep())
      return status;
    const uint64_t done = session.control.step;
    const bool isSkipped = session.scalesLoss() && session.lossIsNotFinite();
    // If the run stops here, the log still gets a line for this step. But the run then
    // skips the evaluation and the periodic checkpoint.
    const bool stops = stepStatus == DPC_NUMERIC && !options.warnOnNan;
    session.failsTogether = session.failsTogether && stops;
    std::string numeric = stepStatus == DPC_NUMERIC ? dpc_last_error() : "";
    const bool isLast = !stops && !isStopping && done == lastStep;
    const bool goesOn = !stops && !isStopping && !isLast;
    dpc_status_t status = saver.poll();
    if (status)
      return status;
    StepReport line = {done,
                       epochOf(done),
                       stepSeconds,
                       double(program.batch) / std::max(stepSeconds, 1e-9),
                       session.control.learningRate,
                       &metrics};
    if (first()) {
      if (!numeric.empty() && !stops)
        report.line("warning: " + numeric);
      if (!numeric.empty() && seesGradients && !options.checkGradients && !hasHint) {
        hasHint = true;
        report.line("note: --check-gradients names the rank and the parameter with which this "
                    "begins");
      }
      if (isSkipped && !stepsSkipped++)
        report.line("note: step " + std::to_string(done) +
                    ": the loss is not finite: the step is skipped and the loss scale halved");
      report.show(line);
    }
    // The last checkpoint is finished before the last evaluation, so that it exists even
    // if the evaluation fails or the run is killed.
    if (isLast && evaluation.isOpen() && !options.checkpoint.empty()) {
      if ((status = save()) || (status = saver.finish()))
        return status;
      isSaved = true;
    }
    dpc_status_t evaluated = DPC_OK;
    isEvaluated = false;
    if (evaluation.isOpen() &&
        (isLast || (goesOn && options.evalEvery && done % options.evalEvery == 0)))
      evaluated = evaluate();
    if (isEvaluated)
      line.evaluation = &evaluation.getValues();
    if (first())
      if ((status = report.step(line)))
        return session.failed(status);
    if (evaluated)
      return evaluated;
    if (stops) {
      // A step that is under way has no effect: the run saves no state after such a loss.
      if ((status = session.discardRuns()))
        return status;
      return fail(DPC_NUMERIC, "%s", numeric.c_str());
    }
    if (stateCheck && (isLast || done % options.checkState == 0))
      if ((status = checkState()))
        return status;
    isStopping = isStopping || session.stopAgreed; // by the vote of an evaluation
    if (isStopping && !isLast && session.runs->count() == 0)
      return DPC_INTERRUPTED;
    if (goesOn && options.checkpointEvery && !best.isOutOfPatience() &&
        done % options.checkpointEvery == 0)
      if ((status = save()))
        return status;
  }
  if (first() && session.control.step < lastStep)
    report.line("stopped at step " + std::to_string(session.control.step) + " of " +
                std::to_string(lastStep) + ": " + best.patienceText() +
                " (--patience=" + std::to_string(options.patience) + ")");
  return DPC_OK;
}

dpc_status_t Trainer::results() {
  if (evaluation.isOpen() && !isEvaluated) { // a resumed run that had no step left
    if (dpc_status_t status = evaluate())
      return status;
    const double epoch = epochOf(session.control.step);
    if (first())
      if (dpc_status_t status =
              report.evaluation(session.control.step, &epoch, evaluation.getValues()))
        return session.failed(status);
  }
  if (best.isActive()) {
    // best.offer() has already written the files.
    if (first())
      report.line(best.result());
    return DPC_OK;
  }
  return writeModelFiles(session, options);
}

/// Implements --evaluate. Prints the same lines as an evaluation during training. The log
/// line has the metrics of the evaluation, but none of a step.
dpc_status_t Trainer::evaluateAlone() {
  if (first() && !options.log.empty())
    if (dpc_status_t status = report.extendLog(options.log))
      return session.failed(status);
  if (dpc_status_t status = evaluation.run(/*mayStop=*/true))
    return status;
  if (!first())
    return DPC_OK;
  report.line(evaluation.text());
  if (const std::string note = evaluation.note(); !note.empty())
    report.line(note);
  return session.failed(report.evaluation(session.control.step, nullptr, evaluation.getValues()));
}

/// The number of steps that the user requested, as text for messages.
std::string Trainer::wanted() const {
  if (options.steps)
    return "--steps=" + std::to_string(options.steps);
  return (options.epochs ? "--epochs=" + std::to_string(options.epochs)
                         : std::string("the one epoch without --steps and --epochs")) +
         ", which ends at step " + std::to_string(lastStep);
}

/// Prints a line that introduces the run: the program, its ranks, its batch, the samples
/// and the planned memory. Adds the note of sampleDivisionNote().
void Trainer::introduce() {
  const dpc_program_t &program = session.program;
  uint64_t peak = 0;
  for (uint32_t r = 0; r < program.world_size; ++r)
    peak = std::max(peak, program.ranks[r].peak_bytes);
  report.line(std::string(program.name) + ": " + countOf(program.world_size, "rank") + ", batch " +
              std::to_string(program.batch) + ", " +
              countOf(options.evaluate ? evaluation.rows() : data.rows(), "sample") +
              ", planned memory " + bytesText(peak) + " a rank");
  if (const std::string note = sampleDivisionNote(program); !note.empty())
    report.line("note: " + note);
}

dpc_status_t Trainer::run() {
  const dpc_program_t &program = session.program;
  if (dpc_status_t status = goOn())
    return status;
  if (dpc_status_t status = openOutputs())
    return session.failed(status);
  if (dpc_status_t status = openData())
    return session.failed(status);
  if (dpc_status_t status = openState())
    return status;
  if (first())
    introduce();
  if (options.evaluate) {
    if (dpc_status_t status = evaluateAlone())
      return status;
    return finish();
  }
  const uint64_t rest = data.rows() % program.batch;
  if (first() && rest && lastStep - session.control.step >= batchesPerEpoch)
    report.line("note: the last " +
                (rest == 1 ? "sample of an epoch does not fill a batch and is dropped"
                           : std::to_string(rest) +
                                 " samples of an epoch do not fill a batch and are dropped"));
  if (first() && session.control.step)
    report.line(
        "resumed at step " + std::to_string(session.control.step) +
        (session.control.step < lastStep ? "" : ": no step is left to train of " + wanted()));
  const uint64_t before = session.checkpointRun.scheduleTotal;
  if (first() && before && before != lastStep && !dpc_schedule_has_end(&session.schedule, 0))
    report.line("note: the learning rates were those of a run of " + countOf(before, "step") +
                " and are now those of one of " + std::to_string(lastStep) +
                ": the curve changes; a program of --lr-schedule=..,total=" +
                std::to_string(before) + " keeps it");
  const uint64_t begin = session.control.step;
  dpc_status_t status = steps();
  if (first())
    report.end();
  if (stepsSkipped > 1)
    report.line("note: the loss of " + std::to_string(stepsSkipped) +
                " steps was not finite: they were skipped");
  if (status == DPC_NUMERIC) { // the vote gives all ranks the same status
    const std::string cause = dpc_last_error();
    // If the loss scale became too small, gradients have not been finite for some steps.
    // But the program skipped these steps, so the state is still good. Save it.
    const bool isWhole = session.scaleIsTooSmall && !options.checkpoint.empty();
    dpc_status_t saved = isWhole ? save() : DPC_OK;
    if (saved == DPC_OK)
      saved = saver.finish();
    return saved ? saved : fail(status, "%s", cause.c_str());
  }
  if (status != DPC_OK && status != DPC_INTERRUPTED)
    return status;
  if (!options.checkpoint.empty() && !isSaved &&
      (session.control.step != begin || resumedElsewhere))
    if (dpc_status_t saved = save())
      return saved;
  if (dpc_status_t saved = saver.finish())
    return saved;
  if (status == DPC_INTERRUPTED)
    return fail(DPC_INTERRUPTED, "interrupted after step %" PRIu64 "%s", session.control.step,
                options.checkpoint.empty() ? " (no --checkpoint: nothing is kept)"
                                           : ", checkpoint written");
  if ((status = results()))
    return status;
  return finish();
}

dpc_status_t Trainer::finish() {
  if (first())
    if (dpc_status_t status = report.closeLog())
      return session.failed(status);
  return session.program.world_size > 1 ? dpc_comm_barrier(session.comm) : DPC_OK;
}

} // namespace dpc
