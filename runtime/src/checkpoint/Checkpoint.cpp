// A checkpoint is a directory that appears by one rename. It holds logical
// tensors, so any layout can read it.
#include "runtime/src/checkpoint/Checkpoint.h"

#include "dpc/safetensors.h"
#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/checkpoint/Rotation.h"
#include "runtime/src/checkpoint/StepFolder.h"
#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/session/StateFiles.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace dpc {

namespace {

dpc_status_t checksumFile(const std::string &path, uint64_t *outBytes, uint32_t *outCrc) {
  Mapping file;
  if (dpc_status_t status = file.openFile(path.c_str()))
    return status;
  *outBytes = file.size();
  *outCrc = static_cast<uint32_t>(
      ::crc32_z(0, reinterpret_cast<const unsigned char *>(file.data()), file.size()));
  return DPC_OK;
}

/// Fills the folder `making`, which is new.
dpc_status_t fillCheckpoint(const dpc_session &session, const std::string &making,
                            const std::vector<dpc_array_t> &arrays) {
  const uint64_t step = session.control.step;
  const std::string stepText = std::to_string(step);
  const dpc_metadata_t metadata[] = {{"step", stepText.c_str()},
                                     {"program", session.program.name},
                                     {"command", session.program.command}};
  uint64_t bytes = 0;
  uint32_t crc = 0;
  const std::string file = making + "/" + kStateFile;
  if (dpc_status_t status =
          dpc_safetensors_write(file.c_str(), arrays.data(), arrays.size(), metadata, 3))
    return status;
  if (dpc_status_t status = checksumFile(file, &bytes, &crc))
    return status;
  nlohmann::ordered_json json = {{"version", 1},
                                 {"step", step},
                                 {"seed", session.control.seed},
                                 {"bytes", bytes},
                                 {"crc32", crc}};
  json["run"] = session.checkpointRun.id;
  json["program"] = session.program.name;
  const std::string text =
      json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  AtomicFile manifest;
  if (dpc_status_t status = manifest.create(making + "/" + kManifest))
    return status;
  if (dpc_status_t status = manifest.write(text.data(), text.size()))
    return status;
  return manifest.commit();
}

dpc_status_t writeCheckpoint(dpc_session &session, const std::string &directory,
                             const std::vector<dpc_array_t> &arrays) {
  CheckpointRun &run = session.checkpointRun;
  if (dpc_status_t status = identify(&run))
    return status;
  if (::mkdir(directory.c_str(), 0777) == 0) {
    if (dpc_status_t status = syncDirectoryOf(directory))
      return status;
  } else if (errno != EEXIST) {
    return fail(DPC_IO, "%s: cannot be made: %s", directory.c_str(), std::strerror(errno));
  }
  removeUnfinished(directory);
  const std::string name = makingName(), making = directory + "/" + name;
  StepFolder folder;
  if (folder.open(directory, name) == DPC_OK)
    folder.removeOwnFiles(); // of an earlier process with this number
  if (::mkdir(making.c_str(), 0777) != 0)
    return fail(DPC_IO, "%s: cannot be written: %s", directory.c_str(), std::strerror(errno));
  dpc_status_t status = folder.open(directory, name);
  // Tells others that the writer lives; where locks are not to be had, its
  // number does.
  if (status == DPC_OK)
    ::flock(folder.get(), LOCK_EX | LOCK_NB);
  if (status == DPC_OK)
    status = fillCheckpoint(session, making, arrays);
  if (status == DPC_OK)
    status = placeCheckpoint(directory, name, session.control.step, &run);
  if (status) {
    const std::string cause = dpc_last_error();
    if (folder.open(directory, name) == DPC_OK)
      folder.removeOwnFiles();
    return fail(status, "%s", cause.c_str());
  }
  removeOldCheckpoints(directory, &run);
  return DPC_OK;
}

struct Opened {
  Manifest manifest;
  std::vector<StateSource> sources; ///< where each state lies in `file`
  std::vector<std::string> notes;   ///< about its tensors
  std::unique_ptr<dpc_array_file_t, void (*)(dpc_array_file_t *)> file{nullptr,
                                                                       dpc_array_file_close};
};

/// Opens the checkpoint of a step and checks what its manifest promises and the
/// program needs. `*outDamaged`: it does not keep its promise.
dpc_status_t openCheckpoint(const dpc_session &session, const std::string &directory, uint64_t step,
                            bool checksum, Opened *out, bool *outDamaged) {
  StepFolder folder;
  Mapping state;
  *outDamaged = true;
  const std::string path = directory + "/" + stepFolderName(step);
  if (dpc_status_t status = folder.open(directory, stepFolderName(step)))
    return status;
  if (dpc_status_t status = folder.readManifest(&out->manifest))
    return status;
  if (dpc_status_t status = folder.mapState(&state))
    return status;
  const std::string file = folder.pathOf(kStateFile);
  if (checksum)
    if (dpc_status_t status = checkContents(state, out->manifest, file))
      return status;
  dpc_array_file_t *opened = nullptr;
  if (dpc_status_t status = openSafetensors(std::move(state), file.c_str(), &opened))
    return status;
  out->file.reset(opened);
  *outDamaged = false;
  if (out->manifest.seed != session.control.seed)
    return fail(DPC_INVALID, "%s was written with --seed=%llu, this run has --seed=%llu",
                path.c_str(), static_cast<unsigned long long>(out->manifest.seed),
                static_cast<unsigned long long>(session.control.seed));
  if (dpc_status_t status = findAllStates(session.program, *out->file, &out->sources, &out->notes))
    return failWithin(status, "%s", path.c_str());
  return DPC_OK;
}

/// Rank 0 chooses; DPC_OK and *outStep, or why there is none.
dpc_status_t choose(dpc_session &session, const std::string &directory, uint64_t *outStep) {
  const std::vector<uint64_t> steps = listCheckpoints(directory);
  if (steps.empty())
    return fail(DPC_INVALID, "%s holds no checkpoint", directory.c_str());
  std::string reasons, notes;
  for (uint64_t step : steps) {
    Opened checkpoint;
    bool damaged = false;
    if (openCheckpoint(session, directory, step, true, &checkpoint, &damaged) == DPC_OK) {
      for (const std::string &note : checkpoint.notes)
        notes += "note: " + directory + "/" + stepFolderName(step) + ": " + note + "\n";
      std::fputs(notes.c_str(), stderr);
      session.checkpointRun.id = checkpoint.manifest.run;
      *outStep = step;
      return DPC_OK;
    }
    notes += std::string("note: skipping a ") +
             (damaged ? "damaged checkpoint: " : "checkpoint that does not fit: ") +
             dpc_last_error() + "\n";
    reasons += (reasons.empty() ? "" : "; ") + std::string(dpc_last_error());
  }
  // A file that is not there is as damaged as any other.
  return fail(DPC_INVALID, "no usable checkpoint: %s", reasons.c_str());
}

} // namespace

dpc_status_t saveCheckpoint(dpc_session &session, const std::string &directory) {
  return collectStates(
      session, [](const dpc_state_t &) { return true; },
      [&](const std::vector<dpc_array_t> &arrays) {
        return writeCheckpoint(session, directory, arrays);
      });
}

dpc_status_t resumeCheckpoint(dpc_session &session, const std::string &directory) {
  uint64_t step = 0;
  if (session.options.rank == 0) {
    removeUnfinished(directory);
    if (dpc_status_t status = choose(session, directory, &step))
      return session.failed(status);
  }
  if (dpc_status_t status = session.broadcast(&step, sizeof step))
    return status;
  Opened checkpoint;
  bool damaged = false;
  dpc_status_t status = openCheckpoint(session, directory, step, false, &checkpoint, &damaged);
  if (status == DPC_OK)
    status = loadAllStates(session, checkpoint.sources);
  if (status)
    return session.failed(status);
  session.control.step = step;
  return dpc_comm_barrier(session.comm);
}

} // namespace dpc
