// Chooses the checkpoint from which a run resumes: all ranks examine a checkpoint
// together. Then each rank loads its elements from the pieces that contain them.
#include "runtime/src/checkpoint/Checkpoint.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/checkpoint/CheckpointSaver.h"
#include "runtime/src/checkpoint/Rotation.h"
#include "runtime/src/pieces/StepFolder.h"
#include "runtime/src/session/SharedFiles.h"
#include "runtime/src/session/StateFiles.h"

#include <cstdio>
#include <cstring>
#include <memory>

namespace dpc {

namespace {

struct Opened {
  Manifest manifest;
  TensorFiles files;
  std::vector<StateSource> sources; ///< for each state, the tensor of `files` to read
  std::vector<std::string> notes;   ///< remarks on the tensors of `files`
};

/// Checks that a run that resumes from the checkpoint continues as if it had never been
/// interrupted: with the same random numbers, and with the same samples in each step.
dpc_status_t checkSameRun(const dpc_session &session, const Manifest &manifest,
                          const std::string &path) {
  if (session.checkpointRun.isOnlyRead)
    return DPC_OK;
  if (manifest.seed != session.control.seed)
    return fail(DPC_INVALID, "%s was written with --seed=%llu, this run has --seed=%llu",
                path.c_str(), static_cast<unsigned long long>(manifest.seed),
                static_cast<unsigned long long>(session.control.seed));
  if (manifest.batch && manifest.batch != session.program.batch)
    return fail(DPC_INVALID,
                "%s was written with batches of %llu, this program has batches of %llu "
                "(--init-params=%s begins a new run with its parameters)",
                path.c_str(), static_cast<unsigned long long>(manifest.batch),
                static_cast<unsigned long long>(session.program.batch), path.c_str());
  const char *order = session.checkpointRun.order;
  if (!order || manifest.order.empty() || manifest.order == order)
    return DPC_OK;
  const bool shuffles = manifest.order == CheckpointRun::kShuffled;
  return fail(DPC_INVALID, "%s was written %s --no-shuffle, this run has %s", path.c_str(),
              shuffles ? "without" : "with", shuffles ? "it" : "it not");
}

/// Opens the checkpoint of a step. Checks that the folder is consistent with its
/// manifest, and that the folder has the state that the program needs. Checks checksums
/// only for this rank's share of the files. Sets `*outDamaged` if the folder is not
/// consistent with its manifest.
dpc_status_t openCheckpoint(const dpc_session &session, const std::string &directory, uint64_t step,
                            Opened *out, bool *outDamaged) {
  StepFolder folder;
  *outDamaged = true;
  if (dpc_status_t status = folder.open(directory, stepFolderName(step)))
    return status;
  if (dpc_status_t status = folder.readManifest(&out->manifest))
    return status;
  if (dpc_status_t status = folder.checkStep(out->manifest))
    return status;
  if (dpc_status_t status = out->files.openFolder(folder, out->manifest))
    return status;
  for (size_t f = session.options.rank; f < out->manifest.files.size();
       f += session.options.world_size)
    if (dpc_status_t status = folder.checkFile(out->manifest.files[f]))
      return status;
  *outDamaged = false;
  if (dpc_status_t status = checkSameRun(session, out->manifest, folder.getPath()))
    return status;
  if (dpc_status_t status = findAllStates(session.program, out->files, &out->sources, &out->notes))
    return failWithin(status, "%s", folder.getPath().c_str());
  return DPC_OK;
}

/// The result of one rank's examination of a checkpoint.
struct Verdict {
  uint32_t status, isDamaged;
  char cause[2000];
};

/// Collective. Every rank opens the checkpoint of a step. Sets *outFits on all ranks if
/// all ranks could open it. Otherwise the last error of rank 0 is the reason.
dpc_status_t openTogether(dpc_session &session, const std::string &directory, uint64_t step,
                          Opened *out, bool *outFits, bool *outDamaged) {
  Verdict mine = {};
  bool isDamaged = false;
  mine.status = static_cast<uint32_t>(openCheckpoint(session, directory, step, out, &isDamaged));
  mine.isDamaged = isDamaged;
  if (mine.status)
    std::snprintf(mine.cause, sizeof mine.cause, "%s", dpc_last_error());
  std::vector<char> all;
  if (dpc_status_t status = session.collect(&mine, sizeof mine, &all))
    return status;
  uint32_t fits = 1;
  for (uint32_t r = 0; r * sizeof(Verdict) < all.size() && fits; ++r) {
    Verdict verdict;
    std::memcpy(&verdict, all.data() + r * sizeof verdict, sizeof verdict);
    fits = verdict.status == DPC_OK;
    *outDamaged = verdict.isDamaged;
    if (!fits)
      fail(DPC_INVALID, "%s", verdict.cause);
  }
  if (dpc_status_t status = session.broadcast(&fits, sizeof fits))
    return status;
  *outFits = fits;
  return DPC_OK;
}

/// Collective. Rank 0 lists the steps of the checkpoints in the directory, newest
/// first, and all ranks get this list.
dpc_status_t listTogether(dpc_session &session, const std::string &directory,
                          std::vector<uint64_t> *out) {
  if (session.options.rank == 0) {
    removeUnfinished(directory);
    *out = listCheckpoints(directory);
    if (out->empty())
      if (dpc_status_t status = checkHoldsCheckpoints(directory))
        return session.failed(status);
    if (out->empty())
      return session.failed(fail(DPC_INVALID, "%s holds no checkpoint", directory.c_str()));
  }
  uint64_t count = out->size();
  if (dpc_status_t status = session.broadcast(&count, sizeof count))
    return status;
  out->resize(count);
  return session.broadcast(out->data(), count * sizeof(uint64_t));
}

} // namespace

dpc_status_t saveCheckpoint(dpc_session &session, const std::string &directory) {
  CheckpointSaver saver(session);
  if (dpc_status_t status = saver.begin(directory))
    return status;
  return saver.finish();
}

dpc_status_t resumeCheckpoint(dpc_session &session, const std::string &directory) {
  std::vector<uint64_t> steps;
  if (dpc_status_t status = listTogether(session, directory, &steps))
    return status;
  std::string reasons, notes;
  for (uint64_t step : steps) {
    Opened checkpoint;
    bool fits = false, isDamaged = false;
    if (dpc_status_t status =
            checkSameFiles(session, filesOfCheckpoint(directory + "/" + stepFolderName(step))))
      return status;
    if (dpc_status_t status =
            openTogether(session, directory, step, &checkpoint, &fits, &isDamaged))
      return status;
    if (!fits) {
      notes += std::string("note: skipping a ") +
               (isDamaged ? "damaged checkpoint: " : "checkpoint that does not fit: ") +
               dpc_last_error() + "\n";
      reasons += (reasons.empty() ? "" : "; ") + std::string(dpc_last_error());
      continue;
    }
    for (const std::string &note : checkpoint.notes)
      notes += "note: " + directory + "/" + stepFolderName(step) + ": " + note + "\n";
    if (session.options.rank == 0)
      std::fputs(notes.c_str(), stderr);
    session.checkpointRun.id = checkpoint.manifest.run;
    session.checkpointRun.scheduleTotal = checkpoint.manifest.scheduleTotal;
    if (dpc_status_t status = loadAllStates(session, checkpoint.sources))
      return session.failed(status);
    session.control.step = step;
    return dpc_comm_barrier(session.comm);
  }
  // The status is DPC_INVALID even if the cause was a missing file (DPC_IO), because a
  // checkpoint that lacks a file counts as damaged.
  if (session.options.rank == 0)
    return session.failed(fail(DPC_INVALID, "no usable checkpoint: %s", reasons.c_str()));
  return dpc_comm_barrier(session.comm); // returns rank 0's failure
}

} // namespace dpc
